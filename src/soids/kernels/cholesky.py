"""A Cholesky factor of the active values' precision that grows and shrinks by one feature.

With the values of n active features integrated out of a Gaussian density, every other feature i has
a Gaussian density. Its precision and its slope do not depend on the values of the active features.

Notation (docs/sampler.md section 4)
    P    precision           (d, d)  of the parameter, given the arms
    S    active              (n,)    features whose value is not zero
    L    factor              (n, n)  lower triangular, L L' = P_SS
    h    slopes              (d,)    of the log density at zero
    v_i  precisions[i]               P_ii - P_iS P_SS^-1 P_Si
    x_i  slopes[i]                   h_i - P_iS P_SS^-1 h_S
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats, Ints
from soids.kernels.gram_rows import Rows, meet
from soids.kernels.rewards import support

# The data determine (pin) the value of a feature if it keeps more than this share of its precision
# given the others. Rounding errors grow by the inverse of the share.
PINNED = 1e-7


class Precision(NamedTuple):
    """The matrix ``P = power * gram + slab * I``."""

    power: float  # of the likelihood, over the noise variance
    gram: Rows
    slab: float  # precision of the slab


class Elimination(NamedTuple):
    """Active features eliminated one by one; the arrays have room for the largest support."""

    active: Ints  # (n,)  in the order of elimination
    factor: Floats  # (n, n)
    inverse: Floats  # (n, n)  of the factor, lower triangular as well
    shadow: Floats  # (n, d)  factor^-1 P_S
    centre: Floats  # (n,)  factor^-1 h_S
    diagonal: Floats  # (d,)  of P
    precisions: Floats  # (d,)  of each feature, with the active ones integrated out
    slopes: Floats  # (d,)  of each feature, with the active ones integrated out
    leans: Floats  # (d,)  lean or -lean, added to the slope of each active feature, else zero
    lean: float  # by how much the prior raises or lowers a slope
    pinned: bool  # whether the data pin the first features; if not, the other fields are invalid


@njit(cache=True, inline="always")  # so that the compiler knows that arrays share no memory
def precision_factor(active, precision):
    """The Cholesky factor of the active values' precision, and whether the data pin them."""
    n, power, slab, gram = active.size, precision.power, precision.slab, precision.gram
    diagonal, slots, rows = gram.diagonal, gram.slots, gram.rows
    factor = np.empty((n, n))
    for a, j in enumerate(active):
        slot = slots[j] if slots[j] >= 0 else meet(gram, j)
        for b in range(a + 1):
            total = power * rows[slot, active[b]]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            if a > b:
                factor[a, b] = total / factor[b, b]
            else:
                total += slab
                if total <= PINNED * (power * diagonal[j] + slab):
                    return factor, False
                factor[a, a] = math.sqrt(total)
    return factor, True


@njit(cache=True)
def is_pinned(theta, precision):
    """Whether the data pin every active value, and hence every subset of them; all moves decide by
    this order of elimination, as in another one rounding could leave a move no way back.
    """
    return precision_factor(support(theta), precision)[1]


@njit(cache=True)
def surely_pinned(active, diagonal, n, variances):
    """Whether the n eliminated features, whose values have these variances, are pinned in any order
    of elimination; else ``is_pinned`` decides.
    """
    sure = True
    for a in range(n):
        sure &= variances[a] * diagonal[active[a]] < 0.1 / PINNED  # rounding is far below 0.1
    return sure


@njit(cache=True)
def eliminate(theta, room, precision, slopes, leans, lean):
    """Eliminate the active features, if the data pin them."""
    d, power, gram, slab = theta.size, precision.power, precision.gram, precision.slab
    slots, rows, n, pinned = gram.slots, gram.rows, 0, True
    active, centre, shadow = np.empty(room, np.int64), np.empty(room), np.empty((room, d))
    factor, inverse = np.empty((room, room)), np.empty((room, room))
    diagonal, rest = power * gram.diagonal + slab, slopes + leans
    precisions = diagonal.copy()
    for j in range(d):
        if theta[j] != 0.0:
            if precisions[j] <= 10.0 * PINNED * diagonal[j]:  # near the limit one function decides
                pinned = is_pinned(theta, precision)
            if not pinned:
                break
            parts = active, factor, inverse, shadow, centre, precisions, rest
            append(parts, n, j, power, rows[slots[j] if slots[j] >= 0 else meet(gram, j)])
            n += 1
    return Elimination(
        active, factor, inverse, shadow, centre, diagonal, precisions, rest, leans.copy(), lean,
        pinned,
    )  # fmt: skip


@njit(cache=True)
def join(done, n, j, lean, precision):
    """Eliminate feature ``j``, whose slope the prior raises by the lean, after n others."""
    gram, slots = precision.gram, precision.gram.slots
    done.leans[j] = lean
    done.slopes[j] += lean
    active, factor, inverse, shadow, centre, _, precisions, slopes, _, _, _ = done
    parts = active, factor, inverse, shadow, centre, precisions, slopes
    append(parts, n, j, precision.power, gram.rows[slots[j] if slots[j] >= 0 else meet(gram, j)])


@njit(cache=True, inline="always")  # arrays made by the caller are known to share no memory
def append(parts, n, j, power, gram_row):
    """Eliminate feature ``j``, whose row of the gram is given, after n others."""
    active, factor, inverse, shadow, centre, precisions, slopes = parts
    root = math.sqrt(precisions[j])
    scale = 1.0 / root
    mean = slopes[j] * scale
    shares, row, undone = factor[n], shadow[n], inverse[n]
    for a in range(n):
        shares[a] = shadow[a, j]
        undone[a] = 0.0
        for b in range(a + 1):
            undone[b] -= scale * shares[a] * inverse[a, b]
    active[n], shares[n], undone[n], centre[n] = j, root, scale, mean
    for i in range(row.size):
        row[i] = scale * power * gram_row[i]
    subtract(row, shadow, shares, n, scale)
    for i in range(row.size):
        precisions[i] -= row[i] * row[i]
    for i in range(row.size):
        slopes[i] -= row[i] * mean


@njit(cache=True, inline="always")
def subtract(row, others, shares, n, scale):
    """Subtract ``scale * shares[a]`` times each of n others from a row; pairs save reading."""
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
    """Undo the elimination of the feature at one place of n; returns its lean.

    Without the feature's row, the factor has one entry too many in each row below, which Givens
    rotations of neighbouring columns remove. The inverse loses a column, and its rows turn alike.
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
            x, y = inverse[a, b], inverse[a + 1, b]
            inverse[a, b], inverse[a + 1, b] = turned(x, y, cosine, sine)
        centre[a], centre[a + 1] = turned(centre[a], centre[a + 1], cosine, sine)
        row, below = shadow[a], shadow[a + 1]
        for i in range(row.size):
            row[i], below[i] = turned(row[i], below[i], cosine, sine)
    row = shadow[n - 1]
    for i in range(row.size):
        done.precisions[i] += row[i] * row[i]
        done.slopes[i] += row[i] * centre[n - 1]
    lean = done.leans[j]
    done.slopes[j] -= lean
    done.leans[j] = 0.0
    return lean


@njit(cache=True, error_model="numpy")  # so that no division by zero is looked for
def without(done, n, place):
    """The elimination of all n features but one, cheaper than by ``drop``; only its precisions and
    slopes are valid.
    """
    others, precisions, slopes = done.active.copy(), done.precisions.copy(), done.slopes.copy()
    others[place : n - 1] = done.active[place + 1 : n]
    row, (mean, variance) = np.zeros(slopes.size), marginal(done, n, place)
    subtract(row, done.shadow[place:], done.inverse[place:, place], n - place, 1.0)
    for i in range(row.size):
        precisions[i] += row[i] * row[i] / variance
        slopes[i] -= row[i] * mean / variance
    slopes[done.active[place]] -= done.leans[done.active[place]]
    return Elimination(
        others, done.factor, done.inverse, done.shadow, done.centre, done.diagonal, precisions,
        slopes, done.leans, done.lean, done.pinned,
    )  # fmt: skip


@njit(cache=True, inline="always")
def turned(x, y, cosine, sine):
    """A point of the plane in rotated coordinates."""
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
