"""Several threads on one policy: no choice and no reward is lost, and nothing is seen by halves."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pytest

from in_play import ACTIONS, GIVEN, every_way_to_act, few_data, in_play, soids
from members import make
from soids import POLICIES, load, save
from soids.information import Even
from soids.policies.policy import Family, Plan, Rule

pytestmark = few_data
ACTORS = 3
WAIT = 20.0  # seconds until a test gives up on another thread


@pytest.fixture
def restless():
    """Threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def sums(rounds):
    """Gram and moment (d + 1, d) of actions and rewards."""
    actions = np.array([action for action, _ in rounds])
    rewards = np.array([reward for _, reward in rounds])
    return np.vstack((actions.T @ actions, rewards @ actions))


def about_zero(evidence):
    """The same of what a policy has learned, whether or not it has an intercept."""
    found, level = np.vstack((evidence.gram, evidence.moment)), [evidence.level]
    means = np.vstack((evidence.centre[:, None], level)) if evidence.centred else 0.0
    return found + means * evidence.total


def reward_at(action):
    return float(2.0 * action[1] + 0.5 * np.sin(1e3 * action[0]))


def act(policy, seed, count, uniforms):
    """Choices, or decisions by ``uniforms``, and all of their rewards but the last."""
    rng, decisions = np.random.default_rng(seed), []
    for _ in range(count):
        if uniforms:
            decisions.append(policy.decide(ACTIONS, rng.random()))
        else:
            decisions.append(policy.choose(ACTIONS, rng))
        if len(decisions) > 1:
            policy.observe(decisions[-2], reward_at(decisions[-2].action))
    return decisions


def teach(policy, count):
    """Choices of others, and their rewards."""
    for k in range(count):
        policy.learn(ACTIONS, k % len(ACTIONS), reward_at(ACTIONS[k % len(ACTIONS)]))
    return [(ACTIONS[k % len(ACTIONS)], reward_at(ACTIONS[k % len(ACTIONS)])) for k in range(count)]


def think_on(policy, done):
    rng = np.random.default_rng(9)
    while not done.is_set():
        policy.refresh(rng)


def save_and_load(policy, path, done):
    """Whether checkpoints that are written meanwhile are those of one moment, at least one."""
    checked = 0
    while not done.is_set() or not checked:
        save(policy, path)
        found = load(path)
        past, mind = found.state.past, found.state.mind
        assert past.decisions == past.evidence.rounds + len(past.pending)
        assert [one.round for one in policy.pending] == sorted(
            {one.round for one in policy.pending}
        )
        if hasattr(mind, "foresight"):  # rewards that the rule counts itself
            assert mind.foresight.evidence.rounds == past.evidence.rounds
        assert policy.law(ACTIONS).sum() == pytest.approx(1.0, abs=1e-9)
        checked += 1
    return checked


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.usefixtures("restless", "one_thread")
def test_threads_that_choose_observe_learn_refresh_and_save_lose_nothing(name, cases, tmp_path):
    policy = make(name, None, 4, **GIVEN)
    count, done = cases(25, 400), threading.Event()
    learns = rule_of_name(name).learns_from_others
    with ThreadPoolExecutor(ACTORS + 4) as pool:
        acting = [pool.submit(act, policy, seed, count, seed == 0) for seed in range(ACTORS)]
        taught = pool.submit(teach, policy, count if learns else 0)
        others = [
            pool.submit(think_on, policy, done),
            pool.submit(save_and_load, policy, tmp_path / "policy", done),
        ]
        try:
            decided = [one.result() for one in acting]
            rounds = taught.result()
        finally:
            done.set()
        for one in others:
            one.result()
    decisions = [one for own in decided for one in own]
    total = ACTORS * count + len(rounds)
    rounds += [(one.action, reward_at(one.action)) for own in decided for one in own[:-1]]
    past = policy.state.past
    assert len({one.round for one in decisions}) == len(decisions)
    assert past.decisions == total
    assert past.evidence.rounds == len(rounds) == total - ACTORS
    assert [one.round for one in policy.pending] == sorted(own[-1].round for own in decided)
    np.testing.assert_allclose(about_zero(past.evidence), sums(rounds), rtol=1e-9, atol=1e-9)
    policy.observe(policy.pending, [0.0] * ACTORS)
    assert policy.choose(ACTIONS, np.random.default_rng(0)).round == total + 1


def rule_of_name(name):
    """The kind of rule that a policy of this name follows."""
    made_by = POLICIES[name]
    return getattr(made_by, "__self__", made_by).rule


@pytest.mark.usefixtures("restless")
def test_of_threads_that_give_up_on_the_same_rewards_one_succeeds(cases):
    policy, rng = in_play(soids, 3)
    decisions = [policy.choose(ACTIONS, rng) for _ in range(cases(40, 2000))]

    def give_up(verb):
        mine = 0
        for one in decisions:
            try:
                verb(one)
                mine += 1
            except ValueError:
                pass
        return mine

    with ThreadPoolExecutor(4) as pool:
        verbs = [policy.forget, policy.forget, *[lambda one: policy.observe(one, 1.0)] * 2]
        counts = list(pool.map(give_up, verbs))
    assert sum(counts) == len(decisions)
    assert policy.pending == []
    assert policy.evidence.rounds == 3 + sum(counts[2:])


# Which methods wait for which, by a rule that thinks until it is let go.


@dataclass(frozen=True)
class SlowRule(Rule[tuple]):
    """Any action; the mind counts thoughts, and the rewards that came by ``learn``."""

    dimension: int
    merges: bool = True

    def start(self):
        return 0, 0

    def think(self, mind, past, menu, rng):
        self.begun.set()
        assert self.goes_on.wait(WAIT)
        return mind[0] + 1, mind[1]

    def merged(self, thought, before, now):
        return (thought[0], now[1]) if self.merges else super().merged(thought, before, now)

    def law(self, mind, past, menu):
        return Plan(Even(len(menu.actions)))

    def learn(self, mind, past, outcomes):
        return mind[0], mind[1] + len(outcomes)


def slow(**settings):
    """A policy that has thought once, and will wait when it thinks the next time."""
    policy = Family(SlowRule)(4, **settings)
    for name in ("begun", "goes_on"):
        object.__setattr__(policy.rule, name, threading.Event())
    policy.rule.goes_on.set()
    policy.choose(ACTIONS, np.random.default_rng(0))
    policy.rule.begun.clear()
    policy.rule.goes_on.clear()
    return policy


def during(policy, verb, *others):
    """Call ``verb`` in a thread, and the others here while its rule thinks."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(verb)
        try:
            assert policy.rule.begun.wait(WAIT)
            for other in others:
                other()
                assert not running.done()
        finally:
            policy.rule.goes_on.set()
        return running.result(WAIT)


def test_choices_and_rewards_do_not_wait_while_a_refresh_thinks():
    policy, rng = slow(), np.random.default_rng(1)
    during(
        policy,
        lambda: policy.refresh(rng),
        lambda: policy.decide(ACTIONS, 0.5),
        lambda: policy.observe(policy.pending[0], 1.0),
        lambda: policy.forget(policy.pending[0]),
        lambda: policy.learn(ACTIONS, 0, 1.0),
        lambda: policy.evidence.rounds,
    )
    assert policy.state.mind == (2, 2)
    assert (policy.evidence.rounds, policy.pending, policy.state.past.decisions) == (2, [], 3)


def test_beliefs_that_cannot_be_merged_are_dropped_and_rewards_are_not():
    policy, rng = slow(merges=False), np.random.default_rng(1)
    during(policy, lambda: policy.refresh(rng), lambda: policy.observe(policy.pending[0], 1.0))
    assert policy.state.mind == (1, 1)
    assert policy.evidence.rounds == 1
    policy.refresh(rng)
    assert policy.state.mind == (2, 1)


def test_beliefs_about_a_state_that_was_replaced_meanwhile_are_dropped():
    policy, rng = slow(), np.random.default_rng(1)
    earlier = policy.state
    policy.learn(ACTIONS, 0, 1.0)

    def undo():
        policy.state = earlier

    during(policy, lambda: policy.refresh(rng), undo)
    assert policy.state is earlier


def test_what_changes_a_policy_waits_for_a_choice_and_what_reads_it_does_not():
    policy, rng = slow(), np.random.default_rng(1)
    waiting = policy.pending[0]
    with ThreadPoolExecutor(4) as pool:
        choosing = pool.submit(policy.choose, ACTIONS, rng)
        try:
            assert policy.rule.begun.wait(WAIT)
            late = [
                pool.submit(policy.observe, waiting, 1.0),
                pool.submit(policy.learn, ACTIONS, 1, 1.0),
                pool.submit(policy.decide, ACTIONS, 0.5),
            ]
            assert (len(policy.pending), policy.evidence.rounds) == (1, 0)
            assert not any(one.done() for one in late)
        finally:
            policy.rule.goes_on.set()
        assert choosing.result(WAIT).round == 2
        for one in late:
            one.result(WAIT)
    assert (policy.state.past.decisions, policy.evidence.rounds) == (4, 2)


def test_a_copy_of_a_policy_has_locks_of_its_own():
    policy, rng = in_play(soids, 3)
    policy._changing.acquire()  # as if another thread chose
    try:
        copy = deepcopy(policy)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(copy.choose, ACTIONS, rng).result(WAIT).round == 4
    finally:
        policy._changing.release()
    assert copy.state.past.decisions == policy.state.past.decisions + 1


@every_way_to_act
def test_choices_during_a_refresh_are_kept_and_so_are_the_beliefs_of_a_posterior(
    family, monkeypatch
):
    """As from another thread, while the beliefs are formed."""
    policy, rng = in_play(family)
    think, meanwhile = policy.rule.think, []

    def interrupted(*arguments):
        thought = think(*arguments)
        policy.decide(ACTIONS, 0.5)
        meanwhile.append(policy.state)
        return thought

    before = policy.state
    monkeypatch.setattr(type(policy.rule), "think", staticmethod(interrupted))
    policy.refresh(rng)
    monkeypatch.undo()
    now = policy.state
    assert now.past.decisions == before.past.decisions + 1
    assert len(policy.pending) == len(before.past.pending) + 1
    if hasattr(now.mind, "believed"):
        assert now.mind.believed is policy.evidence
        assert now.mind.belief is not before.mind.belief
        assert now.mind.ratios == meanwhile[0].mind.ratios
        assert now.mind.awaited is None  # it was expected by the earlier belief
    state = now  # and the next law takes the new pending decision into account
    law = policy.law(ACTIONS)
    assert policy.state is state
    assert np.array_equal(policy.choose(ACTIONS, rng).probabilities, law)
