"""Guardrails of a law: a least probability of each action, and actions that are excluded."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import chi2

from in_play import (
    ACTIONS,
    GIVEN,
    drawn_by,
    early_and_late,
    every_policy,
    every_way_to_act,
    few_data,
    in_play,
    refreshed,
    reward_of,
    soids,
)
from members import make, members
from soids import SOIDS, LassoBandit, MCPBandit, Uniform, load, save
from soids.information import Spread
from soids.policies.decision import Floored

pytestmark = few_data

STACKED = ("lasso_bandit", "mcp_bandit")  # know arms by their place in the list
every_policy_that_takes_exclusions = pytest.mark.parametrize("family", members(*STACKED))

EXCLUDED = [7, 3]
KEPT = np.array([0, 1, 2, 4, 5, 6, 8, 9])


def assert_refused(policy, rng, message, **options):
    """Every verb refuses these options, and the policy and its generator stay as they were."""
    state, numbers = policy.state, rng.bit_generator.state
    for ask in (
        lambda: policy.choose(ACTIONS, rng, **options),
        lambda: policy.decide(ACTIONS, 0.5, **options),
        lambda: policy.law(ACTIONS, **options),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert policy.state is state
    assert rng.bit_generator.state == numbers


@every_policy
@early_and_late
def test_a_floor_is_mixed_with_the_law_exactly(family, rounds):
    policy, rng = refreshed(family, rounds)
    law, state = policy.law(ACTIONS), policy.state
    for floor in (0.3, 1.0, np.linspace(0.0, 0.09, 10)):  # in all, in all, of each
        policy.state = state
        floored = policy.law(ACTIONS, floor=floor)
        floors = np.full(10, floor / 10) if np.ndim(floor) == 0 else floor
        expected = floors + (1.0 - floors.sum()) * law
        np.testing.assert_allclose(floored, expected, rtol=1e-13, atol=1e-16)
        assert (floored >= floors).all()
        decision = policy.choose(ACTIONS, rng, floor=floor)
        assert np.array_equal(decision.probabilities, floored)
        assert decision.probability == floored[decision.index]


@every_way_to_act
def test_actions_are_drawn_by_the_law_with_its_floor(family):
    """Errs once in 10,000 seeds."""
    policy, _ = refreshed(family)
    floors = np.linspace(0.02, 0.08, 10)
    indices = drawn_by(policy, np.random.default_rng(2).random(600), floor=floors)
    expected = 600 * policy.law(ACTIONS, floor=floors)
    counts = np.bincount(indices, minlength=10)
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-4, 9)


def test_the_floor_of_a_policy_holds_for_each_choice_that_has_none_of_its_own():
    policy, plain, rng = SOIDS(4, floor=0.2), SOIDS(4), np.random.default_rng(0)
    law = plain.law(ACTIONS)
    assert policy.floor == 0.2
    assert np.array_equal(policy.law(ACTIONS), plain.law(ACTIONS, floor=0.2))
    assert np.array_equal(policy.law(ACTIONS, floor=0.0), law)
    assert policy.choose(ACTIONS, rng).probabilities.min() >= 0.02
    assert policy.decide(ACTIONS, 0.5, floor=0.0).probabilities.min() == 0.0


def test_a_policy_may_have_a_floor_for_each_action(tmp_path):
    policy = Uniform(4, floor=np.linspace(0.0, 0.09, 10))
    assert repr(policy).startswith("Uniform(dimension=4, floor=array([0.  , 0.01, 0.02,")
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    assert again.law(ACTIONS).tolist() == policy.law(ACTIONS).tolist()
    assert again.law(ACTIONS)[9] == pytest.approx(0.09 + 0.55 / 10)


def test_the_largest_uniform_number_draws_the_last_action_whatever_the_floor():
    """What is left of it after the floor could round to one, which draws no action at all."""
    share = 2.0**-12 + 3.0 * 2.0**-54
    law = Floored(Spread(np.full(3, 1.0 / 3.0)), np.array([share, 0.0, 0.0]))
    assert law.draw(np.nextafter(1.0, 0.0)) == 2


def test_a_floor_leaves_what_is_expected_of_the_law_as_it_is():
    policy, rng = refreshed(soids)
    state = policy.state
    plain = policy.choose(ACTIONS, rng)
    policy.state = state
    assert policy.choose(ACTIONS, rng, floor=0.3).info == plain.info


@pytest.mark.parametrize("floor", [0.0, 0.1, 1.0])
def test_the_mcp_bandit_takes_what_a_floor_drew_for_forced_samples(floor):
    policy, forced = MCPBandit(4, chance=0.0), set()
    for uniform in np.random.default_rng(0).random(20):
        decision = policy.decide(ACTIONS, float(uniform), floor=floor)
        if uniform < floor:
            forced.add(decision.round)
    assert set(policy.state.mind.explored) == forced


WRONG_FLOORS = [
    (-0.1, "floor must be at least 0, got -0.1"),
    (1.5, "floor must be at most 1, the probability in all, got 1.5"),
    (np.nan, "floor must be finite .* got nan"),
    ("0.1", "floor must be a real number, got '0.1'"),
    (np.full(10, 0.2), "floor must be a probability in all, or .* add up to at most 1, got array"),
    (np.linspace(-0.1, 0.1, 10), "floor must be a probability in all, or .* got array"),
    (np.zeros((2, 5)), "floor must be a probability in all, or one for each action .* got array"),
]
PER_ACTION = [(np.full(3, 0.1), "floor must hold one number for each of 10 actions, got 3")]


@pytest.mark.parametrize(("floor", "message"), WRONG_FLOORS + PER_ACTION)
def test_a_floor_that_makes_no_sense_is_refused_and_forgotten(floor, message):
    policy, rng = in_play(partial(make, "soids", "gaussian"))  # its every thought is random
    assert_refused(policy, rng, message, floor=floor)


@pytest.mark.parametrize(("floor", "message"), WRONG_FLOORS)
def test_a_policy_with_a_floor_that_makes_no_sense_is_not_made(floor, message):
    with pytest.raises(ValueError, match=message):
        Uniform(4, floor=floor)


# Exclusions.


@every_policy_that_takes_exclusions
@pytest.mark.parametrize("floor", [0.0, np.linspace(0.0, 0.09, 10)], ids=["plain", "floor"])
def test_with_exclusions_a_policy_is_one_to_which_only_the_others_are_offered(family, floor):
    policy, twin = family(4, **GIVEN), family(4, **GIVEN)
    rng, same = (np.random.default_rng(1) for _ in range(2))
    for _ in range(14):
        mine = policy.choose(ACTIONS, rng, excluded=EXCLUDED, floor=floor)
        few = floor if np.ndim(floor) == 0 else floor[KEPT]
        theirs = twin.choose(ACTIONS[KEPT], same, floor=few)
        assert mine.index == KEPT[theirs.index]
        assert np.array_equal(mine.action, ACTIONS[mine.index])
        assert mine.probabilities.shape == (10,)
        assert not mine.probabilities[EXCLUDED].any()
        assert np.array_equal(mine.probabilities[KEPT], theirs.probabilities)
        assert mine.probability == theirs.probability == mine.probabilities[mine.index]
        policy.observe(mine, reward_of(theirs))
        twin.observe(theirs, reward_of(theirs))
    for one in (policy, twin):
        one.refresh(np.random.default_rng(2))
    law = policy.law(ACTIONS, excluded=np.array(EXCLUDED))
    assert not law[EXCLUDED].any()
    assert np.array_equal(law[KEPT], twin.law(ACTIONS[KEPT]))
    assert (
        policy.decide(ACTIONS, 0.9, excluded=EXCLUDED).index
        == KEPT[twin.decide(ACTIONS[KEPT], 0.9).index]
    )
    assert np.array_equal(policy.evidence.gram, twin.evidence.gram)
    assert policy.evidence.counts == twin.evidence.counts == (14,)


def test_what_is_excluded_may_change_from_round_to_round():
    policy, rng = SOIDS(4), np.random.default_rng(0)
    for t in range(20):
        excluded = rng.permutation(10)[: t % 10]
        decision = policy.choose(ACTIONS, rng, excluded=excluded, floor=0.5)
        assert decision.index not in excluded
        assert np.array_equal(decision.probabilities == 0.0, np.isin(np.arange(10), excluded))
        assert np.array_equal(decision.action, ACTIONS[decision.index])
        policy.observe(decision, 1.0)
    assert len(policy.evidence.menus) == 19  # all actions on offer were the same set both times


@pytest.mark.parametrize(
    ("excluded", "message"),
    [
        (range(10), "excluded must leave at least one action, got all 10"),
        ([3, 10], r"excluded must lie in 0\.\.9, got \[3, 10\]"),
        ([-1], r"excluded must lie in 0\.\.9, got \[-1\]"),
        ([0.5], r"excluded must list indices of actions, got \[0.5\]"),
        ([True, False], r"must list indices of actions, got a mask: use np\.flatnonzero\(mask\)"),
        (ACTIONS[:, 0] > 0, r"must list indices of actions, got a mask: use np\.flatnonzero"),
        (["0"], r"excluded must list indices of actions, got \['0'\]"),
        (np.array([[0], [1]]), "excluded must list indices of actions, got array"),
        ("all", "excluded must list indices of actions, got 'all'"),
        (3, "excluded must list indices of actions, got 3"),
    ],
    ids=str,
)
def test_exclusions_that_make_no_sense_are_refused_and_forgotten(excluded, message):
    policy, rng = in_play(soids)
    assert_refused(policy, rng, message, excluded=excluded)


@pytest.mark.parametrize("family", [LassoBandit, MCPBandit])
def test_who_knows_arms_by_their_place_refuses_exclusions(family):
    policy, rng = family(4), np.random.default_rng(0)
    message = rf"excluded must be empty for {family!r}, which knows arms by .*, got \[7, 3\]"
    with pytest.raises(ValueError, match=message):
        policy.choose(ACTIONS, rng, excluded=EXCLUDED)
    with pytest.raises(ValueError, match=message):
        policy.law(ACTIONS, excluded=EXCLUDED)
    disjoint = family(4, arms=2)
    actions = np.array([[1.0, 2.0, 0, 0], [0, 0, 1.0, 2.0], [2.0, 0, 0, 0]])
    assert disjoint.choose(actions, rng, excluded=[0, 2]).index == 1
