"""A unit of reward changes nothing: rewards in cents teach what the same rewards in euros teach."""

import numpy as np
import pytest

from members import NEEDED, members, name_of
from soids import (
    ESTC,
    DRLassoBandit,
    Greedy,
    LassoBandit,
    MCPBandit,
    SALassoBandit,
    ThresholdedLassoBandit,
)
from soids.evidence import Evidence
from soids.features import disjoint
from soids.regression.scaled_lasso import CLEAREST, Sums, scaled_noise

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

WITH_A_UNIT = {"vb_thompson", "langevin"}  # of the slab, of the steps
every_policy = pytest.mark.parametrize(
    "family", [one for one in members() if not WITH_A_UNIT & set(one.values[0].args)]
)
UNIT = 1024.0  # a power of two, so that rounding is the same
OF_REWARD = ("noise", "norm", "radius", "reward_bound", "signal")
ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4))


def given(name, unit):
    """The settings that a policy must be given, in a unit of reward."""
    known = {"noise": 0.5} if name in ("linucb", "frequentist_ids") else {}
    needed = {**NEEDED.get(name, {}), **known}
    if name.endswith("_paper") or name in ("otcs", "popart", "popart_elimination"):
        needed["noise"] = 0.5
    if name == "otcs":
        needed["norm"] = 2.0
    needed.pop("support", None)
    return {key: unit * value if key in OF_REWARD else value for key, value in needed.items()}


@every_policy
def test_the_unit_of_rewards_changes_no_choice(family):
    policies = [family(4, particles=20, **given(name_of(family), unit)) for unit in (1.0, UNIT)]
    rngs = [np.random.default_rng(5) for _ in policies]
    noise = np.random.default_rng(6).standard_normal(30)
    if policies[0].rule.learns_from_others:  # before the first reward there is no unit to know
        index, rewards = np.arange(12) % 8, 2.0 * ACTIONS[np.arange(12) % 8, 1] + noise[:12]
        for policy, unit in zip(policies, (1.0, UNIT), strict=True):
            policy.learn(ACTIONS, index, unit * rewards)
    for t in range(30):
        one, other = (p.choose(ACTIONS, rng) for p, rng in zip(policies, rngs, strict=True))
        assert one.index == other.index
        assert np.allclose(one.probabilities, other.probabilities, atol=1e-6)
        reward = 2.0 * one.action[1] + 0.5 * noise[t]
        policies[0].observe(one, reward)
        policies[1].observe(other, UNIT * reward)
    if name_of(family) != "uniform":
        means = [policy.predict(ACTIONS).mean for policy in policies]
        assert np.allclose(UNIT * means[0], means[1], rtol=1e-6, atol=1e-6 * UNIT)


# Rewards of zero and one


def clicks(policy, actions, rounds, seed=0):
    """Play for clicks: 3 % of them, and 20 % where the first feature is there."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = policy.choose(actions, rng)
        rate = 0.2 if decision.action[0] else 0.03
        policy.observe(decision, float(rng.random() < rate))
    return policy


SHOP = np.vstack([np.eye(6), np.zeros((2, 6))])


@pytest.mark.parametrize("make", [Greedy, SALassoBandit, ThresholdedLassoBandit])
def test_a_lasso_learns_from_clicks(make):
    policy = make(6)
    rng, shown = np.random.default_rng(1), np.arange(1600) % 8
    policy.learn(SHOP, shown, (rng.random(1600) < np.where(shown, 0.03, 0.3)).astype(float))
    policy.refresh(rng)
    assert policy.law(SHOP).argmax() == 0
    assert policy.law(SHOP)[0] == 1.0
    assert 0.05 < policy.predict(SHOP).mean[0] < 0.4


@pytest.mark.parametrize("make", [LassoBandit, MCPBandit])
def test_arms_with_a_lasso_each_learn_from_clicks(make):
    policy = clicks(make(8, arms=4), disjoint([1.0, 0.5], 4), 400)
    assert policy.law(disjoint([1.0, 0.5], 4)).argmax() == 0


# The estimate of the noise


@pytest.mark.parametrize(("dimension", "rounds"), [(5, 200), (60, 100), (200, 300)])
@pytest.mark.parametrize("noise", [1e-3, 1.0, 1e4])
def test_the_scaled_lasso_finds_the_noise(dimension, rounds, noise):
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        actions, theta = rng.uniform(-1, 1, (rounds, dimension)), np.zeros(dimension)
        theta[:2] = 3.0 * noise
        rewards = actions @ theta + noise * rng.standard_normal(rounds)
        sums = Sums.of(Evidence.empty(dimension).note_all(actions, rewards))
        found.append(scaled_noise(sums) / noise)
    # What the penalty leaves of two effects is at most 2 * 2 log(d) / n of the variance.
    upper = np.sqrt(1.0 + 4.0 * np.log(dimension) / rounds)
    error = 4.0 / np.sqrt(2.0 * rounds * 8)
    assert 1.0 - error - 2.0 / rounds < np.mean(found) < upper + error


def test_where_nothing_is_explained_the_noise_is_the_size_of_the_rewards():
    evidence = Evidence.empty(3).note_all(np.zeros((2, 3)), np.array([3.0, -3.0]))
    assert scaled_noise(Sums.of(evidence)) == 3.0
    assert scaled_noise(Sums.of(Evidence.empty(3))) == 0.0
    exact = Evidence.empty(1).note_all(np.ones((500, 1)), np.full(500, 2.0))
    assert scaled_noise(Sums.of(exact)) == pytest.approx(2.0 * CLEAREST)


def test_an_earlier_estimate_changes_the_noise_by_little():
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (200, 20))
    evidence = Evidence.empty(20).note_all(actions, actions[:, 0] + rng.standard_normal(200))
    anew = scaled_noise(Sums.of(evidence))
    for earlier in (0.01, 100.0):
        assert scaled_noise(Sums.of(evidence), earlier) == pytest.approx(anew, rel=0.03)


@pytest.mark.parametrize(
    ("policy", "rounds"),
    [(Greedy(4, noise=100.0), 100), (SALassoBandit(4, penalty=100.0), 100),
     (DRLassoBandit(4, penalty=100.0), 100), (MCPBandit(4, penalty=100.0), 100)],
)  # fmt: skip
def test_a_policy_warns_once_while_all_its_coefficients_are_zero(policy, rounds, recwarn):
    rng = np.random.default_rng(0)
    for t in range(130):
        decision = policy.choose(ACTIONS, rng)
        assert len(recwarn) == (t >= rounds)
        policy.observe(decision, float(rng.random() < 0.5))
    (warning,) = recwarn
    assert f"after 100 rewards, so {policy.rule.name} draws any action" in str(warning.message)


def test_a_penalty_that_is_given_is_in_units_of_reward():
    policy = SALassoBandit(4, penalty=0.4)
    policy.learn(ACTIONS, np.arange(40) % 8, ACTIONS[np.arange(40) % 8, 1])
    assert policy.mind.noise == 0.0
    assert SALassoBandit(4).rule.penalty is None


def test_without_the_noise_theory_cannot_say_how_long_to_explore():
    with pytest.raises(ValueError, match="noise must be given, or else exploration"):
        ESTC(4, horizon=100, sparsity=1, reward_bound=1.0)
