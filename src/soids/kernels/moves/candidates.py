"""Weights of the features that may enter beside eliminated ones (docs/sampler.md section 4,
Exchange), with ``v = done.precisions`` and ``x = done.slopes`` as in ``cholesky``.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.categorical import highest, total, write_shares
from soids.kernels.cholesky import PINNED


@njit(cache=True)
def is_replaced(done, i):
    """Whether the eliminated features all but replace another: the data do not pin it."""
    return done.precisions[i] <= PINNED * done.diagonal[i]


@njit(cache=True, error_model="numpy")  # so that no division by zero is looked for
def weigh_candidates(done, n, masses):
    """Write the mass ``exp(x^2 / 2 v) / sqrt(v)`` of each candidate, up to a common factor; returns
    the log of their sum.
    """
    scores, roots, lean = np.empty(masses.size), np.empty(masses.size), done.lean
    for i in range(masses.size):
        v, x = done.precisions[i], abs(done.slopes[i]) + lean  # the larger bump, if there are two
        pinned = v > PINNED * done.diagonal[i]
        v = v if pinned else 1.0
        scores[i] = 0.5 * x * x / v if pinned else -math.inf
        roots[i] = math.sqrt(v)
    for a in range(n):
        scores[done.active[a]] = -math.inf
    top = highest(scores)
    if top == -math.inf:
        return top
    write_shares(scores, 1.0, top, masses)
    for i in range(masses.size):
        masses[i] /= roots[i]
    if lean > 0.0:  # and the smaller one
        for i in range(masses.size):
            if masses[i] > 0.0:
                masses[i] *= 1.0 + math.exp(-2.0 * lean * abs(done.slopes[i]) / done.precisions[i])
    return top + math.log(total(masses))


@njit(cache=True)
def mark_candidates(done, n, masses):
    """Write one for each feature that the data pin beside the n eliminated ones, else zero."""
    for i in range(masses.size):
        masses[i] = 0.0 if is_replaced(done, i) else 1.0
    for a in range(n):
        masses[done.active[a]] = 0.0


@njit(cache=True)
def log_weight(done, i, lean):
    """The log mass of a feature with a given lean beside the eliminated ones."""
    x = done.slopes[i] + lean
    return 0.5 * (x * x / done.precisions[i] - math.log(done.precisions[i]))
