"""A policy is a law: asking for it leaves no trace, and every choice is drawn from it."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import chi2

from members import COVERED, make, members, name_of, rule_of
from soids import SOIDS, LassoBandit, MCPBandit, Uniform
from soids.policies.posterior_rule import PosteriorRule

# Few data make the relaxed posterior and PopArt warn, by design; here they are among others.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

STACKED = ("lasso_bandit", "mcp_bandit")  # know arms by their place in the list
every_policy = pytest.mark.parametrize("family", members())
# How an action is drawn from a law has nothing to do with the posterior behind it.
every_way_to_act = pytest.mark.parametrize(
    "family", [one for one in members() if one.values[0].args[1] in (None, "subset")]
)
every_policy_with_beliefs = pytest.mark.parametrize(
    "family", [one for one in members() if issubclass(rule_of(one.values[0]), PosteriorRule)]
)
every_policy_that_takes_exclusions = pytest.mark.parametrize("family", members(*STACKED))
every_learner_from_others = pytest.mark.parametrize(
    "family", [one for one in members() if rule_of(one.values[0]).learns_from_others]
)

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (10, 4))
EXCLUDED = [7, 3]
KEPT = np.array([0, 1, 2, 4, 5, 6, 8, 9])
TOLD = {"sparsity": 1, "radius": 2.0, "noise": 0.5, "exploration": 26}
LATE = 28  # rounds: explorations are over
early_and_late = pytest.mark.parametrize("rounds", [3, LATE])
soids, thompson = partial(make, "soids", None), partial(make, "thompson", None)


def reward_of(decision):
    return float(2.0 * decision.action[1] + 0.5 * np.sin(decision.round))


def play_on(policy, rng, rounds=3, **options):
    """All that can be seen of some more rounds."""
    seen = []
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng, **options)
        seen.append((repr(decision), decision.probabilities.tobytes()))
        policy.observe(decision, reward_of(decision))
    return seen


def in_play(family, rounds=LATE):
    """A policy that has not thought of its last reward yet, and the generator it plays with."""
    policy, rng = family(4, **TOLD), np.random.default_rng(1)
    play_on(policy, rng, rounds)
    return policy, rng


def refreshed(family, rounds=LATE):
    """A policy that has thought of all rewards."""
    policy, rng = in_play(family, rounds)
    policy.refresh(rng)
    return policy, rng


def drawn_by(policy, uniforms, **options):
    """The indices that these uniform numbers decide on, each from the same state."""
    state, indices = policy.state, []
    for uniform in uniforms:
        policy.state = state
        indices.append(policy.decide(ACTIONS, float(uniform), **options).index)
    policy.state = state
    return np.array(indices)


# The law.


@every_policy
@early_and_late
def test_asking_leaves_no_trace(family, rounds):
    (asked, rng), (silent, same) = in_play(family, rounds), in_play(family, rounds)
    state = asked.state
    law = asked.law(ACTIONS)
    assert np.array_equal(asked.law(ACTIONS.copy()), law)
    asked.law(ACTIONS, floor=0.1)
    assert asked.mind is not None or state.mind is None
    assert asked.state is state
    assert play_on(asked, rng) == play_on(silent, same)
    assert rng.bit_generator.state == same.bit_generator.state


@every_policy
def test_asking_before_the_first_choice_leaves_no_trace(family):
    asked, silent = family(4, **TOLD), family(4, **TOLD)
    state = asked.state
    assert asked.law(ACTIONS).sum() == pytest.approx(1.0, abs=1e-12)
    assert asked.state is state
    one, other = (policy.choose(ACTIONS, np.random.default_rng(0)) for policy in (asked, silent))
    assert repr(one) == repr(other)
    assert np.array_equal(one.probabilities, other.probabilities)


@every_policy
@early_and_late
def test_after_a_refresh_the_law_is_that_of_the_next_choice_bit_for_bit(family, rounds):
    policy, rng = refreshed(family, rounds)
    law, state = policy.law(ACTIONS), policy.state
    assert law.shape == (10,)
    assert law.min() >= 0.0
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    decided = policy.decide(ACTIONS, 0.37)
    policy.state = state
    chosen = policy.choose(ACTIONS, rng)
    for decision in (decided, chosen):
        assert np.array_equal(decision.probabilities, law)
        assert decision.probability == law[decision.index] > 0.0
    assert repr(decided.info) == repr(chosen.info)


@every_policy
def test_a_choice_and_a_decision_by_the_same_uniform_number_are_the_same(family):
    policy, _ = refreshed(family)
    state, uniform = policy.state, np.random.default_rng(5).random()
    chosen = policy.choose(ACTIONS, np.random.default_rng(5))
    after = policy.state
    policy.state = state
    decided = policy.decide(ACTIONS, uniform)
    assert repr(decided) == repr(chosen)
    ends = []
    for end in (after, policy.state):
        policy.state = end
        ends.append(play_on(policy, np.random.default_rng(6)))
    assert ends[0] == ends[1]


@every_way_to_act
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_uniform_numbers_on_a_grid_decide_as_often_as_the_law_says(family, floor):
    """An action holds up to three intervals of uniform numbers: its floor's, and its law's, which
    for the MCP bandit are two. The count of a grid in each is off by less than two.
    """
    policy, _ = refreshed(family)
    count = 400
    indices = drawn_by(policy, (np.arange(count) + 0.5) / count, floor=floor)
    law = policy.law(ACTIONS, floor=floor)
    assert np.abs(np.bincount(indices, minlength=10) - count * law).max() < 6.0
    again = drawn_by(policy, (np.arange(count) + 0.5) / count, floor=floor)
    assert np.array_equal(indices, again)


@every_policy
def test_to_decide_is_not_to_think_but_to_choose_is(family, monkeypatch):
    policy, rng = in_play(family)
    thoughts, think = [], policy.rule.think

    def counted(*arguments):
        thoughts.append(1)
        return think(*arguments)

    monkeypatch.setattr(type(policy.rule), "think", staticmethod(counted))
    policy.observe(policy.decide(ACTIONS, 0.3), 1.0)
    policy.decide(ACTIONS, 0.6)
    assert len(thoughts) == 0
    policy.choose(ACTIONS, rng)
    assert len(thoughts) == 1
    policy.refresh(rng)
    assert len(thoughts) == 2


@every_policy_with_beliefs
def test_beliefs_of_a_decision_are_those_of_the_last_thought(family):
    policy, rng = in_play(family)
    belief = policy.state.mind.belief
    policy.observe(policy.decide(ACTIONS, 0.3), 1.0)
    policy.decide(ACTIONS, 0.6)
    assert policy.state.mind.belief is belief
    policy.choose(ACTIONS, rng)
    assert policy.state.mind.belief is not belief


def test_the_first_decision_of_all_forms_beliefs_always_the_same():
    decisions = [SOIDS(4).decide(ACTIONS, 0.4) for _ in range(2)]
    assert repr(decisions[0]) == repr(decisions[1])
    assert np.array_equal(decisions[0].probabilities, SOIDS(4).law(ACTIONS))


@pytest.mark.parametrize("uniform", [-0.1, 1.0, float("nan"), "0.5", None])
def test_a_uniform_number_outside_of_its_interval_is_refused(uniform):
    policy, _ = refreshed(thompson)
    state = policy.state
    with pytest.raises(ValueError, match=rf"^uniform must .*{uniform!r}"):
        policy.decide(ACTIONS, uniform)
    assert policy.state is state


@every_policy
def test_a_refresh_draws_random_numbers_only_if_there_is_news(family):
    policy, rng = refreshed(family)
    before, law = rng.bit_generator.state, policy.law(ACTIONS)
    policy.refresh(rng)
    assert rng.bit_generator.state == before
    assert np.array_equal(policy.law(ACTIONS), law)


@every_policy
def test_after_a_refresh_a_choice_draws_one_uniform_number(family):
    policy, rng = refreshed(family)
    same = np.random.default_rng()
    same.bit_generator.state = rng.bit_generator.state
    policy.choose(ACTIONS, rng)
    same.random()
    assert rng.bit_generator.state == same.bit_generator.state


def test_news_are_thought_of_with_random_numbers():
    policy, rng = in_play(partial(make, "soids", "gaussian"))
    before = rng.bit_generator.state
    policy.refresh(rng)
    assert rng.bit_generator.state != before


# Floors.


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
    state, numbers = policy.state, rng.bit_generator.state
    for ask in (
        lambda: policy.choose(ACTIONS, rng, floor=floor),
        lambda: policy.decide(ACTIONS, 0.5, floor=floor),
        lambda: policy.law(ACTIONS, floor=floor),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert policy.state is state
    assert rng.bit_generator.state == numbers


@pytest.mark.parametrize(("floor", "message"), WRONG_FLOORS)
def test_a_policy_with_a_floor_that_makes_no_sense_is_not_made(floor, message):
    with pytest.raises(ValueError, match=message):
        Uniform(4, floor=floor)


# Exclusions.


@every_policy_that_takes_exclusions
@pytest.mark.parametrize("floor", [0.0, np.linspace(0.0, 0.09, 10)], ids=["plain", "floor"])
def test_with_exclusions_a_policy_is_one_to_which_only_the_others_are_offered(family, floor):
    policy, twin = family(4, **TOLD), family(4, **TOLD)
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
        ([True, False], r"excluded must list indices of actions, got \[True, False\]"),
        (["0"], r"excluded must list indices of actions, got \['0'\]"),
        (np.array([[0], [1]]), "excluded must list indices of actions, got array"),
        ("all", "excluded must list indices of actions, got 'all'"),
        (3, "excluded must list indices of actions, got 3"),
    ],
    ids=str,
)
def test_exclusions_that_make_no_sense_are_refused_and_forgotten(excluded, message):
    policy, rng = in_play(soids)
    state, numbers = policy.state, rng.bit_generator.state
    for ask in (
        lambda: policy.choose(ACTIONS, rng, excluded=excluded),
        lambda: policy.decide(ACTIONS, 0.5, excluded=excluded),
        lambda: policy.law(ACTIONS, excluded=excluded),
    ):
        with pytest.raises(ValueError, match=message):
            ask()
    assert policy.state is state
    assert rng.bit_generator.state == numbers


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


# Rewards that never come, and choices of others.


@every_policy
def test_the_reward_of_a_forgotten_decision_can_no_longer_be_observed(family):
    policy, rng = in_play(family)
    evidence, mind = policy.evidence, policy.state.mind
    decisions = [policy.choose(ACTIONS, rng) for _ in range(4)]
    policy.forget(decisions[1])
    policy.forget([decisions[3], policy.pending[0]])
    assert policy.pending == [policy.pending[0]]
    assert policy.pending[0].round == decisions[2].round
    assert policy.evidence is evidence
    for again in (policy.observe, lambda decision, reward: policy.forget(decision)):
        with pytest.raises(ValueError, match="has its reward already, or was given up"):
            again(decisions[1], 1.0)
    policy.observe(decisions[2], 1.0)
    assert policy.evidence.rounds == LATE + 1
    assert policy.pending == []
    assert mind is not policy.state.mind or mind is None


def test_to_forget_is_to_forget_all_of_a_list_or_none():
    policy, rng = in_play(thompson)
    decisions = [policy.choose(ACTIONS, rng) for _ in range(3)]
    state = policy.state
    for wrong in (
        [*decisions, decisions[0]], [decisions[0], "decision"], [decisions[0], None],
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^decision "):
            policy.forget(wrong)
        assert policy.state is state


@every_learner_from_others
def test_choices_of_others_are_the_same_evidence_as_own_ones(family):
    own, other = family(4, **TOLD), family(4, **TOLD)
    rng = np.random.default_rng(1)
    fixed = getattr(own.rule, "action_bound", None) is not None
    sets = [ACTIONS] if fixed else [ACTIONS, ACTIONS[:6], -ACTIONS]
    for t in range(12):
        actions = sets[t % len(sets)]
        decision = own.choose(actions, rng, floor=0.5)
        own.observe(decision, reward_of(decision))
        other.learn(actions, decision.index, reward_of(decision), probability=decision.probability)
    mine, theirs = own.evidence, other.evidence
    for one, another in zip(mine[1:5], theirs[1:5], strict=True):
        assert np.array_equal(one, another)
    assert np.array_equal(mine.gram, theirs.gram)
    assert mine.counts == theirs.counts
    assert all(one.same(another) for one, another in zip(mine.menus, theirs.menus, strict=True))
    assert other.pending == []
    assert other.law(ACTIONS).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    "family", [one for one in members() if not rule_of(one.values[0]).learns_from_others]
)
def test_who_tries_actions_by_a_plan_refuses_the_choices_of_others(family):
    policy = family(4, **TOLD)
    state = policy.state
    with pytest.raises(ValueError, match="cannot learn from choices that it did not make"):
        policy.learn(ACTIONS, 0, 1.0)
    assert policy.state is state


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ACTIONS, 10, 1.0), r"index must be in 0\.\.9, got 10"),
        ((ACTIONS, -1, 1.0), r"index must be in 0\.\.9, got -1"),
        ((ACTIONS, 0.0, 1.0), "index must be a whole number, got 0.0"),
        ((ACTIONS, 0, np.nan), "reward must be finite .* got nan"),
        ((ACTIONS, 0, None), "reward must be a real number, got None"),
        ((ACTIONS[:, :3], 0, 1.0), r"actions must have shape \(K, 4\)"),
    ],
)
def test_choices_of_others_that_make_no_sense_are_refused_and_forgotten(arguments, message):
    policy, _ = in_play(soids)
    state = policy.state
    with pytest.raises(ValueError, match=message):
        policy.learn(*arguments)
    assert policy.state is state


@pytest.mark.parametrize("probability", [0.0, -0.2, 1.5, np.nan, "0.5", None])
def test_the_probability_of_a_choice_of_others_is_one(probability):
    policy, _ = in_play(partial(make, "dr_lasso_bandit", None))
    state = policy.state
    with pytest.raises(ValueError, match=r"^probability must"):
        policy.learn(ACTIONS, 0, 1.0, probability=probability)
    assert policy.state is state


# The state is a value.


@every_policy
@early_and_late
def test_to_assign_an_old_state_is_to_go_back(family, rounds):
    policy, rng = in_play(family, rounds)
    waiting = policy.choose(ACTIONS, rng)
    state, numbers = policy.state, rng.bit_generator.state
    ends = []
    for _ in range(2):
        policy.state, rng.bit_generator.state = state, numbers
        seen = play_on(policy, rng, 4)
        policy.observe(waiting, 1.0)
        ends.append((seen, play_on(policy, rng, 2), policy.evidence.gram.tobytes()))
    assert ends[0] == ends[1]


@every_policy
def test_two_policies_may_go_on_from_one_state(family):
    policy, rng = in_play(family)
    fork, same = family(4, **TOLD), np.random.default_rng()
    fork.state, same.bit_generator.state = policy.state, rng.bit_generator.state
    play_on(fork, np.random.default_rng(9), 2)
    fork.state = policy.state
    assert play_on(policy, rng, 4) == play_on(fork, same, 4)


def test_sets_that_change_do_not_disturb_who_is_held_to_one():
    """A law is refused where a choice would be."""
    for family in (one.values[0] for one in members() if name_of(one.values[0]) in COVERED):
        policy, _ = refreshed(family)
        with pytest.raises(ValueError, match="the same in every round"):
            policy.law(ACTIONS[:5])
