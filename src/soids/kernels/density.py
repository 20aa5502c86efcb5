"""The parts of the log density that change with the evidence: fit and optimism."""

import math

import numpy as np
from numba import njit

from soids.arrays import Floats
from soids.kernels.draws import highest, write_shares
from soids.kernels.rows import by_rows


def fits(thetas, gram, moment, drift) -> tuple[Floats, Floats]:
    """``theta' gram theta - 2 moment' theta`` and ``drift' theta`` of every row, (M,) each."""
    squares = np.empty(thetas.shape[0])
    drifts = np.empty(thetas.shape[0])
    by_rows(fit_rows, thetas.shape[1], len(thetas), thetas, gram, moment, drift, squares, drifts)
    return squares, drifts


@njit(cache=True, nogil=True)
def fit_rows(start, stop, thetas, gram, moment, drift, squares, drifts):
    """Write the two forms of some rows."""
    slots, rows = gram.slots, gram.rows
    for m in range(start, stop):
        theta = thetas[m]
        active = np.flatnonzero(theta)
        square, along = 0.0, 0.0
        for i in active:
            inner, slot = -2.0 * moment[i], slots[i]
            for j in active:
                inner += rows[slot, j] * theta[j]
            square += theta[i] * inner
            along += drift[i] * theta[i]
        squares[m], drifts[m] = square, along


def optimism(rewards, starts, tilts) -> tuple[Floats, Floats]:
    """The tilted best rewards and the log-sum-exp that bounds them, (M,) each."""
    best = np.zeros(rewards.shape[0])
    soft = np.zeros(rewards.shape[0])
    by_rows(optimism_rows, rewards.shape[1], len(rewards), rewards, starts, tilts, best, soft)
    return best, soft


@njit(cache=True, nogil=True)
def optimism_rows(start, stop, rewards, starts, tilts, best, soft):
    """Write the two versions of some rows."""
    shares = np.empty(rewards.shape[1])
    for m in range(start, stop):
        for menu in range(tilts.size):
            tilt = tilts[menu]
            if tilt == 0.0:
                continue
            row = rewards[m, starts[menu] : starts[menu + 1]]
            top = highest(row)
            write_shares(row, tilt, top, shares[: row.size])
            total = shares[: row.size].sum()
            best[m] += tilt * top
            soft[m] += tilt * top + math.log(total)
