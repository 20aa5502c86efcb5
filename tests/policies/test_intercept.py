"""``intercept=True``: when a level of the rewards enters the model, and that its size is free."""

import math
from functools import partial

import numpy as np
import pytest

from golden_traces import takes_intercept, with_intercept
from members import members
from soids import SOIDS, Greedy, LinUCB, ThresholdedLassoBandit, load, save
from soids.evidence import Evidence, Menu
from soids.policies.linucb import most_optimistic
from soids.regression.level import CLEAR, level_shows, log_bayes_factor
from soids.regression.ridge import Ellipsoid, ridge

ACTIONS = np.random.default_rng(3).standard_normal((9, 4))
WITH = pytest.mark.parametrize("make", [one for one in members() if takes_intercept(one.values[0])])


def played(policy, base, rounds=12, late=2):
    """The laws of some rounds, whose rewards come two rounds late."""
    rng, noise = np.random.default_rng(0), np.random.default_rng(1)
    laws, decisions = [], []
    for _ in range(rounds):
        decisions.append(policy.choose(ACTIONS, rng))
        laws.append(policy.law(ACTIONS))
        if len(decisions) > late:
            decision = decisions[-1 - late]
            reward = decision.action[0] + 0.1 * noise.standard_normal()
            policy.observe(decision, base + reward)
    return np.array(laws), decisions[-1]


@WITH
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_constant_in_all_rewards_changes_no_law(make):
    laws, decision = played(with_intercept(make, 4, particles=20, noise=0.5), 0.0)
    others, other = played(with_intercept(make, 4, particles=20, noise=0.5), 1024.0)
    assert np.allclose(laws, others, atol=1e-6)
    assert decision.index == other.index


def gathered(actions, rewards):
    evidence = Evidence.empty(actions.shape[1])
    for action, reward in zip(actions, rewards, strict=True):
        evidence = evidence.note(action, float(reward))
    return evidence


@pytest.mark.parametrize("count", [3, 12, 60])
@pytest.mark.parametrize("base", [0.0, 0.5, 3.0])
def test_the_odds_of_an_intercept_are_those_of_the_gaussian_model(count, base):
    rng = np.random.default_rng(count)
    actions = 1.0 + rng.standard_normal((count, 6))
    rewards = base + actions[:, 0] + rng.standard_normal(count)
    apart = actions - actions.mean(axis=0)
    penalty = CLEAR * (apart**2).sum() / count
    deviations = np.geomspace(1e-4, 1e4, 8001)  # of the noise, integrated by its logarithm

    def log_density(level_variance):
        """Of the estimated level, and of what the regression about the means leaves."""
        inverse = np.linalg.inv(apart.T @ apart + penalty * np.eye(6))
        theta = inverse @ apart.T @ rewards
        estimate = rewards.mean() - actions.mean(axis=0) @ theta
        above = rewards - rewards.mean()
        left = above @ above - above @ apart @ theta
        mean = actions.mean(axis=0)
        spread = (1.0 / count + mean @ inverse @ mean) * level_variance
        logs = -count * np.log(deviations) - 0.5 * (left + estimate**2 / spread) / deviations**2
        return np.logaddexp.reduce(logs) - 0.5 * math.log(spread), left, spread

    without, left, spread = log_density(1.0)
    wider = 1.0 + (rewards @ rewards / count) / (left / (count - 1) * spread)
    assert log_bayes_factor(gathered(actions, rewards)) == pytest.approx(
        log_density(wider)[0] - without, abs=1e-3
    )


def test_a_level_enters_when_it_shows_and_not_before():
    rng = np.random.default_rng(0)
    without, within = 0, 0
    for _ in range(200):
        actions = rng.standard_normal((6, 5))
        rewards = 2.0 * actions[:, 1] + 0.5 * rng.standard_normal(6)
        without += level_shows(gathered(actions, rewards))
        within += level_shows(gathered(actions, 30.0 + rewards))
    assert without <= 10
    assert within >= 195


def test_one_action_alone_shows_no_level_at_first():
    actions = np.tile(ACTIONS[0], (5, 1))
    rewards = [10.0, 10.1, 9.9, 10.0, 10.2]
    assert not level_shows(gathered(actions[:4], rewards[:4]))
    assert level_shows(gathered(actions, rewards))  # or the policy would play it for ever
    assert not level_shows(gathered(ACTIONS[:5], np.zeros(5)))


@pytest.mark.parametrize("intercept", [False, True])
def test_a_policy_learns_about_the_means_only_if_it_may(intercept, tmp_path):
    policy = SOIDS(4, particles=20, intercept=intercept)
    played(policy, 1000.0)
    assert policy.evidence.centred == intercept
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    assert again.evidence.centred == intercept
    assert np.array_equal(again.law(ACTIONS), policy.law(ACTIONS))


def test_many_features_keep_to_sums_over_actions():
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((20, 600))
    rewards = 50.0 + rng.standard_normal(20)
    evidence = gathered(actions, rewards)
    assert level_shows(evidence)
    evidence = evidence.about_means().note(actions[0], 51.0)
    every = np.vstack([actions, actions[:1]])
    apart = every - every.mean(axis=0)
    assert np.allclose(evidence.gram, apart.T @ apart)
    assert np.allclose(evidence.played.times(actions[3]), apart.T @ (apart @ actions[3]))


def test_the_level_is_part_of_the_expected_reward():
    policy = with_intercept(SOIDS, 4, particles=50)
    played(policy, 1000.0)
    decision = policy.choose(ACTIONS, np.random.default_rng(5))
    explanation = policy.explain(decision)
    parts = sum(feature.contribution for feature in explanation.features)
    assert explanation.reward == pytest.approx(explanation.level + parts)
    assert explanation.level == pytest.approx(1000.0, abs=5.0)
    assert "the mean reward" in str(explanation)


def test_linucb_s_lengths_are_those_of_a_flat_intercept_and_shrink():
    evidence = gathered(ACTIONS[:5], np.arange(5.0)).about_means()
    last = np.full(len(ACTIONS), np.inf)
    for t in range(5, 9):
        centre, factor = ridge(evidence, 1.0)
        ellipsoid = Ellipsoid(centre, factor, 1.0, evidence.centre)
        seen = np.column_stack([np.ones(t), ACTIONS[:t]])
        precision = seen.T @ seen + np.diag([0.0, 1.0, 1.0, 1.0, 1.0])
        rows = np.column_stack([np.ones(len(ACTIONS)), ACTIONS])
        exact = np.sqrt(np.einsum("ki,ij,kj->k", rows, np.linalg.inv(precision), rows))
        lengths = np.sqrt(ellipsoid.lengths(ACTIONS) ** 2 + 1.0 / t)
        assert np.allclose(lengths, exact)
        assert (lengths <= last).all()
        bounds = 1.1 * lengths
        index, length = most_optimistic(ellipsoid, Menu(ACTIONS.copy()), bounds, 1.0 / t)
        assert index == int((ACTIONS @ centre + lengths).argmax())
        assert length == pytest.approx(lengths[index])
        evidence, last = evidence.note(ACTIONS[t], float(t)), lengths


@pytest.mark.parametrize("make", [partial(LinUCB, norm=2.0), Greedy, ThresholdedLassoBandit])
def test_a_large_level_keeps_no_rule_with_its_first_action(make):
    policy = make(4, intercept=True)
    assert not policy.evidence.centred
    _, decision = played(policy, 500.0, rounds=60, late=0)
    assert policy.evidence.centred
    assert decision.action[0] >= np.sort(ACTIONS[:, 0])[-2]
