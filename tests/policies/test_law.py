"""A policy is a law: asking for it leaves no trace, and every choice is drawn from it."""

from functools import partial

import numpy as np
import pytest

from in_play import (
    ACTIONS,
    GIVEN,
    drawn_by,
    early_and_late,
    every_policy,
    every_way_to_act,
    few_data,
    in_play,
    play_on,
    refreshed,
    thompson,
)
from members import COVERED, make, members, name_of, rule_of
from soids import SOIDS
from soids.arrays import as_actions
from soids.policies.posterior_rule import PosteriorRule

pytestmark = few_data
every_policy_with_beliefs = pytest.mark.parametrize(
    "family", [one for one in members() if issubclass(rule_of(one.values[0]), PosteriorRule)]
)


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
    asked, silent = family(4, **GIVEN), family(4, **GIVEN)
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
def test_the_law_is_that_of_the_next_choice_while_rewards_are_pending(family):
    policy, rng = in_play(family)
    waiting = [policy.choose(ACTIONS, rng) for _ in range(3)]
    for news in (None, 1.0):
        if news is not None:
            policy.observe(waiting[1], news)
            policy.refresh(rng)
        state, law = policy.state, policy.law(ACTIONS)
        assert np.array_equal(policy.choose(ACTIONS, rng).probabilities, law)
        policy.state = state
        assert np.array_equal(policy.decide(ACTIONS, 0.2).probabilities, law)


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
    fork, same = family(4, **GIVEN), np.random.default_rng()
    fork.state, same.bit_generator.state = policy.state, rng.bit_generator.state
    play_on(fork, np.random.default_rng(9), 2)
    fork.state = policy.state
    assert play_on(policy, rng, 4) == play_on(fork, same, 4)


@every_policy
def test_a_state_that_is_assigned_knows_its_own_action_set(family):
    """Even if the same array, which can never change, was shown to the policy before."""
    actions, rewards = as_actions(ACTIONS, 4), (1.0, 2.0)
    ends = []
    for is_shown in (True, False):
        policy, fork, rng = family(4, **GIVEN), family(4, **GIVEN), np.random.default_rng(1)
        policy.observe(policy.choose(actions, rng), rewards[0])
        if is_shown:
            fork.observe(fork.choose(actions, np.random.default_rng(2)), rewards[1])
        fork.state = policy.state
        decision = fork.choose(actions, rng)
        assert decision.menu is policy.state.past.menu
        ends.append((repr(decision), decision.probabilities.tobytes()))
    assert ends[0] == ends[1]


def test_sets_that_change_do_not_disturb_who_is_held_to_one():
    """A law is refused where a choice would be."""
    for family in (one.values[0] for one in members() if name_of(one.values[0]) in COVERED):
        policy, _ = refreshed(family)
        with pytest.raises(ValueError, match="the same in every round"):
            policy.law(ACTIONS[:5])
