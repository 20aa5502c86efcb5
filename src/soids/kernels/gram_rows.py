"""Rows of the gram (the sum of a a' over all actions played), cached or summed when needed.

A move needs the diagonal, and the rows of the features that are active or about to enter. A row is
always summed in the order of play, so that it is the same to the last bit wherever it comes from.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats, Ints

PIECE = 1024  # entries of a row that are summed at once
TOGETHER = 64  # rows for which a piece of the actions is read once


class Rows(NamedTuple):
    """A gram for the moves, which write only to spare rows of their own.

    Row ``j`` is ``rows[slots[j]]``, or, if that slot is negative, ``rows[meet(gram, j)]``.
    """

    diagonal: Floats  # (d,)
    slots: Ints  # (d,)
    rows: Floats  # (m + n, d)  m rows in order, then others, and room for rows that moves add
    room: int  # where that room begins; before it is given, m
    owners: Ints  # (n,)  features whose rows were added, or -1
    met: Ints  # (1,)  how many were added
    actions: Floats  # (t, d)
    origin: Floats  # (t', d)  actions of the gram with which this one is blended
    shares: Floats  # (p,)  share of this gram in each step of the blend; none: this is no blend
    shared: int  # how many first actions both grams have: all of the other's, or none


def whole(matrix: Floats) -> Rows:
    """All rows of a gram, in order."""
    d, nothing = len(matrix), np.empty((0, len(matrix)))
    none, met = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    diagonal = np.diagonal(matrix).copy()
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
    """Sum a row that is not cached, in place of the row that was added first; returns its slot,
    which the next call may give to another row.
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
    """Add some actions to the row of one feature, in pieces that fit the nearest cache."""
    times = np.flatnonzero(actions[:, j])
    for first in range(0, row.size, PIECE):
        last = min(first + PIECE, row.size)
        add_to_piece(actions, times, actions[:, j][times], row, first, last)


@njit(cache=True)
def add_to_piece(actions, times, weights, row, first, last):
    """Add the weighted actions of some rounds to a piece of a row."""
    even = times.size - times.size % 4
    piece = row[first:last]  # a view, so that the sign of an index is not checked
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
    """The same gram with a share of the room, for the particles from start to stop of count."""
    size = gram.owners.size
    first, last = start * size // count, stop * size // count
    return Rows(
        gram.diagonal, gram.slots.copy(), gram.rows, gram.room + first, gram.owners[first:last],
        np.zeros(1, dtype=np.int64), gram.actions, gram.origin, gram.shares, gram.shared,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def fill_rows(start, stop, features, gram, rows):
    """Write the rows of some features of a gram that is no blend; those not cached are summed
    together, so that a piece of the actions is read once.
    """
    actions, missing, count = gram.actions, np.empty(stop - start, dtype=np.int64), 0
    for k in range(start, stop):
        slot = gram.slots[features[k]]
        if slot >= 0:
            rows[k] = gram.rows[slot]
        else:
            missing[count] = k
            count += 1
    room = (min(TOGETHER, count), len(actions))
    times, weights = np.empty(room, dtype=np.int64), np.empty(room)
    sizes = np.empty(TOGETHER, dtype=np.int64)
    for begin in range(0, count, TOGETHER):
        some = missing[begin : min(begin + TOGETHER, count)]
        for n in range(some.size):
            column = actions[:, features[some[n]]]
            rounds = np.flatnonzero(column)
            sizes[n] = rounds.size
            times[n, : rounds.size], weights[n, : rounds.size] = rounds, column[rounds]
        for first in range(0, rows.shape[1], PIECE):
            last = min(first + PIECE, rows.shape[1])
            for n in range(some.size):
                rounds, row = times[n, : sizes[n]], rows[some[n]]
                row[first:last] = 0.0
                add_to_piece(actions, rounds, weights[n, : sizes[n]], row, first, last)


@njit(cache=True, nogil=True)
def blend_rows(start, stop, features, gram, origin, goal, rows):
    """Write the rows of some features of a blend; both grams must hold those not cached in it."""
    for k in range(start, stop):
        j = features[k]
        if gram.slots[j] >= 0:
            rows[k] = gram.rows[gram.slots[j]]
        else:
            old, new = origin.rows[origin.slots[j]], goal.rows[goal.slots[j]]
            blend(old, new, gram.shares, rows[k])


@njit(cache=True)
def blend(origin, goal, shares, row):
    """Write a row between two others; it may be the first of them."""
    row[:] = origin
    for share in shares:
        for i in range(row.size):
            row[i] = (1.0 - share) * row[i] + share * goal[i]


@njit(cache=True, nogil=True)
def raise_rows(start, stop, features, gram, action, rows):
    """Write the rows that some features have after one more action; all must be cached."""
    for k in range(start, stop):
        old, weight = gram.rows[gram.slots[features[k]]], action[features[k]]
        for i in range(action.size):
            rows[k, i] = old[i] + weight * action[i]
