"""The parts of the log density: fit, optimism, slabs of two bumps, and what a ball must hold."""

import math

import numpy as np

from soids.arrays import Floats
from soids.kernels.categorical import highest, total, write_shares
from soids.kernels.compiler import njit
from soids.kernels.threads import by_rows


def fits(thetas, gram, moment, drift) -> tuple[Floats, Floats]:
    """``theta' gram theta - 2 moment' theta`` and ``drift' theta`` of every row, (M,) each."""
    count, d = thetas.shape
    squares, drifts = np.empty((2, count))
    by_rows(fit_rows, d, count, thetas, gram, moment, drift, squares, drifts)
    return squares, drifts


@njit(cache=True, nogil=True)
def fit_rows(start, stop, thetas, gram, moment, drift, squares, drifts):
    """Write the two forms of some rows."""
    slots, rows = gram.slots, gram.rows
    active, values = np.empty(moment.size, dtype=np.int64), np.empty(moment.size)
    for m in range(start, stop):
        n = 0
        for j in range(moment.size):  # without a branch, which would be mispredicted
            active[n], values[n] = j, thetas[m, j]
            n += thetas[m, j] != 0.0
        square, along = 0.0, 0.0
        for a in range(n):
            i = active[a]
            inner, row = -2.0 * moment[i], rows[slots[i]]
            for b in range(n):
                inner += row[active[b]] * values[b]
            square += values[a] * inner
            along += drift[i] * values[a]
        squares[m], drifts[m] = square, along


def optimism(rewards, starts, tilts) -> tuple[Floats, Floats]:
    """The tilted best rewards and the log-sum-exp that bounds them, (M,) each."""
    best, soft = np.zeros((2, len(rewards)))
    by_rows(optimism_rows, rewards.shape[1], len(rewards), rewards, starts, tilts, best, soft)
    return best, soft


@njit(cache=True, nogil=True)
def optimism_rows(start, stop, rewards, starts, tilts, best, soft):
    """Write the optimism of some rows."""
    shares = np.empty(rewards.shape[1])
    for m in range(start, stop):
        for menu in range(tilts.size):
            tilt = tilts[menu]
            if tilt == 0.0:
                continue
            row = rewards[m, starts[menu] : starts[menu + 1]]
            top = highest(row)
            write_shares(row, tilt, top, shares[: row.size])
            best[m] += tilt * top
            soft[m] += tilt * top + math.log(total(shares[: row.size]))


@njit(cache=True)
def sizes_and_lengths(thetas):
    """How many features each row includes, and its l1 norm, (M,) each."""
    sizes, lengths = np.empty(len(thetas), dtype=np.int64), np.empty(len(thetas))
    for m in range(len(thetas)):
        size, length = 0, 0.0
        for j in range(thetas.shape[1]):
            size += thetas[m, j] != 0.0
            length += abs(thetas[m, j])
        sizes[m], lengths[m] = size, length
    return sizes, lengths


@njit(cache=True)
def twins(thetas, lean):
    """The sum over a row's features of ``log(exp(lean * theta) + exp(-lean * theta))``, (M,)."""
    sums = np.zeros(len(thetas))
    for m in range(len(thetas)):
        for j in range(thetas.shape[1]):
            if thetas[m, j] != 0.0:  # a zero is no feature
                pull = abs(lean * thetas[m, j])
                sums[m] += pull + math.log1p(math.exp(-2.0 * pull))
    return sums
