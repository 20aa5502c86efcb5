"""The active values integrated out one after the other: a Cholesky factor that grows and shrinks.

With the values of n active features eliminated from a Gaussian density, what is left is a Gaussian
density of every other feature i, of precision ``spread[i]`` and slope ``excess[i]``. Neither
depends on the values that the active features have at the moment.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats, Ints
from soids.kernels.gram import meet

# A feature that the others replace up to this share of its precision is not pinned by the data.
# Rounding grows by the inverse of the share, so that what is left must stay far below it.
PINNED = 1e-7


class Elimination(NamedTuple):
    """Room for as many active features as a support may have, the first n of them in use."""

    active: Ints  # (n,)  in the order of elimination
    factor: Floats  # (n, n)  lower Cholesky factor of their precision
    inverse: Floats  # (n, n)  of the factor, lower triangular as well
    shadow: Floats  # (n, d)  factor^-1 times the precision between active and all features
    centre: Floats  # (n,)  factor^-1 times the slopes of the active
    whole: Floats  # (d,)  precision of each feature before any was eliminated
    spread: Floats  # (d,)  and with the active ones eliminated
    excess: Floats  # (d,)  slope of each feature, with the active ones eliminated
    leans: Floats  # (d,)  what the prior adds to the slope of each active feature, else zero
    lean: float  # how much that is, up or down
    pinned: bool  # whether the data pin the features it began with; if not, nothing else holds


@njit(cache=True)
def support(theta):
    """The features whose value is not zero, found without a branch that nobody can foresee."""
    active, n = np.empty(theta.size, dtype=np.int64), 0
    for j in range(theta.size):
        active[n] = j
        n += theta[j] != 0.0
    return active[:n]


@njit(cache=True, inline="always")  # so that loops over the factor are known to share no memory
def precision_factor(active, power, gram, slab_precision):
    """The Cholesky factor of the active values' precision, and whether there is one."""
    n, diagonal, slots, rows = active.size, gram.diagonal, gram.slots, gram.rows
    factor = np.empty((n, n))
    for a in range(n):
        j = active[a]
        slot = slots[j] if slots[j] >= 0 else meet(gram, j)
        for b in range(a + 1):
            total = power * rows[slot, active[b]]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            if a > b:
                factor[a, b] = total / factor[b, b]
            else:
                total += slab_precision
                if total <= PINNED * (power * diagonal[active[a]] + slab_precision):
                    return factor, False
                factor[a, a] = math.sqrt(total)
    return factor, True


@njit(cache=True)
def is_pinned(theta, power, gram, slab_precision):
    """Whether the data pin every active value.

    If so, they do with fewer features. Joint moves stay among such supports, and decide here, not
    by the pivots of another order: else there would be ways in without a way out.
    """
    return precision_factor(support(theta), power, gram, slab_precision)[1]


@njit(cache=True)
def surely_pinned(active, whole, n, variances):
    """Whether the n eliminated features, whose values have these variances, must be pinned.

    Whatever the order, a feature is left the more of its precision the fewer come before it: if
    enough is left beside all others, it is pinned. No answer is no answer: ask ``is_pinned``.
    """
    sure = True
    for a in range(n):  # rounding is far below that
        sure &= variances[a] * whole[active[a]] < 0.1 / PINNED
    return sure


@njit(cache=True)
def eliminate(theta, room, power, gram, slab_precision, slopes, leans, lean):
    """Eliminate the active features, if the data pin them."""
    d, diagonal, slots, rows = theta.size, gram.diagonal, gram.slots, gram.rows
    active, centre, shadow = np.empty(room, np.int64), np.empty(room), np.empty((room, d))
    factor, inverse = np.empty((room, room)), np.empty((room, room))
    whole, spread, excess = np.empty(d), np.empty(d), np.empty(d)
    for i in range(d):
        whole[i] = power * diagonal[i] + slab_precision
        spread[i], excess[i] = whole[i], slopes[i] + leans[i]
    n, pinned = 0, True
    for j in range(d):
        if theta[j] != 0.0:
            if spread[j] <= 10.0 * PINNED * whole[j]:  # near the limit one function decides for all
                pinned = is_pinned(theta, power, gram, slab_precision)
                if not pinned:
                    break
            source = rows[slots[j] if slots[j] >= 0 else meet(gram, j)]
            append(active, factor, inverse, shadow, centre, spread, excess, n, j, power, source)
            n += 1
    leans = leans.copy()
    return Elimination(
        active, factor, inverse, shadow, centre, whole, spread, excess, leans, lean, pinned
    )


@njit(cache=True)
def join(done, n, j, lean, power, gram):
    """Eliminate feature ``j``, which leans so much, after n others."""
    slots = gram.slots
    done.leans[j] = lean
    done.excess[j] += lean
    source = gram.rows[slots[j] if slots[j] >= 0 else meet(gram, j)]
    append(
        done.active, done.factor, done.inverse, done.shadow, done.centre, done.spread, done.excess,
        n, j, power, source,
    )  # fmt: skip


@njit(cache=True, inline="always")  # arrays made where it is used are known to share no memory
def append(active, factor, inverse, shadow, centre, spread, excess, n, j, power, source):
    """Eliminate feature ``j``, whose row of the gram is the source, after n others."""
    root = math.sqrt(spread[j])
    scale = 1.0 / root
    mean = excess[j] * scale
    shares, row, undone = factor[n], shadow[n], inverse[n]
    for a in range(n):
        shares[a] = shadow[a, j]
        undone[a] = 0.0
        for b in range(a + 1):
            undone[b] -= scale * shares[a] * inverse[a, b]
    active[n], shares[n], undone[n], centre[n] = j, root, scale, mean
    for i in range(row.size):
        row[i] = scale * power * source[i]
    subtract(row, shadow, shares, n, scale)
    for i in range(row.size):
        spread[i] -= row[i] * row[i]
    for i in range(row.size):
        excess[i] -= row[i] * mean


@njit(cache=True, inline="always")
def subtract(row, others, shares, n, scale):
    """Take ``scale * shares[a]`` times each of the first n others off a row, two at a time: what a
    row costs is to be read and written.
    """
    for a in range(0, n - 1, 2):
        first, second = scale * shares[a], scale * shares[a + 1]
        one, two = others[a], others[a + 1]
        for i in range(row.size):
            row[i] -= first * one[i] + second * two[i]
    if n % 2 == 1:
        first, one = scale * shares[n - 1], others[n - 1]
        for i in range(row.size):
            row[i] -= first * one[i]


@njit(cache=True)
def drop(done, n, place):
    """Bring back the feature at one place of n, as if it had been eliminated last, and return how
    much it leant.

    Without its row the factor has one entry too many in each row below: rotations of neighbouring
    columns take them out, and leave what the feature alone had eliminated in the last one. The
    inverse loses a column, and its rows turn the same way.
    """
    active, factor, inverse = done.active, done.factor, done.inverse
    shadow, centre, j = done.shadow, done.centre, active[place]
    for a in range(place, n):
        for b in range(place, a):
            inverse[a, b] = inverse[a, b + 1]
        inverse[a, a] = 0.0
    for a in range(place, n - 1):
        active[a] = active[a + 1]
        for b in range(a + 2):
            factor[a, b] = factor[a + 1, b]
    for a in range(place, n - 1):
        root = math.hypot(factor[a, a], factor[a, a + 1])
        cosine, sine = factor[a, a] / root, factor[a, a + 1] / root
        factor[a, a] = root
        for b in range(a + 1, n - 1):
            factor[b, a], factor[b, a + 1] = turned(factor[b, a], factor[b, a + 1], cosine, sine)
        for b in range(a + 1):
            inverse[a, b], inverse[a + 1, b] = turned(
                inverse[a, b], inverse[a + 1, b], cosine, sine
            )
        centre[a], centre[a + 1] = turned(centre[a], centre[a + 1], cosine, sine)
        row, below = shadow[a], shadow[a + 1]
        for i in range(row.size):
            row[i], below[i] = turned(row[i], below[i], cosine, sine)
    row = shadow[n - 1]
    for i in range(row.size):
        done.spread[i] += row[i] * row[i]
        done.excess[i] += row[i] * centre[n - 1]
    lean = done.leans[j]
    done.excess[j] -= lean
    done.leans[j] = 0.0
    return lean


@njit(cache=True, error_model="numpy")  # so that no division by zero is looked for
def without(done, n, place):
    """The elimination of n features but one, for its spread and excess alone.

    Cheaper than to drop the feature: its column of the covariance tells what it has eliminated.
    """
    others, spread, excess = done.active.copy(), done.spread.copy(), done.excess.copy()
    others[place : n - 1] = done.active[place + 1 : n]
    row, (mean, variance) = np.zeros(spread.size), marginal(done, n, place)
    subtract(row, done.shadow[place:], done.inverse[place:, place], n - place, 1.0)
    for i in range(row.size):
        spread[i] += row[i] * row[i] / variance
        excess[i] -= row[i] * mean / variance
    excess[done.active[place]] -= done.leans[done.active[place]]
    return Elimination(
        others, done.factor, done.inverse, done.shadow, done.centre, done.whole, spread, excess,
        done.leans, done.lean, done.pinned,
    )  # fmt: skip


@njit(cache=True, inline="always")
def turned(x, y, cosine, sine):
    """A point of the plane, seen from axes that are turned."""
    return cosine * x + sine * y, cosine * y - sine * x


@njit(cache=True)
def solve_forward(factor, n, vector):
    """Overwrite the first n entries of a vector with ``factor^-1`` times them."""
    for a in range(n):
        for b in range(a):
            vector[a] -= factor[a, b] * vector[b]
        vector[a] /= factor[a, a]


@njit(cache=True)
def solve_back(factor, n, vector):
    """Overwrite the first n entries of a vector with ``factor^-T`` times them."""
    for a in range(n - 1, -1, -1):
        for b in range(a + 1, n):
            vector[a] -= factor[b, a] * vector[b]
        vector[a] /= factor[a, a]


@njit(cache=True)
def marginal(done, n, place):
    """Mean and variance of the value of the feature at one place of n."""
    mean, variance = 0.0, 0.0
    for a in range(place, n):
        mean += done.inverse[a, place] * done.centre[a]
        variance += done.inverse[a, place] * done.inverse[a, place]
    return mean, variance


@njit(cache=True)
def write_marginals(inverse, centre, n, means, variances):
    """Write mean and variance of each of the n values."""
    means[:n], variances[:n] = 0.0, 0.0
    for a in range(n):
        for b in range(a + 1):
            means[b] += inverse[a, b] * centre[a]
            variances[b] += inverse[a, b] * inverse[a, b]
