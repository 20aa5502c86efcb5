"""A policy for more features has learned what one that had them from the beginning has."""

import numpy as np
import pytest

from members import members, rule_of
from soids import SOIDS, DRLassoBandit, LinUCB, MCPBandit, OracleThompson, Thompson, load, save
from soids.features import disjoint
from soids.policies.rule import Rule

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

RNG = np.random.default_rng(0)
COLUMNS = np.array([5, 0, 3, 1])
ACTIONS = RNG.uniform(-1, 1, (5, 4))
INDEX = RNG.integers(5, size=12)
REWARD = RNG.standard_normal(12)


def wide(actions):
    with_zeros = np.zeros((len(actions), 6))
    with_zeros[:, COLUMNS] = actions
    return with_zeros


def refuses(rule):
    return rule.enlarged is Rule.enlarged or "support" in rule.settings


LEARNERS = [one for one in members() if rule_of(one.values[0]).learns_from_others]
ABLE = [
    one
    for one in LEARNERS
    if not refuses(rule_of(one.values[0])) and one.id not in ("mcp_bandit", "vb_thompson")
    and "theorem" not in one.id
]  # fmt: skip


@pytest.mark.parametrize("family", ABLE)
def test_it_is_as_if_the_new_features_had_always_been_zero(family):
    grown, always = family(4, particles=20), family(6, particles=20)
    for index, reward in zip(INDEX, REWARD, strict=True):  # one by one, for equal rounding
        grown.learn(ACTIONS, index, reward)
        always.learn(wide(ACTIONS), index, reward)
    grown = grown.enlarged(6, COLUMNS)
    mine, theirs = grown.evidence, always.evidence
    assert np.array_equal(mine.gram, theirs.gram)
    for one, other in zip(mine[1:5], theirs[1:5], strict=True):
        assert np.array_equal(one, other)
    assert [one.fingerprint for one in mine.menus] == [one.fingerprint for one in theirs.menus]
    actions = RNG.uniform(-1, 1, (7, 6))
    assert np.allclose(grown.law(actions), always.law(actions), atol=1e-9)


def test_counts_of_clicks_are_kept():
    grown, always = SOIDS(4, rewards="binary"), SOIDS(6, rewards="binary")
    grown.learn(ACTIONS, INDEX, (REWARD > 0.0).astype(float))
    always.learn(wide(ACTIONS), INDEX, (REWARD > 0.0).astype(float))
    grown = grown.enlarged(6, COLUMNS)
    assert all(map(np.array_equal, grown.evidence.tally, always.evidence.tally))


@pytest.mark.parametrize("dimension", [4, 600])
def test_sums_over_many_features_stay_exact(dimension):
    policy, rng = LinUCB(dimension, norm=1.0), np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (3, dimension))
    policy.learn(actions, [0, 1, 2], [1.0, 2.0, 3.0])
    grown = policy.enlarged(dimension + 200)
    small, large = policy.evidence.gram, grown.evidence.gram
    assert np.array_equal(large[:dimension, :dimension], small)
    assert not large[dimension:].any()
    assert not large[:, dimension:].any()
    assert np.array_equal(grown.predict(np.eye(3, dimension + 200)).mean,
                          grown.coefficients().mean[:3])  # fmt: skip


def test_a_new_arm_leaves_what_is_known_of_the_others():
    context, rng = np.array([1.0, 0.5]), np.random.default_rng(0)
    policy = SOIDS(6, noise=0.1)
    actions = disjoint(context, 3)
    policy.learn(actions, np.arange(60) % 3, np.tile([1.0, 2.0, 3.0], 20))
    grown = policy.enlarged(8)
    grown.refresh(rng)
    assert np.allclose(grown.predict(disjoint(context, 4)).mean[:3], [1.0, 2.0, 3.0], atol=0.3)
    assert grown.rule.noise == 0.1
    assert grown.enlarged(8, noise=0.2).rule.noise == 0.2


def test_arms_with_regressions_of_their_own_get_another_one():
    policy, context = MCPBandit(4, arms=2, penalty=0.001), [1.0, 2.0]
    policy.learn(disjoint(context, 2), [0, 1], [1.0, 2.0])
    grown = policy.enlarged(6, arms=3)
    assert np.array_equal(grown.coefficients().mean[:4], policy.coefficients().mean)
    grown.learn(disjoint(context, 3), 2, 3.0)
    assert grown.coefficients().mean[4:].any()
    with pytest.raises(ValueError, match="MCPBandit must know its arms"):
        MCPBandit(4).enlarged(6)


@pytest.mark.parametrize("make", [SOIDS, Thompson, DRLassoBandit])
def test_rewards_that_come_later_are_learned_from(make, tmp_path):
    policy, rng = make(4), np.random.default_rng(0)
    decisions = [policy.choose(ACTIONS, rng, names=list("abcde")) for _ in range(3)]
    policy.observe(decisions[0], 1.0)
    grown = policy.enlarged(6, COLUMNS, floor=0.1)
    save(grown, tmp_path / "policy")
    grown = load(tmp_path / "policy")
    assert [one.name for one in grown.pending] == [one.name for one in decisions[1:]]
    grown.observe(grown.pending, [2.0, 3.0])
    policy.observe(decisions[1:], [2.0, 3.0])
    assert np.array_equal(grown.evidence.moment[COLUMNS], policy.evidence.moment)
    assert not grown.pending
    assert grown.floor == 0.1
    grown.choose(RNG.uniform(-1, 1, (7, 6)), rng)


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda p: p.enlarged(3), "dimension must be at least 4, got 3"),
        (lambda p: p.enlarged(6, [0, 1]), "columns must hold 4 different columns"),
        (lambda p: p.enlarged(6, [0, 1, 2, 2]), "columns must hold 4 different columns"),
        (lambda p: p.enlarged(6, [0, 1, 2, 6]), r"columns must lie in 0..5, got \[0, 1, 2, 6\]"),
    ],
)
def test_what_does_not_fit_is_refused(ask, why):
    with pytest.raises(ValueError, match=why):
        ask(SOIDS(4))


def test_settings_of_the_new_policy_are_checked():
    with pytest.raises(TypeError, match=r"SOIDS has the settings .* did you mean 'noise'"):
        SOIDS(4).enlarged(6, nois=1.0)
    with pytest.raises(ValueError, match="OracleThompson cannot go on with more features"):
        OracleThompson(4, support=(1,)).enlarged(6)
