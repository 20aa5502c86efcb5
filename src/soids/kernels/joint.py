"""Moves of several coordinates at once, for data that pin every single value.

A policy that plays one action again and again knows its reward to many digits, so no feature can
enter or leave unless the others make up for it. Notation as in ``sparse``.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.draws import draw_index
from soids.kernels.normal import invert_mass, log_mass

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# A uniform above RARE can only meet a coordinate whose log odds exceed log(RARE): no logarithm
# needed to see it.
RARE = 0.05
LOG_RARE = math.log(RARE)


@njit(cache=True)
def precision_factor(active, power, gram, slab_precision):
    """The Cholesky factor of the active values' precision, and whether there is one."""
    n = active.size
    factor = np.empty((n, n))
    for a in range(n):
        for b in range(a + 1):
            total = power * gram[active[a], active[b]]
            for c in range(b):
                total -= factor[a, c] * factor[b, c]
            if a > b:
                factor[a, b] = total / factor[b, b]
            else:
                total += slab_precision
                if total <= 1e-9 * (power * gram[active[a], active[a]] + slab_precision):
                    return factor, False
                factor[a, a] = math.sqrt(total)
    return factor, True


@njit(cache=True)
def rearm(
    theta, power, radius, gram, slab_precision, slopes, columns, first, last, arm, tilt,
    uniform, normals,
):  # fmt: skip
    """Redraw the arm of one menu and all active values together; keep the old outside the ball.

    With the values integrated out, an arm is as likely as the best fit that its pull allows,
    however far from the present values. Slopes leave this menu's pull out. Returns the arm.
    """
    active = np.flatnonzero(theta)
    n = active.size
    if n == 0 or n > normals.size:
        return arm
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if not pinned:
        return arm
    whitened = np.empty((n, last - first))  # factor^-1 times the slopes that each arm leads to
    scores = np.zeros(last - first)
    for a in range(n):
        for k in range(last - first):
            whitened[a, k] = slopes[active[a]] + tilt * columns[active[a], first + k]
        for b in range(a):
            for k in range(last - first):
                whitened[a, k] -= factor[a, b] * whitened[b, k]
        for k in range(last - first):
            whitened[a, k] /= factor[a, a]
            scores[k] += 0.5 * whitened[a, k] * whitened[a, k]
    chosen = draw_index(scores, uniform)
    values = np.empty(n)
    length = 0.0
    for a in range(n - 1, -1, -1):
        values[a] = whitened[a, chosen] + normals[a]
        for b in range(a + 1, n):
            values[a] -= factor[b, a] * values[b]
        values[a] /= factor[a, a]
        length += abs(values[a])
    if length > radius:
        return arm
    theta[active] = values
    return first + chosen


@njit(cache=True)
def exchange(theta, power, radius, gram, slab_precision, slopes, uniforms, normals):
    """Take one active coordinate out, put one back and redraw all values, from their joint law.

    Every candidate is weighed with all values integrated out, so a support that explains much
    played actions as well as another can be reached although each single value is pinned. What
    falls outside the ball is not accepted.
    """
    d = theta.size
    active = np.flatnonzero(theta)
    n = active.size - 1
    if n < 0 or n >= normals.size:
        return
    out = min(int(uniforms[0] * active.size), n)
    kept = np.empty(n, dtype=np.int64)
    for a in range(n):
        kept[a] = active[a + (a >= out)]
    factor, pinned = precision_factor(kept, power, gram, slab_precision)
    if not pinned:
        return
    shadow = np.empty((n, d))  # factor^-1 times the precision between kept and candidate
    centre = np.empty(n)
    spread = power * np.diag(gram) + slab_precision
    excess = slopes.copy()
    least = 1e-12 * spread
    for a in range(n):
        centre[a] = slopes[kept[a]]
        for i in range(d):
            shadow[a, i] = power * gram[kept[a], i]
        for b in range(a):
            centre[a] -= factor[a, b] * centre[b]
            for i in range(d):
                shadow[a, i] -= factor[a, b] * shadow[b, i]
        centre[a] /= factor[a, a]
        for i in range(d):
            shadow[a, i] /= factor[a, a]
            spread[i] -= shadow[a, i] * shadow[a, i]
            excess[i] -= shadow[a, i] * centre[a]
    scores = np.empty(d)
    for i in range(d):
        free = theta[i] == 0.0 or i == active[out]
        scores[i] = -math.inf
        if free and spread[i] > least[i]:
            scores[i] = 0.5 * (excess[i] * excess[i] / spread[i] - math.log(spread[i]))
    if scores[active[out]] == -math.inf:
        return
    chosen = draw_index(scores, uniforms[1])
    value = excess[chosen] / spread[chosen] + normals[n] / math.sqrt(spread[chosen])
    length = abs(value)
    for a in range(n - 1, -1, -1):
        centre[a] += normals[a] - shadow[a, chosen] * value
        for b in range(a + 1, n):
            centre[a] -= factor[b, a] * centre[b]
        centre[a] /= factor[a, a]
        length += abs(centre[a])
    if length > radius:
        return
    theta[active[out]] = 0.0
    theta[chosen] = value
    for a in range(n):
        theta[kept[a]] = centre[a]


@njit(cache=True)
def farthest(values, direction, start, radius, side):
    """The last ``y`` on one side with ``|y| + sum |values + (y - start) * direction| <= radius``.

    The norm is convex and piecewise linear in ``y``: Newton from outside the ball stops at the rim.
    """
    y = side * radius
    for _ in range(values.size + 2):
        length, rise = abs(y), 1.0 if y > 0.0 else -1.0
        for a in range(values.size):
            value = values[a] + (y - start) * direction[a]
            length += abs(value)
            rise += direction[a] if value > 0.0 else -direction[a]
        if length <= radius or rise * side <= 0.0:
            break
        y -= (length - radius) / rise
    return y


@njit(cache=True)
def inverse_precision(active, power, gram, slab_precision):
    """The covariance of the active values given the others; empty if the data do not pin them."""
    n = active.size
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if not pinned:
        return np.empty((0, 0))
    covariance = np.empty((n, n))
    column = np.empty(n)
    for c in range(n):
        for a in range(n):
            column[a] = 1.0 if a == c else 0.0
            for b in range(a):
                column[a] -= factor[a, b] * column[b]
            column[a] /= factor[a, a]
        for a in range(n - 1, -1, -1):
            for b in range(a + 1, n):
                column[a] -= factor[b, a] * column[b]
            column[a] /= factor[a, a]
        covariance[:, c] = column
    return covariance


@njit(cache=True)
def glide(theta, field, power, radius, volume, gram, slab_precision, log_odds, floor, uniforms):
    """Flip every coordinate in turn while the other active ones give way, so that the fit is kept.

    With ``way`` the answer of the others to a unit of the new coordinate, ``others - way * value``
    is kept fixed instead of ``others``; along that line the conditional is again an atom and one
    Gaussian cut to the ball. Where much played actions pin each value, this is how to move.
    """
    d = theta.size
    active = np.flatnonzero(theta)
    covariance = inverse_precision(active, power, gram, slab_precision)
    way = np.empty(log_odds.size + 1)
    values = np.empty(log_odds.size + 1)
    for j in range(d):
        n = active.size
        if covariance.shape[0] < n:
            return
        old = theta[j]
        own = -1
        if old == 0.0:
            if n == log_odds.size:
                continue
            precision = power * gram[j, j] + slab_precision
            slope = field[j]
            for a in range(n):
                way[a] = 0.0
                for b in range(n):
                    way[a] -= covariance[a, b] * power * gram[active[b], j]
                precision += power * gram[active[a], j] * way[a]
                slope += way[a] * (field[active[a]] - slab_precision * theta[active[a]])
        else:
            for a in range(n):
                if active[a] == j:
                    own = a
            precision = 1.0 / covariance[own, own]
            slope = precision * old
            for a in range(n):
                way[a] = covariance[a, own] * precision
                slope += way[a] * (field[active[a]] - slab_precision * theta[active[a]])
        # A feature that the others all but replace may neither enter nor leave this way.
        if precision <= 1e-9 * (power * gram[j, j] + slab_precision):
            continue
        rest = n - (own >= 0)
        odds = log_odds[rest] - volume
        u = uniforms[j]
        if own < 0:
            squeeze = (
                odds + 0.5 * slope * slope / precision + HALF_LOG_2PI - 0.5 * math.log(precision)
            )
            if squeeze < LOG_RARE and u > RARE:
                continue
        for a in range(n):
            values[a] = theta[active[a]]
        if own >= 0:
            values[own], way[own] = 0.0, 0.0
        low, high = -math.inf, math.inf
        if radius < math.inf:
            low = farthest(values[:n], way[:n], old, radius, -1.0)
            high = farthest(values[:n], way[:n], old, radius, 1.0)
            low, high = min(low, old), max(high, old)  # on the rim, rounding may shut the state out
        if not low < high:
            continue
        share = 1.0
        if rest >= floor and low <= 0.0 <= high:
            mass = log_mass(slope, precision, low, high)
            share = 1.0 / (1.0 + math.exp(-(odds + mass)))
        new = invert_mass(slope, precision, low, high, u / share) if u < share else 0.0
        if new == old:
            continue
        theta[j] = new
        for i in range(d):
            field[i] -= power * (new - old) * gram[j, i]
        for a in range(n):
            if a != own:
                step = (new - old) * way[a]
                theta[active[a]] += step
                for i in range(d):
                    field[i] -= power * step * gram[active[a], i]
        if (new == 0.0) != (old == 0.0):
            active = np.flatnonzero(theta)
            covariance = inverse_precision(active, power, gram, slab_precision)


@njit(cache=True)
def block(theta, field, power, gram, slab_precision, active, normals):
    """Redraw all active coordinates at once from their joint Gaussian."""
    n = active.size
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if not pinned:
        return
    draw = np.empty(n)
    for a in range(n):
        i = active[a]
        draw[a] = field[i]
        for b in range(n):
            draw[a] += power * gram[i, active[b]] * theta[active[b]]
    for a in range(n):
        for b in range(a):
            draw[a] -= factor[a, b] * draw[b]
        draw[a] /= factor[a, a]
    for a in range(n - 1, -1, -1):
        draw[a] += normals[a]
        for b in range(a + 1, n):
            draw[a] -= factor[b, a] * draw[b]
        draw[a] /= factor[a, a]
    for a in range(n):
        j = active[a]
        step = power * (draw[a] - theta[j])
        theta[j] = draw[a]
        for i in range(theta.size):
            field[i] -= step * gram[j, i]
