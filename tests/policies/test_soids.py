"""The four algorithms: how they differ, what they explain, and that asking changes nothing."""

import math
import re
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from soids import FGTS, SOIDS, SparseIDS, SparseLinearBandit, Thompson, play
from soids.evidence import Menu
from soids.features import disjoint
from soids.information import (
    half_explained_variance,
    half_variance,
    minimise_ratio,
    shortfall,
    through_noise,
)
from soids.particles import Particles
from soids.posteriors import POSTERIORS, Gaussian, SpikeSlab, Subset

pytestmark = pytest.mark.filterwarnings("ignore:.*relaxed posterior:RuntimeWarning")

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (10, 4))
BANDIT = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0, 0.0], noise=0.5)
KNOWN = {"sparsity": 2, "radius": 3.0, "noise": 0.5}


def learn(policy, rounds, rng, scale=1.0):
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        reward = decision.action @ BANDIT.theta + 0.5 * rng.standard_normal()
        policy.observe(decision, scale * reward)


def in_play(policy, rounds=8, scale=1.0):
    """The policy after some rounds, and one more decision whose reward has not come."""
    rng = np.random.default_rng(0)
    learn(policy, rounds, rng, scale)
    return policy, policy.choose(ACTIONS, rng)


def same_run(one, other):
    traces = (play(BANDIT, policy, 25, seed=3) for policy in (one, other))
    return all(np.array_equal(*pair) for pair in zip(*traces, strict=True))


def test_the_plain_algorithms_are_the_optimistic_ones_without_optimism():
    assert same_run(Thompson(4, **KNOWN), FGTS(4, rate=0.0, **KNOWN))
    assert same_run(SparseIDS(4, **KNOWN), SOIDS(4, rate=0.0, gain="conditional", **KNOWN))
    assert not same_run(Thompson(4, **KNOWN), FGTS(4, **KNOWN))
    assert not same_run(SparseIDS(4, **KNOWN), SOIDS(4, rate=0.0, **KNOWN))


def shannon_gain(rewards, weights):
    return through_noise(half_variance(rewards, weights), KNOWN["noise"])


@pytest.mark.parametrize(
    ("policy", "gain_of"),
    [
        (SOIDS(4, **KNOWN), half_variance),
        (SOIDS(4, gain="shannon", **KNOWN), shannon_gain),
        (SparseIDS(4, **KNOWN), half_explained_variance),
    ],
)
def test_inquiring_plays_the_least_information_ratio(policy, gain_of):
    policy, decision = in_play(policy)
    belief = policy.state.mind.belief
    rewards, weights = belief.rewards_on(decision.menu), belief.particles().weights
    mixture = minimise_ratio(shortfall(rewards, weights), gain_of(rewards, weights))
    assert decision.probabilities == pytest.approx(mixture.probabilities(10), rel=1e-9, abs=1e-12)
    assert decision.probability == decision.probabilities[decision.index] > 0.0
    assert decision.info.ratio == pytest.approx(mixture.ratio)


@pytest.mark.parametrize("family", [FGTS, Thompson])
def test_obeying_plays_an_action_as_often_as_it_is_believed_best(family):
    policy, decision = in_play(family(4, **KNOWN), rounds=2)
    belief = policy.state.mind.belief
    best = belief.rewards_on(decision.menu).argmax(axis=1)
    masses = np.bincount(best, belief.particles().weights, minlength=10)
    assert decision.probabilities == pytest.approx(masses)
    assert decision.probability == decision.probabilities[decision.index] > 0.0


@pytest.mark.parametrize("family", [SOIDS, FGTS])
def test_information_is_in_the_units_it_claims(family):
    policy, decision = in_play(family(4, **KNOWN))
    regret, gain, ratio, rate = decision.info[:4]
    assert ratio == pytest.approx((regret / 0.5) ** 2 / gain)
    assert rate == policy.state.mind.rate > 0.0
    twin, scaled = in_play(family(4, sparsity=2, radius=3e3, noise=500.0), scale=1e3)
    assert scaled.info[:4] == pytest.approx((1e3 * regret, gain, ratio, rate), rel=1e-6)
    assert twin.state.mind.ratios == pytest.approx(policy.state.mind.ratios, rel=1e-6)
    assert twin.state.mind.root_ratios == pytest.approx(policy.state.mind.root_ratios, rel=1e-6)


def test_the_only_action_has_propensity_one():
    policy, rng = Thompson(4, **KNOWN), np.random.default_rng(0)
    for _ in range(20):
        decision = policy.choose(ACTIONS[:1], rng)
        assert decision.probability == 1.0
        policy.observe(decision, rng.standard_normal())


def test_a_posterior_is_known_by_name_or_given_whole():
    assert same_run(SOIDS(4, **KNOWN), SOIDS(4, posterior=Subset(4, **KNOWN)))


class Certain(NamedTuple):
    """A posterior of one's own: sure of one parameter, whatever the evidence."""

    theta: np.ndarray

    def update(self, belief, evidence, tuning, rng):
        return self

    def particles(self):
        return Particles(self.theta[None], self.theta[None] != 0.0, np.ones(1))

    def rewards_on(self, menu: Menu):
        return self.theta[None] @ menu.actions.T

    def noise(self):
        return 1.0


@pytest.mark.parametrize("family", [SOIDS, FGTS, SparseIDS, Thompson])
def test_a_posterior_of_ones_own_will_do(family):
    policy = family(4, posterior=Certain(BANDIT.theta))
    assert play(BANDIT, policy, 5, seed=0).regret.tolist() == [0.0] * 5


def test_the_default_tells_apart_what_is_told_and_what_is_learned():
    assert SOIDS(4, radius=1.0).rule.rate == "balanced"
    assert SOIDS(4).rule.rate == "cautious"
    assert SOIDS(4, posterior=SpikeSlab(4, radius=1.0)).rule.rate == "balanced"
    assert SOIDS(4, posterior="spike_slab", radius=math.inf).rule.rate == "cautious"
    assert Thompson(4).rule.rate == SparseIDS(4).rule.rate == "zero"


@pytest.mark.parametrize("posterior", ["relaxed", "langevin", "gaussian"])
def test_a_radius_that_bounds_nothing_does_not_make_bold(posterior):
    assert SOIDS(4, posterior=posterior, radius=1.0).rule.rate == "cautious"


def test_features_of_very_different_size_are_warned_of_unless_the_radius_is_given():
    rng = np.random.default_rng(0)
    uneven = rng.uniform(-1, 1, (15, 4)) * [1.0, 0.0, 1.0, 30.0]
    with pytest.warns(RuntimeWarning, match="rescale them"):
        SOIDS(4).choose(uneven, rng)
    SOIDS(4, radius=1.0).choose(uneven, rng)
    SOIDS(4).choose(uneven[:, :3] @ np.eye(3, 4), rng)
    SOIDS(4).choose(uneven[:9], rng)  # too few to tell


@pytest.mark.parametrize("size", [1.0, 30.0])
def test_sizes_are_judged_by_all_sets_so_far_and_by_the_values_in_blocks(size):
    """Ten or more blocks, most of whose values are zero, are no reason for a warning."""
    rng, policy = np.random.default_rng(1), SOIDS(24, particles=20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(15):
            policy.choose(disjoint(rng.uniform(-1, 1, 2) * [1.0, size], 12), rng)
    assert len(caught) == (size > 1.0)


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize("rounds", [0, 2, 8])
def test_an_explanation_agrees_with_the_belief(posterior, rounds):
    policy, decision = in_play(FGTS(4, posterior=posterior, intercept=False), rounds)
    explanation = policy.explain(decision)
    thetas, _, weights = policy.state.mind.belief.particles()
    rewards = thetas @ ACTIONS.T
    mean = weights @ rewards
    best = weights @ rewards.max(axis=1)
    deviation = np.sqrt(weights @ (rewards[:, decision.index] - mean[decision.index]) ** 2)
    assert explanation.reward == pytest.approx(mean[decision.index])
    assert explanation.deviation == pytest.approx(deviation)
    assert explanation.regret == pytest.approx(best - mean[decision.index])
    assert explanation.regret_of_safest == pytest.approx(best - mean.max())
    assert explanation.gain == pytest.approx(
        0.5 * (deviation / policy.state.mind.belief.noise()) ** 2
    )
    assert explanation.exploring == (mean[decision.index] < mean.max() - 1e-12)


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_contributions_add_up_to_the_expected_reward(posterior):
    policy, decision = in_play(SOIDS(4, posterior=posterior))
    explanation = policy.explain(decision)
    parts = [feature.contribution for feature in explanation.features]
    assert sum(parts) == pytest.approx(explanation.reward)
    assert parts == sorted(parts, key=abs, reverse=True)
    inclusion = policy.state.mind.belief.particles().inclusion()
    assert all(f.inclusion == inclusion[f.column] for f in explanation.features)


def test_the_sentence_calls_features_by_their_names():
    policy, decision = in_play(SOIDS(4))
    names = ["age", "height", "weight", "dose"]
    explanation, plain = policy.explain(decision, names), policy.explain(decision)
    assert explanation[1:] == plain[1:]
    by_name = re.sub(r"feature (\d)", lambda found: names[int(found[1])], plain.sentence)
    assert explanation.sentence == by_name != plain.sentence
    with pytest.raises(ValueError, match="one for each of 4 features, got 3"):
        policy.explain(decision, names[:3])
    for wrong in (5, "abcd"):
        with pytest.raises(ValueError, match=f"names must be a list of 4 names .*, got {wrong!r}"):
            policy.explain(decision, wrong)


def test_the_sentence_says_what_the_numbers_say():
    policy, rng = SOIDS(4, **KNOWN), np.random.default_rng(0)
    for _ in range(10):
        decision = policy.choose(ACTIONS, rng)
        explanation = policy.explain(decision)
        assert f"Action {decision.index}, " in str(explanation)
        assert f"probability {decision.probability:.2f}" in str(explanation)
        assert f"{explanation.reward:.3g} +- {explanation.deviation:.2g}" in str(explanation)
        assert ("exploring: " in str(explanation)) == explanation.exploring
        assert ("exploiting: " in str(explanation)) != explanation.exploring
        assert f"feature {explanation.features[0].column} " in str(explanation)
        policy.observe(decision, decision.action @ BANDIT.theta + 0.5 * rng.standard_normal())


def test_what_is_said_of_an_action_does_not_depend_on_what_is_excluded():
    policy, _ = in_play(SOIDS(4))
    state, certain = policy.state, np.zeros(10)
    certain[9] = 1.0
    explanation = []
    for options in ({"excluded": range(9)}, {"floor": certain}):
        policy.state = state
        explanation.append(policy.explain(policy.decide(ACTIONS, 0.5, **options)))
    assert explanation[0].sentence.startswith("Action 9, chosen with probability 1.00")
    assert explanation[0].features == explanation[1].features
    for name in ("reward", "deviation", "gain"):
        assert getattr(explanation[0], name) == pytest.approx(getattr(explanation[1], name))


def test_an_old_decision_is_explained_by_what_is_known_now():
    policy, rng = SOIDS(4, **KNOWN), np.random.default_rng(0)
    decisions = [policy.choose(menu, rng) for menu in (ACTIONS, -ACTIONS[:5], ACTIONS[5:]) * 5]
    policy.observe(decisions, [float(d.action @ BANDIT.theta) for d in decisions])
    truth = decisions[0].action @ BANDIT.theta
    told, last = policy.explain(decisions[0]), policy.explain(decisions[-1])
    assert told.reward == pytest.approx(truth, abs=0.5)
    assert str(told).startswith("By what is believed now, after later choices: Action ")
    assert str(last).startswith("Action ")


def test_what_does_not_matter_is_not_mentioned():
    policy = SOIDS(3, sparsity=1, radius=1.0, noise=0.1)
    explanation = policy.explain(policy.choose(np.zeros((2, 3)), np.random.default_rng(0)))
    assert explanation.features == ()
    assert "no feature" in str(explanation)


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_inclusion_is_a_probability(posterior):
    policy, _ = in_play(SOIDS(4, posterior=posterior), rounds=20)
    inclusion = policy.inclusion()
    assert ((inclusion >= 0.0) & (inclusion <= 1.0 + 1e-12)).all()
    assert (
        inclusion[1] > 0.7
    )  # a belief of 3000 particles says 0.91 here, and one of 100 is within 0.2 of that


def test_inclusion_can_be_asked_before_the_first_choice():
    inclusion = SOIDS(4, sparsity=1, radius=1.0).inclusion()
    assert inclusion.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_asking_changes_no_later_choice(posterior):
    silent, curious = (SOIDS(4, posterior=posterior) for _ in range(2))
    rngs = [np.random.default_rng(0) for _ in range(2)]
    curious.inclusion()
    for t in range(12):
        mine, theirs = (
            policy.choose(ACTIONS, rng) for policy, rng in zip((silent, curious), rngs, strict=True)
        )
        assert (mine.index, mine.info) == (theirs.index, theirs.info)
        curious.explain(theirs)
        curious.inclusion()
        silent.observe(mine, float(t % 3))
        curious.observe(theirs, float(t % 3))
        curious.explain(theirs)
        assert np.array_equal(curious.inclusion(), curious.inclusion())


def test_a_posterior_by_name_has_its_own_settings_and_what_the_policy_was_given():
    named = SOIDS(4, sparsity=2, noise=0.5, posterior=" spike_slab( slab_variance = 2 ) ")
    assert named.rule.model == SpikeSlab(4, sparsity=2, noise=0.5, slab_variance=2)
    assert SOIDS(4, posterior="gaussian(empirical = true)").rule.model == Gaussian(
        4, empirical=True
    )


def test_a_pending_decision_has_no_action_set_to_be_explained_with():
    policy = SOIDS(4)
    policy.choose(ACTIONS, np.random.default_rng(0))
    with pytest.raises(ValueError, match="must be what choose returned to be explained"):
        policy.explain(policy.pending[0])
