"""Moves of several coordinates at once, for data that pin every single value.

A policy that plays one action again and again knows its reward to many digits, so no feature can
enter or leave unless the others make up for it. Notation as in ``sparse``.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.draws import draw_index
from soids.kernels.elimination import (
    PINNED,
    drop,
    is_pinned,
    join,
    precision_factor,
    solve_back,
    solve_unit,
    support,
    surely_pinned,
)
from soids.kernels.normal import FAR, invert_mass, log_mass

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# A uniform above RARE can only meet a coordinate whose log odds exceed log(RARE): no logarithm
# needed to see it.
RARE = 0.05
LOG_RARE = math.log(RARE)


@njit(cache=True)
def rearm(
    theta, power, radius, gram, slab_precision, slopes, columns, first, last, arm, tilt,
    uniform, normals,
):  # fmt: skip
    """Redraw the arm of one menu and all active values together; keep the old outside the ball.

    With the values integrated out, an arm is as likely as the best fit that its pull allows,
    however far from the present values. Slopes leave this menu's pull out. Returns the arm.
    """
    active = support(theta)
    n = active.size
    if n == 0:
        return arm
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if not pinned:
        return arm
    whitened = np.empty((n, last - first))  # factor^-1 times the slopes that each arm leads to
    scores = np.zeros(last - first)
    for a in range(n):
        row, column = whitened[a], columns[active[a], first:last]
        slope, inverse = slopes[active[a]], 1.0 / factor[a, a]
        for k in range(row.size):
            row[k] = slope + tilt * column[k]
        for b in range(a):
            share, other = factor[a, b], whitened[b]
            for k in range(row.size):
                row[k] -= share * other[k]
        for k in range(row.size):
            row[k] *= inverse
            scores[k] += 0.5 * row[k] * row[k]
    chosen = draw_index(scores, uniform)
    values = whitened[:, chosen] + normals[:n]
    solve_back(factor, n, values)
    if np.abs(values).sum() > radius:
        return arm
    theta[active] = values
    return first + chosen


@njit(cache=True)
def exchange(theta, done, power, radius, gram, slab_precision, uniforms, normals):
    """Take one active coordinate out, put one back and redraw all values, from their joint law.

    Every candidate is weighed with all values integrated out, so a support that explains much
    played actions as well as another can be reached although each single value is pinned. What
    falls outside the ball is not accepted. ``done`` has eliminated the active features.
    """
    n = np.count_nonzero(theta)
    if n == 0:
        return
    place = min(int(uniforms[0] * n), n - 1)
    out = done.active[place]
    drop(done, n, place)
    scores = np.empty(theta.size)
    for i in range(theta.size):
        scores[i] = -math.inf
        spread = done.spread[i]
        if (theta[i] == 0.0 or i == out) and spread > PINNED * done.whole[i]:
            scores[i] = 0.5 * (done.excess[i] * done.excess[i] / spread - math.log(spread))
    if scores[out] == -math.inf:  # there would be no way back
        return
    join(done, n - 1, draw_index(scores, uniforms[1]), power, gram)
    values = done.centre[:n] + normals[:n]
    solve_back(done.factor, n, values)
    new = np.zeros(theta.size)
    for a in range(n):
        new[done.active[a]] = values[a]
    inside = np.abs(values).sum() <= radius
    if inside and (surely_pinned(done, n, 1.0) or is_pinned(new, power, gram, slab_precision)):
        theta[:] = new


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
def holds_bump(values, direction, start, radius, slope, precision):
    """Whether the ball holds zero and all of the bump that counts, so that it cuts nothing off."""
    reach = math.sqrt(FAR / precision)
    for y in (0.0, slope / precision - reach, slope / precision + reach):
        length = abs(y)
        for a in range(values.size):
            length += abs(values[a] + (y - start) * direction[a])
        if length > radius:
            return False
    return True


@njit(cache=True)
def glide(theta, done, power, radius, volume, gram, slab_precision, log_odds, floor, uniforms):
    """Flip every coordinate in turn while the other active ones give way, so that the fit is kept.

    With ``way`` the answer of the others to a unit of the new coordinate, ``others - way * value``
    is kept fixed instead of ``others``; along that line the conditional is again an atom and one
    Gaussian cut to the ball. Where much played actions pin each value, this is how to move.
    ``done`` has eliminated the active features, and does so again when they change.
    """
    n = np.count_nonzero(theta)
    way = np.empty(log_odds.size)
    values = np.empty(log_odds.size)
    for j in range(theta.size):
        old, u = theta[j], uniforms[j]
        own = -1
        if old == 0.0:
            precision, slope = done.spread[j], done.excess[j]
            # A feature that the others all but replace may neither enter nor leave this way.
            if n == log_odds.size or precision <= PINNED * done.whole[j]:
                continue
            squeeze = log_odds[n] - volume + 0.5 * slope * slope / precision + HALF_LOG_2PI
            squeeze -= 0.5 * math.log(precision)
            if (squeeze < LOG_RARE and u > RARE) or squeeze < math.log(u + 1e-300):
                continue
            for a in range(n):
                way[a] = -done.shadow[a, j]
            solve_back(done.factor, n, way)
        else:
            while own < 0 or done.active[own] != j:
                own += 1
            mean = solve_unit(done.factor, n, own, way, done.centre)
            precision = 1.0 / way[own]
            if precision <= PINNED * done.whole[j]:
                continue
            slope = precision * mean
            for a in range(n):
                way[a] *= precision
        rest = n - (own >= 0)
        for a in range(n):
            values[a] = theta[done.active[a]]
        if own >= 0:
            values[own], way[own] = 0.0, 0.0
        low, high = -math.inf, math.inf
        if radius < math.inf and not holds_bump(values[:n], way[:n], old, radius, slope, precision):
            low = farthest(values[:n], way[:n], old, radius, -1.0)
            high = farthest(values[:n], way[:n], old, radius, 1.0)
            low, high = min(low, old), max(high, old)  # on the rim, rounding may shut the state out
        if not low < high:
            continue
        share = 1.0
        if rest >= floor and low <= 0.0 <= high:
            mass = log_mass(slope, precision, low, high)
            share = 1.0 / (1.0 + math.exp(-(log_odds[rest] - volume + mass)))
        if u < share and old != 0.0 and share < 1.0:
            continue  # it stays; values are drawn anew by other moves, all at once
        new = invert_mass(slope, precision, low, high, u / share) if u < share else 0.0
        theta[j] = new
        enters = old == 0.0 and new != 0.0
        if enters and not (
            surely_pinned(done, n, done.spread[j] / done.whole[j])
            or is_pinned(theta, power, gram, slab_precision)
        ):
            theta[j] = 0.0
            continue
        for a in range(n):
            if a != own:
                theta[done.active[a]] += (new - old) * way[a]
        if enters:
            join(done, n, j, power, gram)
            n += 1
        elif old != 0.0 and new == 0.0:
            drop(done, n, own)
            n -= 1


@njit(cache=True)
def block(theta, field, power, gram, slab_precision, active, normals):
    """Redraw all active coordinates, whose rows must be there, from their joint Gaussian."""
    n, slots, rows = active.size, gram.slots, gram.rows
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if not pinned:
        return
    draw = np.empty(n)
    for a in range(n):
        i = active[a]
        draw[a] = field[i]
        for b in range(n):
            draw[a] += power * rows[slots[i], active[b]] * theta[active[b]]
    for a in range(n):
        for b in range(a):
            draw[a] -= factor[a, b] * draw[b]
        draw[a] /= factor[a, a]
    draw += normals[:n]
    solve_back(factor, n, draw)
    for a in range(n):
        j = active[a]
        step = power * (draw[a] - theta[j])
        theta[j] = draw[a]
        for i in range(theta.size):
            field[i] -= step * rows[slots[j], i]
