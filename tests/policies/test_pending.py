"""Decisions that wait for their rewards: in order, immutable, and at a low cost."""

import gc
import tracemalloc

import numpy as np
import pytest

from soids import DRLassoBandit, Thompson, Uniform, load, save
from soids.evidence import random_key
from soids.policies.pending import BLOCK, Pending

ROUNDS = 2 * BLOCK + 90  # several blocks, the last one not full


def fresh(count, seed=0, shape=(5, 3)):
    """Action sets that are all different."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape) for _ in range(count)]


def waiting_for(sets, policy=None):
    """A policy none of whose decisions has its reward, and the decisions."""
    policy, rng = Uniform(3) if policy is None else policy, np.random.default_rng(1)
    return policy, [policy.choose(actions, rng) for actions in sets]


def forgetful(sets):
    """A policy that remembers few action sets."""
    return Thompson(3, sets=sets, posterior="gaussian", particles=5)


def rounds_of(pending):
    return [one.round for one in pending]


def reward_of(decision):
    return float(decision.action[0] + np.sin(decision.round))


# An immutable collection in the order of the choices.


def test_a_decision_that_waits_is_the_one_that_was_made():
    policy, decisions = waiting_for(fresh(20))
    for one, decision in zip(policy.pending, decisions, strict=True):
        assert (one.round, one.index, one.probability) == (
            decision.round, decision.index, decision.probability
        )  # fmt: skip
        assert np.array_equal(one.action, decision.action)
        assert policy.state.past.pending.menu(one) is decision.menu


def test_what_comes_later_leaves_an_old_past_as_it_was():
    policy, rng, actions = Uniform(3), np.random.default_rng(0), fresh(1)[0]
    pasts, decisions = [], []
    for _ in range(ROUNDS):
        pasts.append(policy.state.past)
        decisions.append(policy.choose(actions, rng))
    for decision in rng.permutation(ROUNDS)[: ROUNDS // 2]:
        pasts.append(policy.state.past)
        policy.observe(decisions[decision], 1.0)
    pasts.append(policy.state.past)
    policy.forget(policy.pending)
    assert policy.pending == []
    for made in (0, 1, BLOCK - 1, BLOCK, BLOCK + 1, ROUNDS - 1):
        assert rounds_of(pasts[made].pending) == list(range(1, made + 1))
        assert len(pasts[made].pending) == made
        assert sum(one.waiting for one in pasts[made].pending.shared.values()) == made
    sizes = [len(past.pending) for past in pasts[ROUNDS:]]
    assert sizes == list(range(ROUNDS, ROUNDS - len(sizes), -1))


def test_the_order_is_that_of_the_choices_whatever_rewards_have_come():
    policy, decisions = waiting_for(fresh(1) * ROUNDS)
    rng, left = np.random.default_rng(0), set(range(1, ROUNDS + 1))
    for gone in np.array_split(rng.permutation(ROUNDS), 12)[:-1]:
        policy.observe([decisions[k] for k in gone], np.ones(len(gone)))
        left -= {int(k) + 1 for k in gone}
        pending = policy.state.past.pending
        assert rounds_of(policy.pending) == rounds_of(pending) == sorted(left)
        assert len(pending) == len(left)
        assert all((turn in pending) == (turn in left) for turn in range(ROUNDS + 2))
        assert all(pending[turn].round == turn for turn in left)


@pytest.mark.parametrize("count", [1, 3, BLOCK, BLOCK + 70, 10 * BLOCK])
@pytest.mark.parametrize("gone", [0, 60, ROUNDS - 40, ROUNDS])
def test_the_latest_are_the_last_of_all(count, gone):
    policy, decisions = waiting_for(fresh(1) * ROUNDS)
    policy.forget([decisions[k] for k in np.random.default_rng(2).permutation(ROUNDS)[:gone]])
    pending = policy.state.past.pending
    assert pending.latest(count) == list(pending)[-count:]


# What is kept of action sets.


def test_of_unknown_sets_only_as_many_are_kept_as_can_be_remembered():
    """Those whose rounds have the smallest random keys, by which the evidence samples them too."""
    policy, decisions = waiting_for(fresh(60), forgetful(8))
    pending = policy.state.past.pending
    kept = [decision for decision in decisions if pending.menu(pending[decision.round])]
    smallest = sorted(range(1, 61), key=random_key)[:8]
    assert [decision.round for decision in kept] == sorted(smallest)
    assert all(pending.menu(pending[one.round]) is one.menu for one in kept)
    assert len(pending.shared) == 8


def test_rewards_count_whether_their_sets_were_kept_or_not():
    sets = fresh(60)
    prompt, rng = forgetful(8), np.random.default_rng(1)
    for actions in sets:
        decision = prompt.choose(actions, rng)
        prompt.observe(decision, reward_of(decision))
    late, decisions = waiting_for(sets, forgetful(8))
    taken = late.pending  # without their sets
    state = late.state
    late.observe(decisions, [reward_of(one) for one in decisions])
    in_hand = late.evidence
    late.state = state
    for one in np.random.default_rng(3).permutation(60):
        late.observe(taken[one], reward_of(decisions[one]))
    for found in (in_hand, late.evidence):
        actions = np.array([one.action for one in decisions])
        rewards = np.array([reward_of(one) for one in decisions])
        assert found.rounds == 60
        np.testing.assert_allclose(found.gram, actions.T @ actions, rtol=1e-12)
        np.testing.assert_allclose(found.moment, rewards @ actions, rtol=1e-10)
        assert found.offered.sum() == pytest.approx(60.0)
        assert {menu.fingerprint for menu in found.menus} == {
            menu.fingerprint for menu in prompt.evidence.menus
        }
    assert late.pending == []
    assert late.state.past.pending.shared == {}


def test_a_rule_that_learns_from_whole_sets_finds_them_all():
    policy, decisions = waiting_for(fresh(200), DRLassoBandit(3))
    pending = policy.state.past.pending
    assert all(pending.menu(pending[one.round]) is one.menu for one in decisions)
    policy.observe(policy.pending, np.ones(200))
    assert policy.state.mind.pseudo.rounds == 200


def test_a_set_that_many_decisions_share_is_kept_once():
    actions = fresh(1)[0]
    policy, decisions = waiting_for([actions.copy() for _ in range(500)])
    pending = policy.state.past.pending
    ((first, shared),) = pending.shared.items()
    assert (first, shared.waiting) == (1, 500)
    assert all(pending.menu(one) is shared.menu for one in pending)
    policy.observe(decisions[:499], np.ones(499))
    assert policy.state.past.pending.shared[1].waiting == 1
    policy.observe(decisions[499], 1.0)
    assert policy.state.past.pending.shared == {}


def test_sets_that_the_evidence_knows_take_no_room_from_others():
    policy, known = forgetful(3), fresh(3, seed=5)
    rng = np.random.default_rng(0)
    for actions in known:
        policy.observe(policy.choose(actions, rng), 1.0)
    for actions in (*known, *fresh(40), *known):
        policy.choose(actions, rng)
    pending = policy.state.past.pending
    assert len(pending.shared) == 6
    for one in (*policy.pending[:3], *policy.pending[-3:]):
        assert any(pending.menu(one) is menu for menu in policy.evidence.menus)


def test_twenty_thousand_decisions_with_fresh_sets_take_less_than_sixteen_megabytes():
    """Their action sets, of 50 actions of 20 features, would take 160."""
    policy, rng = Uniform(20), np.random.default_rng(0)
    numbers = rng.uniform(-1, 1, (50, 20))
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(20_000):
            numbers[0, 0] += 1e-3
            policy.choose(numbers, rng)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(policy.state.past.pending) == 20_000
    assert len(policy.state.past.pending.shared) == policy.rule.sets == 128
    assert held < 16e6


# On disk.


def test_an_empty_collection_is_found_again(tmp_path):
    save(Uniform(3), tmp_path / "policy")
    found = load(tmp_path / "policy").state.past.pending
    assert (len(found), found.shared, list(found)) == (0, {}, [])
    assert list(Pending().table().pending()) == []


def test_many_decisions_that_wait_are_found_again_with_their_sets(tmp_path):
    policy, known = forgetful(16), fresh(2, seed=5)
    rng = np.random.default_rng(0)
    for actions in known:
        policy.observe(policy.choose(actions, rng), 1.0)
    _, decisions = waiting_for([*known, *fresh(1) * 300, *fresh(700), *known], policy)
    policy.observe(decisions[5::7], [reward_of(one) for one in decisions[5::7]])
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    mine, theirs = (one.state.past.pending for one in (policy, again))
    assert len(theirs) == len(mine) > 800
    for one, other in zip(mine, theirs, strict=True):
        assert (one.round, one.index, one.probability, one.place, one.first) == (
            other.round, other.index, other.probability, other.place, other.first
        )  # fmt: skip
        assert np.array_equal(one.action, other.action)
    assert list(mine.shared) == list(theirs.shared)
    for one, other in zip(mine.shared.values(), theirs.shared.values(), strict=True):
        assert one[1:] == other[1:]
        assert one.menu.same(other.menu)
        assert any(one.menu is menu for menu in policy.evidence.menus) == any(
            other.menu is menu for menu in again.evidence.menus
        )
    rewards = [reward_of(one) for one in mine]
    for one in (policy, again):
        one.observe(one.pending, rewards)
    assert policy.evidence.gram.tobytes() == again.evidence.gram.tobytes()
    assert policy.evidence.moment.tobytes() == again.evidence.moment.tobytes()
    assert policy.evidence.counts == again.evidence.counts
    assert [menu.fingerprint for menu in policy.evidence.menus] == [
        menu.fingerprint for menu in again.evidence.menus
    ]
    assert (tmp_path / "policy").stat().st_size < 200_000
