"""Rows of the gram: the same to the last bit whether cached or summed, and never all at once."""

import copy
import pickle
from itertools import combinations, starmap

import numpy as np
import pytest
from numba import config

from compiled import plain
from soids import SOIDS, Thompson, load, save
from soids import gram as module
from soids.evidence import Evidence
from soids.gram import Gram, Journal
from soids.kernels import gram_rows as kernel
from soids.kernels.gram_rows import whole

needs_compiler = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")
D = 12
PLAYED = np.random.default_rng(0).uniform(-1, 1, (30, D)).round(1)  # some entries are zero


@pytest.fixture
def by_rows(monkeypatch):
    """No dimension is small enough for the whole gram at once."""
    monkeypatch.setattr(module, "SMALL", 0)


def grown(count, start=None):
    gram = Gram.empty(D) if start is None else start
    for action in PLAYED[:count]:
        gram = gram.added(action)
    return gram


def summed(count):
    """The whole gram by its definition."""
    total = np.zeros((D, D))
    for action in PLAYED[:count]:
        total += np.outer(action, action)
    return total


def thetas_on(*features):
    thetas = np.zeros((1, D))
    thetas[0, list(features)] = 1.0
    return thetas


@pytest.mark.parametrize("count", range(0, 30, 3))
def test_rows_are_those_of_the_whole_gram_to_the_last_bit(by_rows, count):
    gram, expected = grown(count), summed(count)
    np.testing.assert_array_equal(gram.rows(np.array([7, 2])), expected[[7, 2]])
    np.testing.assert_array_equal(gram.diagonal, np.diag(expected))
    np.testing.assert_array_equal(gram.dense(), expected)


def test_cached_rows_are_updated_to_the_same_bits_as_rows_that_are_summed(by_rows):
    gram = Gram.empty(D)
    for t, action in enumerate(PLAYED[:5]):
        gram.rows(np.array([t, 3]))
        gram = gram.added(action)
        rows = gram.ready(np.zeros((1, D)))
        assert set(np.flatnonzero(rows.slots >= 0)) == {
            *range(max(t + 1 - module.PATIENCE, 0), t + 1),
            3,
        }
        for j in np.flatnonzero(rows.slots >= 0):
            np.testing.assert_array_equal(rows.rows[rows.slots[j]], summed(t + 1)[j])


def test_the_gram_is_whole_once_as_many_actions_as_features_were_played(by_rows):
    assert not grown(D - 1).is_whole
    assert grown(D).is_whole
    assert len(grown(D).actions) == 0
    assert all(np.count_nonzero(grown(t).ready(thetas_on()).slots >= 0) == 2 * t - D
               for t in range(D // 2, D))  # fmt: skip


def test_a_whole_gram_stays_cached(by_rows):
    gram = grown(2)
    gram.dense()
    assert gram.added(PLAYED[2]).is_whole
    np.testing.assert_array_equal(gram.added(PLAYED[2]).dense(), summed(3))


def test_in_few_dimensions_the_gram_is_whole_from_the_start():
    assert Gram.empty(D).is_whole
    assert not Gram.empty(module.SMALL + 1).is_whole


def test_adding_does_not_change_the_old_gram(by_rows):
    gram = grown(4)
    one, other = gram.added(PLAYED[4]), gram.added(PLAYED[5])
    np.testing.assert_array_equal(gram.dense(), summed(4))
    np.testing.assert_array_equal(one.dense(), summed(5))
    expected = summed(4) + np.outer(PLAYED[5], PLAYED[5])
    np.testing.assert_array_equal(other.dense(), expected)


def test_adding_copies_actions_only_when_memory_is_full(by_rows):
    gram = grown(4)
    assert np.shares_memory(gram.actions, gram.added(PLAYED[4]).actions)
    played = Journal(PLAYED)
    assert played.followed(30, PLAYED[0])[0] is played
    full = Journal(PLAYED[:1])
    assert full.followed(16, PLAYED[0])[0] is not full
    assert full.followed(1, PLAYED[1])[0] is full
    other, actions = full.followed(1, PLAYED[2])  # one heir only
    assert other is not full
    assert actions.tolist() == PLAYED[[0, 2]].tolist()


def test_a_blend_may_lead_back_to_a_predecessor(by_rows):
    goal = grown(5)
    start = goal.added(PLAYED[5]).added(PLAYED[6])
    roomy = start.towards(goal, 0.25).roomy(thetas_on(4))
    slot = kernel.meet(roomy, 9)
    np.testing.assert_array_equal(roomy.rows[slot], (0.75 * summed(7) + 0.25 * summed(5))[9])


@pytest.mark.parametrize("steps", [[0.0], [0.3], [0.3, 0.125, 0.7]])
@pytest.mark.parametrize("count", [0, 5])
@pytest.mark.parametrize("is_heir", [False, True])
def test_a_blend_has_the_bits_of_the_blended_matrices(by_rows, steps, count, is_heir):
    start, goal = grown(count), grown(10)
    if is_heir:
        goal = start
        for action in PLAYED[count:10]:
            goal = goal.added(action)
    blend, expected = start, summed(count)
    for share in steps:
        blend = blend.towards(goal, share)
        expected = (1.0 - share) * expected + share * summed(10)
    assert not blend.is_whole
    np.testing.assert_array_equal(blend.diagonal, np.diag(expected))
    np.testing.assert_array_equal(blend.rows(np.array([8, 1])), expected[[8, 1]])
    roomy = blend.roomy(thetas_on(4))
    assert roomy.shared == (count if is_heir else 0)
    slot = kernel.meet(roomy, 9)
    np.testing.assert_array_equal(roomy.rows[slot], expected[9])
    np.testing.assert_array_equal(blend.dense(), expected)


def test_blends_of_other_grams_are_computed_as_a_whole(by_rows):
    blend = grown(2).towards(grown(5), 0.5)
    np.testing.assert_array_equal(
        blend.towards(grown(6), 0.25).dense(), 0.75 * blend.dense() + 0.25 * summed(6)
    )
    np.testing.assert_array_equal(
        grown(2).towards(grown(15), 0.5).dense(), 0.5 * summed(2) + 0.5 * summed(15)
    )


@pytest.mark.parametrize("room", [1, 2, 50])
def test_moves_use_the_right_rows_in_any_room(by_rows, monkeypatch, room):
    monkeypatch.setattr(module, "ROOM", room)
    gram = grown(9)
    gram._compact(np.arange(D) < 7)  # whatever happens to be held
    rows = gram.roomy(thetas_on(1, 4))
    moves = kernel.opened(rows, 0, 1, 1)
    for j in [9, 10, 1, 9, 11, 4, 10, 8, 9]:
        slot = moves.slots[j] if moves.slots[j] >= 0 else kernel.meet(moves, j)
        np.testing.assert_array_equal(rows.rows[slot], summed(9)[j])
    gram.remember(rows)
    assert gram._rows.slots[9] >= 0  # which was met last
    after = gram.ready(thetas_on(9))
    for j in np.flatnonzero(after.slots >= 0):
        np.testing.assert_array_equal(after.rows[after.slots[j]], summed(9)[j])


def test_every_caller_gets_another_room(by_rows):
    gram, given = grown(4), []
    for _ in range(2 * module.ROOMS):
        rows = gram.roomy(thetas_on(2))
        given.append(rows.rows[rows.room : rows.room + rows.owners.size])
    assert all(len(room) == module.ROOM for room in given)
    assert not any(starmap(np.shares_memory, combinations(given, 2)))


def test_rows_are_moved_once_for_several_rooms(by_rows):
    gram, places = grown(4), []
    for j in range(5, 5 + module.ROOMS + 1):
        rows = gram.roomy(thetas_on(2))
        kernel.meet(kernel.opened(rows, 0, 1, 1), j)
        gram.remember(rows)
        places.append(rows.rows)
    assert len({id(place) for place in places}) == 2
    held = gram._rows
    for j in range(5, 5 + module.ROOMS + 1):
        np.testing.assert_array_equal(held.rows[held.slots[j]], summed(4)[j])


def test_cached_rows_stay_when_there_is_no_room_for_others(by_rows, monkeypatch):
    monkeypatch.setattr(module, "ROOM", 1)
    gram = grown(4)
    gram.rows(np.array([3, 5]))
    gram.rows(np.arange(6, 11))
    held = gram._rows
    np.testing.assert_array_equal(np.flatnonzero(held.slots >= 0), [3, 5, 6, 7, 8, 9, 10])
    for j in (3, 5, 6, 10):
        np.testing.assert_array_equal(held.rows[held.slots[j]], summed(4)[j])


@needs_compiler
def test_many_long_rows_are_summed_side_by_side():
    count, d = kernel.TOGETHER + 6, kernel.PIECE + 300
    actions = np.random.default_rng(5).uniform(-1, 1, (9, d)).round(1)
    gram = Gram.empty(d)
    for action in actions:
        gram = gram.added(action)
    features = np.arange(0, 3 * count, 3)
    expected = np.zeros((count, d))
    for action in actions:
        expected += np.outer(action[features], action)
    np.testing.assert_array_equal(gram.rows(features), expected)


def test_an_unused_room_is_used_again(by_rows):
    gram, rooms = grown(4), []
    for _ in range(2 * module.ROOMS):
        rows = gram.roomy(thetas_on(2))
        gram.remember(rows)
        rooms.append((id(rows.rows), rows.room))
    assert len(set(rooms)) == 1


def test_a_whole_gram_keeps_no_rooms():
    gram = Gram.of(summed(4))
    for _ in range(3):
        gram.remember(gram.roomy(thetas_on(2)))
    assert gram._rooms == []


def test_new_rows_in_moved_memory_are_dropped(by_rows):
    gram = grown(4)
    rows = gram.roomy(thetas_on(2))
    kernel.meet(kernel.opened(rows, 0, 1, 1), 7)
    gram._compact(np.arange(D) == 3)
    gram.remember(rows)
    held = gram.ready(thetas_on(3))
    np.testing.assert_array_equal(np.flatnonzero(held.slots >= 0), [3])
    np.testing.assert_array_equal(held.rows[held.slots[3]], summed(4)[3])


def test_threads_share_the_room_without_overlap(by_rows):
    rows = grown(4).roomy(thetas_on(2))
    parts = [kernel.opened(rows, start, start + 5, 15) for start in (0, 5, 10)]
    places = np.concatenate([part.room + np.arange(part.owners.size) for part in parts])
    np.testing.assert_array_equal(places, rows.room + np.arange(module.ROOM))
    kernel.meet(parts[0], 7)
    assert parts[1].slots[7] == rows.slots[7] == -1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda gram: pickle.loads(pickle.dumps(gram))])
def test_copies_are_independent(by_rows, copied):
    gram = grown(4)
    twin = copied(gram)
    np.testing.assert_array_equal(gram.added(PLAYED[4]).dense(), summed(5))
    np.testing.assert_array_equal(twin.added(PLAYED[4]).dense(), summed(5))


def test_evidence_of_fewer_features_needs_no_whole_gram(by_rows):
    evidence = Evidence.empty(D)
    for action in PLAYED[:5]:
        evidence = evidence.note(action, 1.0)
    few = evidence.restricted([3, 1])
    np.testing.assert_array_equal(few.gram, summed(5)[np.ix_([3, 1], [3, 1])])
    assert not evidence.played.is_whole


@pytest.mark.parametrize("name", ["add_to_row", "meet", "fill_rows", "blend_rows", "raise_rows"])
def test_compiled_equals_plain(by_rows, name):
    features, out = np.array([2, 9]), np.zeros((2, D))
    rows = grown(9).towards(grown(11), 0.3).roomy(thetas_on(2, 9))
    compiled = getattr(kernel, name)
    arguments = {
        "add_to_row": (PLAYED, 3, np.zeros(D)),
        "meet": (rows, 4),
        "fill_rows": (0, 2, np.array([2, 10]), grown(9).ready(thetas_on(2)), out),
        "blend_rows": (0, 2, np.array([2, 10]), rows, whole(summed(9)), whole(summed(11)), out),
        "raise_rows": (0, 2, features, rows, PLAYED[0], out),
    }[name]
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    compiled(*ours)
    plain(compiled)(*theirs)
    np.testing.assert_array_equal(ours[-1], theirs[-1])


ACTIONS = np.random.default_rng(1).uniform(-1, 1, (30, 40))


def play_some(policy, rounds, rng):
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, float(ACTIONS[decision.index, :3].sum() + rng.standard_normal()))
    return policy


@needs_compiler
@pytest.mark.parametrize("fresh", [
    lambda: SOIDS(40, sparsity=3, radius=3.0, noise=1.0, particles=30),
    lambda: SOIDS(40, particles=30),
    lambda: Thompson(40, posterior="spike_slab", sparsity=3, particles=30, sweeps=2),
], ids=["known", "estimated", "slab"])  # fmt: skip
def test_a_run_by_rows_has_the_bits_of_a_run_with_the_whole_gram(fresh, monkeypatch):
    clouds = []
    for small, room in [(40, 1024), (0, 1024), (0, 5)]:
        monkeypatch.setattr(module, "SMALL", small)
        monkeypatch.setattr(module, "ROOM", room)
        policy = play_some(fresh(), 50, np.random.default_rng(0))
        clouds.append(policy.state.mind.belief.thetas)
    np.testing.assert_array_equal(clouds[0], clouds[1])
    np.testing.assert_array_equal(clouds[0], clouds[2])


@needs_compiler
@pytest.mark.parametrize("rounds", [0, 7, 25, 50])
def test_a_saved_policy_continues_bit_for_bit(by_rows, tmp_path, rounds):
    policy = SOIDS(40, sparsity=3, radius=3.0, noise=1.0, particles=30)
    play_some(policy, rounds, np.random.default_rng(0))
    save(policy, tmp_path / "policy")
    ends = [
        play_some(one, 10, np.random.default_rng(1)).state.mind.belief.thetas
        for one in (policy, load(tmp_path / "policy"))
    ]
    np.testing.assert_array_equal(*ends)
