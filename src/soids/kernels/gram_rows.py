"""Rows of the gram (the sum of a a' over all actions played), held ready or summed when needed.

A move needs the diagonal, and the rows of the features that are active or about to be. A row is
always summed in the order of play, so that it is the same to the last bit wherever it comes from.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats, Ints

PIECE = 1024  # entries of a row
TOGETHER = 64  # rows


class Rows(NamedTuple):
    """A gram as the moves see it; they write to nothing but spare rows of their own.

    Row ``j`` is ``rows[slots[j]]``, or, if that slot is negative, ``rows[meet(gram, j)]``.
    """

    diagonal: Floats  # (d,)
    slots: Ints  # (d,)
    rows: Floats  # (m + n, d)  m rows held in order, then others and room for those met on the way
    room: int  # where that room begins; before it is given, m
    owners: Ints  # (n,)  features whose rows were met, or -1
    met: Ints  # (1,)  how many there were
    actions: Floats  # (t, d)
    origin: Floats  # (t', d)  actions of another gram, from which this one is on the way
    shares: Floats  # (p,)  of the way gone in each step; none: this is no blend
    shared: int  # how many actions both grams have first: all of the other's, or none


def whole(matrix: Floats) -> Rows:
    """All rows of a gram, in order."""
    d = len(matrix)
    nothing, none = np.empty((0, d)), np.empty(0, dtype=np.int64)
    diagonal, met = np.diagonal(matrix).copy(), np.zeros(1, dtype=np.int64)
    return Rows(diagonal, np.arange(d), matrix, d, none, met, nothing, nothing, np.empty(0), 0)


@njit(cache=True)
def raised(matrix, action):
    """The whole gram after one more action."""
    after = np.empty_like(matrix)
    for j in range(action.size):
        weight, old, new = action[j], matrix[j], after[j]
        for i in range(action.size):
            new[i] = old[i] + weight * action[i]
    return after


@njit(cache=True)
def meet(gram, j):
    """Sum a row that is not there, in place of the one that was met longest ago; return its slot.

    Other rows that were met are good until then, and must be looked up again.
    """
    place = gram.met[0] % gram.owners.size
    slot = gram.room + place
    if gram.owners[place] >= 0:
        gram.slots[gram.owners[place]] = -1
    gram.met[0] += 1
    gram.owners[place] = j
    gram.slots[j] = slot
    row = gram.rows[slot]
    row[:] = 0.0
    if gram.shares.size == 0:
        add_to_row(gram.actions, j, row)
        return slot
    add_to_row(gram.origin, j, row)
    goal = row.copy() if gram.shared > 0 else np.zeros(row.size)
    add_to_row(gram.actions[gram.shared :], j, goal)
    blend(row, goal, gram.shares, row)
    return slot


@njit(cache=True)
def add_to_row(actions, j, row):
    """Add some actions to the row of one feature, a piece that fits the nearest cache at a time."""
    times = np.flatnonzero(actions[:, j])
    weights = actions[:, j][times]
    for first in range(0, row.size, PIECE):
        add_to_piece(actions, times, weights, row, first, min(first + PIECE, row.size))


@njit(cache=True)
def add_to_piece(actions, times, weights, row, first, last):
    """Add the weighted actions of some rounds to a piece of a row."""
    even = times.size - times.size % 4
    piece = row[first:last]  # cut out, so that no index is looked at for its sign
    for k in range(0, even, 4):
        t, u, v, w = times[k], times[k + 1], times[k + 2], times[k + 3]
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        p, q = actions[t, first:last], actions[u, first:last]
        r, s = actions[v, first:last], actions[w, first:last]
        for i in range(piece.size):  # from left to right: in the order of play
            piece[i] = piece[i] + a * p[i] + b * q[i] + c * r[i] + d * s[i]
    for k in range(even, times.size):
        weight, action = weights[k], actions[times[k], first:last]
        for i in range(piece.size):
            piece[i] += weight * action[i]


@njit(cache=True)
def opened(gram, start, stop, count):
    """The same gram with a share of the room, for some of so many particles."""
    size = gram.owners.size
    first, last = start * size // count, stop * size // count
    return Rows(
        gram.diagonal, gram.slots.copy(), gram.rows, gram.room + first, gram.owners[first:last],
        np.zeros(1, dtype=np.int64), gram.actions, gram.origin, gram.shares, gram.shared,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def fill_rows(start, stop, features, gram, rows):
    """Write the rows of some features, of a gram that is no blend.

    Those that are not there are summed side by side: a piece of all actions is read for many.
    """
    actions, strangers = gram.actions, np.empty(stop - start, dtype=np.int64)
    count = 0
    for k in range(start, stop):
        slot = gram.slots[features[k]]
        if slot >= 0:
            rows[k] = gram.rows[slot]
        else:
            strangers[count] = k
            count += 1
    if count == 0:
        return
    room = (min(TOGETHER, count), len(actions))
    times, weights = np.empty(room, dtype=np.int64), np.empty(room)
    sizes = np.empty(TOGETHER, dtype=np.int64)
    for begin in range(0, count, TOGETHER):
        some = strangers[begin : min(begin + TOGETHER, count)]
        for n in range(some.size):
            column = actions[:, features[some[n]]]
            rounds = np.flatnonzero(column)
            sizes[n] = rounds.size
            times[n, : rounds.size], weights[n, : rounds.size] = rounds, column[rounds]
        for first in range(0, rows.shape[1], PIECE):
            last = min(first + PIECE, rows.shape[1])
            for n in range(some.size):
                known, shares = times[n, : sizes[n]], weights[n, : sizes[n]]
                row = rows[some[n]]
                row[first:last] = 0.0
                add_to_piece(actions, known, shares, row, first, last)


@njit(cache=True, nogil=True)
def blend_rows(start, stop, features, gram, origin, goal, rows):
    """Write the rows of some features of a blend; its ends must hold those that are not there."""
    for k in range(start, stop):
        j = features[k]
        slot, old, new = gram.slots[j], origin.slots[j], goal.slots[j]
        if slot >= 0:
            rows[k] = gram.rows[slot]
        else:
            blend(origin.rows[old], goal.rows[new], gram.shares, rows[k])


@njit(cache=True)
def blend(origin, goal, shares, row):
    """Write a row on the way from one to another; it may be the first of them."""
    row[:] = origin
    for share in shares:
        keep = 1.0 - share
        for i in range(row.size):
            row[i] = keep * row[i] + share * goal[i]


@njit(cache=True, nogil=True)
def raise_rows(start, stop, features, gram, action, rows):
    """Write the rows that some features have after one more action; all must be there."""
    old = gram.rows
    for k in range(start, stop):
        slot, weight = gram.slots[features[k]], action[features[k]]
        for i in range(action.size):
            rows[k, i] = old[slot, i] + weight * action[i]
