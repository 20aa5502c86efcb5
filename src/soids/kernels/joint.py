"""Moves of several coordinates at once, for data that pin every single value.

A policy that plays one action again and again knows its reward to many digits, so no feature can
enter or leave unless the others make up for it. Notation as in ``sparse``.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.draws import draw_index, highest, pick, total, write_shares
from soids.kernels.elimination import (
    PINNED,
    drop,
    is_pinned,
    join,
    solve_back,
    subtract,
    surely_pinned,
    without,
    write_marginals,
)
from soids.kernels.mirror import mirror
from soids.kernels.normal import share_of

EXCHANGED = 3  # features at once, at most
ANGLES = 7  # tried on an ellipse, at most
MIRRORED = 0.75  # of the states: copies of one particle part, and most errors cancel still


@njit(cache=True)
def weigh_arms(active, factor, slopes, columns, first, last, tilt):
    """The log weights (K,) of the arms of one menu, all active values integrated out, and the
    whitened slopes (n, K) that each leads to, ``factor^-1`` times them.

    With the values integrated out, an arm is as likely as the best fit that its pull allows,
    however far from the present values. Slopes leave this menu's pull out; without a pull there is
    but one arm. The factor is that of the values' precision.
    """
    n, count = active.size, last - first if tilt > 0.0 else 1
    whitened = np.empty((n, count))
    scores = np.zeros(count)
    for a in range(n):
        row, inverse = whitened[a], 1.0 / factor[a, a]
        row[:] = inverse * slopes[active[a]]
        if tilt > 0.0:
            column, pull = columns[active[a], first:last], inverse * tilt
            for k in range(count):
                row[k] += pull * column[k]
        subtract(row, whitened, factor[a], a, inverse)
        for k in range(count):
            scores[k] += 0.5 * row[k] * row[k]
    return scores, whitened


@njit(cache=True)
def rearm(theta, active, factor, radius, scores, whitened, arm, uniform, normals, turning, others):
    """Redraw the arm of one menu and all active values together, or else the values in the ball.

    Scores and whitened slopes are those of ``weigh_arms``, the arm counts within its menu. Returns
    the arm.
    """
    n = active.size
    chosen = draw_index(scores, uniform)
    values = whitened[:, chosen] + normals[:n]
    solve_back(factor, n, values)
    if np.abs(values).sum() <= radius:
        theta[active] = values
        return chosen
    # Whether a draw falls outside does not depend on the present state: other moves may follow.
    centre = whitened[:, arm].copy()
    solve_back(factor, n, centre)
    stay_inside(theta, active, factor, centre, radius, turning, others)
    return arm


@njit(cache=True)
def redraw(theta, active, factor, whitened, radius, normals, turning, others):
    """Redraw all active values, given the arms: anew, or else in the ball.

    The whitened slopes are ``factor^-1`` times those of the active features.
    """
    n = active.size
    values = whitened[:n] + normals[:n]
    solve_back(factor, n, values)
    if np.abs(values).sum() <= radius:
        theta[active] = values
        return
    centre = whitened[:n].copy()
    solve_back(factor, n, centre)
    stay_inside(theta, active, factor, centre, radius, turning, others)


@njit(cache=True)
def stay_inside(theta, active, factor, centre, radius, turning, others):
    """Move the active values, Gaussian about their centre, within the ball."""
    values, others = theta[active], others[: active.size].copy()
    solve_back(factor, active.size, others)
    turn(values, centre, others, radius, turning[:ANGLES])
    if turning[ANGLES] < MIRRORED:
        mirror(values, centre, factor, radius)
    theta[active] = values


@njit(cache=True)
def reflect(theta, active, factor, whitened, radius):
    """Mirror all active values, given the arms; whitened slopes as in ``redraw``."""
    values, centre = theta[active], whitened[: active.size].copy()
    solve_back(factor, active.size, centre)
    mirror(values, centre, factor, radius)
    theta[active] = values


@njit(cache=True)
def turn(values, centre, others, radius, uniforms):
    """Move along an ellipse through the values and other draws, to where it lies in the ball.

    Elliptical slice sampling (Murray, Adams, MacKay 2010): angles are tried nearer and nearer to
    the present values, which are kept when the uniforms are used up.
    """
    new = np.empty(values.size)
    angle = 2.0 * math.pi * uniforms[0]
    low, high = angle - 2.0 * math.pi, angle
    for k in range(uniforms.size):
        if k > 0:
            angle = low + (high - low) * uniforms[k]
        cosine, sine, length = math.cos(angle), math.sin(angle), 0.0
        for a in range(values.size):
            new[a] = centre[a] + cosine * (values[a] - centre[a]) + sine * others[a]
            length += abs(new[a])
        if length <= radius:
            values[:] = new
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle


@njit(cache=True)
def exchange(theta, done, power, radius, gram, slab_precision, uniforms, sides, normals):
    """Take a few active coordinates out, put as many back and redraw all values.

    Every candidate is weighed with all values integrated out, so a support that explains much
    played actions as well as another can be reached although each single value is pinned; and
    several at once, although each single feature needs the others. The first is drawn from its
    exact law given the rest; for the others, a step counts by what all candidates weigh together
    after it, over the same on the way back. What falls outside the ball is not accepted. ``done``
    has eliminated the active features.
    """
    n = int(np.count_nonzero(theta))
    if n == 0:
        return
    count = min(1 + int(uniforms[0] ** 2 * EXCHANGED), n)  # mostly one: that is cheapest
    masses, gained = np.empty(theta.size), 0.0
    if count == 1:  # mostly a feature takes its own place, and that is soon seen
        place = min(int(uniforms[1] * n), n - 1)
        left = without(done, n, place)
        if is_replaced(left, done.active[place]):  # there would be no way back
            return
        weigh_candidates(left, n - 1, masses)
        if pick(masses, uniforms[1 + EXCHANGED]) == done.active[place]:
            return
    rest, out, leans = n - count, np.empty(count, dtype=np.int64), np.empty(count)
    for k in range(count):
        place = min(int(uniforms[1 + k] * (n - k)), n - k - 1)
        out[k] = done.active[place]
        leans[k] = drop(done, n - k, place)
    if is_replaced(done, out[0]):
        return
    weigh_candidates(done, rest, masses)
    entering = pick(masses, uniforms[1 + EXCHANGED])
    lean = draw_lean(done, entering, sides[0])
    for k in range(1, count):  # the way back
        join(done, rest + k - 1, out[k - 1], leans[k - 1], power, gram)
        if is_replaced(done, out[k]):
            return
        gained -= weigh_candidates(done, rest + k, masses)
    for k in range(count - 1, 0, -1):
        drop(done, rest + k, rest + k - 1)
    join(done, rest, entering, lean, power, gram)
    for k in range(1, count):
        gained += weigh_candidates(done, rest + k, masses)
        if gained == -math.inf:  # the data pin no other feature beside those
            return
        entering = pick(masses, uniforms[1 + EXCHANGED + k])
        join(done, rest + k, entering, draw_lean(done, entering, sides[k]), power, gram)
    if gained < 0.0 and uniforms[1 + 2 * EXCHANGED] >= math.exp(gained):
        return
    values = done.centre[:n] + normals[:n]
    solve_back(done.factor, n, values)
    new = np.zeros(theta.size)
    for a in range(n):
        new[done.active[a]] = values[a]
    if np.abs(values).sum() > radius:
        return
    means, variances = np.empty(n), np.empty(n)
    write_marginals(done.inverse, done.centre, n, means, variances)
    if surely_pinned(done.active, done.whole, n, variances) or is_pinned(
        new, power, gram, slab_precision
    ):
        theta[:] = new


@njit(cache=True)
def is_replaced(done, i):
    """Whether the eliminated features all but replace another."""
    return done.spread[i] <= PINNED * done.whole[i]


@njit(cache=True, error_model="numpy")  # so that no division by zero is looked for
def weigh_candidates(done, n, masses):
    """Write the mass of each feature that the data pin beside the n eliminated, up to a factor.

    Returns the log of all masses together. Roots in place of logarithms, several at once.
    """
    scores, roots, lean = np.empty(masses.size), np.empty(masses.size), done.lean
    for i in range(masses.size):
        spread, excess = done.spread[i], abs(done.excess[i]) + lean  # the larger bump, if two
        pinned = spread > PINNED * done.whole[i]
        spread = spread if pinned else 1.0
        scores[i] = 0.5 * excess * excess / spread if pinned else -math.inf
        roots[i] = math.sqrt(spread)
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
                masses[i] *= 1.0 + math.exp(-2.0 * lean * abs(done.excess[i]) / done.spread[i])
    return top + math.log(total(masses))


@njit(cache=True)
def draw_lean(done, i, uniform):
    """To which side a feature leans that is to enter beside the eliminated ones, its value
    integrated out.
    """
    upwards = share_of(2.0 * done.lean * done.excess[i] / done.spread[i])
    return done.lean if uniform < upwards else -done.lean
