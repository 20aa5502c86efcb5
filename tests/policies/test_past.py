"""What a policy learns from: rewards that never come, and choices of others."""

from functools import partial

import numpy as np
import pytest

from in_play import (
    ACTIONS,
    GIVEN,
    LATE,
    every_policy,
    few_data,
    in_play,
    refreshed,
    reward_of,
    soids,
    thompson,
)
from members import make, members, rule_of
from soids.policies.posterior_rule import PosteriorRule

pytestmark = few_data
every_learner_from_others = pytest.mark.parametrize(
    "family", [one for one in members() if rule_of(one.values[0]).learns_from_others]
)
every_policy_with_beliefs = pytest.mark.parametrize(
    "family", [one for one in members() if issubclass(rule_of(one.values[0]), PosteriorRule)]
)


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


@every_policy_with_beliefs
def test_a_forgotten_reward_no_longer_lowers_the_information_of_others(family):
    policy, rng = refreshed(family)
    state, expected = policy.state, policy.decide(ACTIONS, 0.5)
    policy.state = state
    for _ in range(3):
        policy.choose(ACTIONS, rng)
    policy.forget(policy.pending)
    found = policy.decide(ACTIONS, 0.5)
    assert found.info[:2] == expected.info[:2]


@every_policy
def test_a_reward_that_comes_during_a_refresh_is_not_lost(family, monkeypatch):
    """As from another thread, while the beliefs are formed."""
    policy, rng = in_play(family)
    waiting = [policy.choose(ACTIONS, rng) for _ in range(2)]
    think, rounds = policy.rule.think, policy.evidence.rounds

    def interrupted(*arguments):
        thought = think(*arguments)
        policy.observe(waiting.pop(), 1.0)
        return thought

    monkeypatch.setattr(type(policy.rule), "think", staticmethod(interrupted))
    policy.refresh(rng)
    monkeypatch.undo()
    assert policy.evidence.rounds == rounds + 1
    policy.observe(waiting, [1.0])
    policy.refresh(rng)
    law = policy.law(ACTIONS)
    assert np.array_equal(policy.choose(ACTIONS, rng).probabilities, law)


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
    own, other = family(4, **GIVEN), family(4, **GIVEN)
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
    policy = family(4, **GIVEN)
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
