"""The referee's sweep: Gibbs moves on the optimistic posterior itself, its maximum left as it is.

Notation as in ``sweep``, for one set of K actions with one tilt; ``included`` (M, d) says which
coordinates are drawn from the slab, and ``log_odds`` ends at the largest support allowed. Along one
coordinate the rewards are K lines, so the best of them is a *roof*, straight between its kinks, and
the conditional is a mixture of Gaussian bumps cut at the kinks. A mixture is kept as a table with
one row per bump: log mass, slope, precision, low end, high end.
"""

import math

import numpy as np
from numba import njit

from soids.arrays import Bools, Floats
from soids.kernels.moves.flip import fields
from soids.kernels.rewards import write_rewards
from soids.kernels.threads import by_rows
from soids.kernels.truncated_normal import invert_mass, log_mass


@njit(cache=True)
def highest_lines(heights, slopes, order):
    """The lines that are highest somewhere: heights at zero, slopes, kinks between them.

    ``order`` sorts the slopes; line i of the roof reaches from ``kinks[i]`` to ``kinks[i + 1]``.
    """
    highest = np.empty(order.size, np.int64)
    kinks = np.empty(order.size + 1)
    count = 0
    for k in order:
        start = -math.inf
        while count > 0:
            last = highest[count - 1]
            rise = slopes[k] - slopes[last]
            lead = heights[last] - heights[k]
            # Of two parallel lines the higher one hides the other everywhere.
            start = lead / rise if rise > 0.0 else math.copysign(math.inf, lead)
            if start > kinks[count - 1]:
                break
            count -= 1
        if start < math.inf:
            highest[count] = k
            kinks[count] = start if count > 0 else -math.inf
            count += 1
    kinks[count] = math.inf
    highest = highest[:count]
    return heights[highest], slopes[highest], kinks[: count + 1]


@njit(cache=True)
def bumps(roof, tilt, slope, precision, low, high, odds):
    """The bumps of ``exp(odds + slope x - precision x^2 / 2 + tilt roof(x))`` on an interval."""
    heights, slopes, kinks = roof
    table = np.empty((heights.size, 5))
    for i in range(heights.size):
        left, right = max(low, kinks[i]), min(high, kinks[i + 1])
        steepness = slope + tilt * slopes[i]
        mass = -math.inf
        if left < right:
            mass = odds + tilt * heights[i] + log_mass(steepness, precision, left, right)
        table[i, 0], table[i, 1], table[i, 2] = mass, steepness, precision
        table[i, 3], table[i, 4] = left, right
    return table


@njit(cache=True)
def drawn(table, u):
    """The row of a mixture and the point in it that a uniform falls on, rows laid end to end."""
    reached = np.cumsum(np.exp(table[:, 0] - table[:, 0].max()))
    goal = u * reached[-1]
    row = np.searchsorted(reached, goal, side="right")
    before = reached[row - 1] if row > 0 else 0.0
    share = min((goal - before) / (reached[row] - before), 1.0)
    slope, precision, low, high = table[row, 1], table[row, 2], table[row, 3], table[row, 4]
    if low == high:  # an atom
        return row, low
    return row, invert_mass(slope, precision, low, high, share)


@njit(cache=True)
def redraw(
    theta, label, rewards, field, power, radius, volume, gram, columns, order, tilt,
    log_odds, floor, slab_precision, spike_scale, uniforms,
):  # fmt: skip
    """Redraw every coordinate in turn from its conditional: slab and spike, or slab and atom."""
    length = np.abs(theta).sum()
    size = np.count_nonzero(label)
    for j in range(theta.size):
        old = theta[j]
        rest = size - label[j]
        slack = radius - (length - abs(old))
        if slack <= 0.0:
            continue
        heights = rewards - old * columns[j]
        roof = highest_lines(heights, columns[j], order[j])
        precision = power * gram.diagonal[j]
        slope = field[j] + precision * old
        odds = log_odds[rest] - volume if rest < log_odds.size else -math.inf
        slab = bumps(roof, tilt, slope, precision + slab_precision, -slack, slack, odds)
        if spike_scale > 0.0:
            fall = 1.0 / spike_scale
            left = bumps(roof, tilt, slope + fall, precision, -math.inf, 0.0, 0.0)
            right = bumps(roof, tilt, slope - fall, precision, 0.0, math.inf, 0.0)
            spike = np.concatenate((left, right))
        else:
            spike = np.zeros((1, 5))
            spike[0, 0] = tilt * heights.max() if rest >= floor else -math.inf
        row, new = drawn(np.concatenate((slab, spike)), uniforms[j])
        label[j] = row < slab.shape[0]
        size = rest + label[j]
        theta[j] = new
        length += abs(new) - abs(old)
        rewards += (new - old) * columns[j]
        field -= power * (new - old) * gram.rows[gram.slots[j]]


@njit(cache=True)
def swap(
    theta, label, rewards, field, power, radius, gram, columns, order, tilt,
    slab_precision, uniforms,
):  # fmt: skip
    """Take one active coordinate out and redraw its index and value among all that are free.

    The last move of a sweep: rewards and field are left as they are without that coordinate.
    """
    active = np.flatnonzero(label)
    if active.size == 0:
        return
    out = active[int(uniforms[0] * active.size)]
    slack = radius - (np.abs(theta).sum() - abs(theta[out]))
    if slack <= 0.0:
        return
    rewards -= theta[out] * columns[out]
    field += power * theta[out] * gram.rows[gram.slots[out]]
    theta[out], label[out] = 0.0, False
    d, actions = columns.shape
    table = np.full((d * actions, 5), -math.inf)
    for j in range(d):
        if not label[j]:
            roof = highest_lines(rewards, columns[j], order[j])
            precision = power * gram.diagonal[j] + slab_precision
            mixture = bumps(roof, tilt, field[j], precision, -slack, slack, 0.0)
            table[j * actions : j * actions + mixture.shape[0]] = mixture
    row, new = drawn(table, uniforms[1])
    taken = row // actions
    theta[taken], label[taken] = new, True


def sweep(
    thetas, included, radii, powers, gram, moment, drift, columns, tilt,
    log_odds, floor, slab_precision, spike_scale, uniform_in_ball,
    coordinate_uniforms, swap_uniforms,
) -> tuple[Floats, Bools]:  # fmt: skip
    """The particles after one pass over the coordinates and, with exact zeros, one swap."""
    thetas, included = thetas.copy(), included.copy()
    by_rows(
        sweep_rows, columns.size, len(thetas), thetas, included, radii, powers, gram,
        moment, drift, columns, np.argsort(columns, axis=1), tilt, log_odds, floor,
        slab_precision, spike_scale, uniform_in_ball, coordinate_uniforms, swap_uniforms,
    )  # fmt: skip
    return thetas, included


@njit(cache=True, nogil=True)
def sweep_rows(
    start, stop, thetas, included, radii, powers, gram, moment, drift, columns, order, tilt,
    log_odds, floor, slab_precision, spike_scale, uniform_in_ball,
    coordinate_uniforms, swap_uniforms,
):  # fmt: skip
    """Move some particles."""
    rewards = np.empty(columns.shape[1])
    for m in range(start, stop):
        theta, label, power, radius = thetas[m], included[m], powers[m], radii[m]
        volume = math.log(2.0 * radius) if uniform_in_ball else 0.0
        write_rewards(theta, columns, rewards)
        field = fields(theta, power, gram, power * moment - drift)
        redraw(
            theta, label, rewards, field, power, radius, volume, gram, columns, order, tilt,
            log_odds, floor, slab_precision, spike_scale, coordinate_uniforms[m],
        )  # fmt: skip
        if spike_scale == 0.0:
            swap(
                theta, label, rewards, field, power, radius, gram, columns, order, tilt,
                slab_precision, swap_uniforms[m],
            )  # fmt: skip
