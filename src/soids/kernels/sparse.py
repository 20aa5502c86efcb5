"""One sweep of a cloud whose parameters have exact zeros: arm, flips, swap, block.

Notation
    thetas    (M, d)  the cloud, one row per particle rewards   (M, N)  thetas @ actions.T, where
    the N actions are those of all menus, one after the other columns   (d, N)  the same actions,
    feature by feature starts    (B + 1,)  where each menu begins;  tilts (B,)  how strongly its
    best reward is favoured powers    (M,)  likelihood power over noise variance radii     (M,)  the
    l1 ball that holds the parameter, possibly infinite field     (d,)  gradient of the log density
    at theta, prior left out log_odds  (s,)  log prior density ratio of growing a support of size k
    by one coordinate

Given one arm per menu the optimistic term is linear, so every move below draws from an exact
conditional (or proposes from one and keeps the old state outside the ball, which leaves the same
distribution invariant).
"""

import math

import numpy as np
from numba import njit

from soids.kernels.normal import invert_mass, log_mass
from soids.kernels.rows import by_rows

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
# A uniform above RARE can only meet a coordinate whose log odds exceed log(RARE): no logarithm
# needed to see it.
RARE = 0.05
LOG_RARE = math.log(RARE)


@njit(cache=True)
def draw_index(scores, uniform):
    """Draw an index from the softmax of scores."""
    masses = np.exp(scores - scores.max())
    target = uniform * masses.sum()
    index = 0
    reached = masses[0]
    while reached < target and index < masses.size - 1:
        index += 1
        reached += masses[index]
    return index


@njit(cache=True)
def draw_arms(rewards, starts, tilts, columns, uniforms, pull):
    """Draw one arm per menu from the softmax of its tilted rewards; write the sum of their pulls to
    ``pull``.
    """
    pull[:] = 0.0
    for menu in range(tilts.size):
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
        if tilt == 0.0:
            continue
        arm = draw_index(tilt * rewards[first:last], uniforms[menu])
        for j in range(pull.size):
            pull[j] += tilt * columns[j, first + arm]


@njit(cache=True)
def bump_bound(slope, precision, half_log, slack):
    """An upper bound on the log mass of a bump on ``[-slack, slack]``, within a factor of two or so."""
    fall = abs(slope) - precision * slack  # of the log density at the rim, if its peak lies outside
    if fall < 0.0:
        return 0.5 * slope * slope / precision + half_log
    rim = slack * (abs(slope) - 0.5 * precision * slack)
    return rim + min(half_log, math.log(2.0 * slack), -math.log(fall + 1e-300))


@njit(cache=True)
def flip(
    theta, field, power, radius, volume, gram, slab_precision, half_logs, log_odds, floor, uniforms
):
    """Redraw every coordinate in turn from its conditional: an atom at zero and a Gaussian cut to
    the ball.
    """
    d = theta.size
    length = np.abs(theta).sum()
    size = np.count_nonzero(theta)
    for j in range(d):
        old = theta[j]
        rest = size - (old != 0.0)
        if rest == log_odds.size:
            continue
        slack = radius - (length - abs(old))
        if slack <= 0.0:
            continue
        precision = power * gram[j, j]
        slope = field[j] + precision * old
        precision += slab_precision
        u = uniforms[j]
        odds = log_odds[rest] - volume
        share = 1.0
        if rest >= floor:
            if old == 0.0 and precision > 0.0:
                squeeze = odds + 0.5 * slope * slope / precision + half_logs[j]
                if squeeze < LOG_RARE and u > RARE:
                    continue
                if squeeze < math.log(u + 1e-300):
                    continue
            share = 1.0 / (1.0 + math.exp(-(odds + log_mass(slope, precision, -slack, slack))))
        new = invert_mass(slope, precision, -slack, slack, u / share) if u < share else 0.0
        if new != old:
            step = power * (new - old)
            for i in range(d):
                field[i] -= step * gram[j, i]
            theta[j] = new
            length += abs(new) - abs(old)
            size = rest + (new != 0.0)


@njit(cache=True)
def swap(theta, field, power, radius, gram, slab_precision, half_logs, uniforms):
    """Take one active coordinate out and put one back, chosen by how well each would explain what
    is left.
    """
    d = theta.size
    active = np.flatnonzero(theta)
    if active.size == 0:
        return
    out = active[min(int(uniforms[0] * active.size), active.size - 1)]
    old = theta[out]
    slack = radius - (np.abs(theta).sum() - abs(old))
    if slack <= 0.0:
        return
    for i in range(d):
        field[i] += power * old * gram[out, i]
    theta[out] = 0.0
    bounds = np.empty(d)
    for i in range(d):
        bounds[i] = -math.inf
        if theta[i] == 0.0:
            precision = power * gram[i, i] + slab_precision
            bounds[i] = bump_bound(field[i], precision, half_logs[i], slack)
    chosen = draw_index(bounds, uniforms[1])
    # The bounds proposed, the masses decide: an independence step whose ratio is mass over bound.
    precision_new = power * gram[chosen, chosen] + slab_precision
    excess = log_mass(field[chosen], precision_new, -slack, slack) - bounds[chosen]
    precision_old = power * gram[out, out] + slab_precision
    excess -= log_mass(field[out], precision_old, -slack, slack) - bounds[out]
    new = old
    if excess >= 0.0 or uniforms[2] < math.exp(excess):
        new = invert_mass(field[chosen], precision_new, -slack, slack, uniforms[3])
    else:
        chosen = out
    theta[chosen] = new
    for i in range(d):
        field[i] -= power * new * gram[chosen, i]


@njit(cache=True)
def cholesky(matrix):
    """Factor a symmetric matrix in place (lower triangle); false if it is not safely positive
    definite.
    """
    n = matrix.shape[0]
    for i in range(n):
        scale = matrix[i, i]
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = total / matrix[j, j]
            elif total <= 1e-12 * scale:
                return False
            else:
                matrix[i, i] = math.sqrt(total)
    return True


@njit(cache=True)
def exchange(theta, power, radius, gram, slab_precision, slopes, uniforms, normals):
    """Take one active coordinate out, put one back and redraw all values, from their joint law.

    Every candidate is weighed with all values integrated out, so a support that explains much played
    actions as well as another can be reached although each single value is pinned. What falls
    outside the ball is not accepted.
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
    factor = np.empty((n, n))
    shadow = np.empty((n, d))  # factor^-1 times the precision between kept and candidate
    centre = np.empty(n)
    for a in range(n):
        for b in range(a + 1):
            factor[a, b] = power * gram[kept[a], kept[b]]
        factor[a, a] += slab_precision
    if not cholesky(factor):
        return
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
    """The last ``y`` on one side at which ``|y| + sum |values + (y - start) * direction|`` fits the ball.

    The norm is convex and piecewise linear in ``y``: Newton from outside the ball stops at the rim.
    """
    y = side * radius
    for _ in range(values.size + 2):
        length, rise = abs(y), side
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
    factor = np.empty((n, n))
    for a in range(n):
        for b in range(n):
            factor[a, b] = power * gram[active[a], active[b]]
        factor[a, a] += slab_precision
    if not cholesky(factor):
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

    With ``way`` the answer of the others to a unit of the new coordinate, ``others + way * value`` is
    kept fixed instead of ``others``; along that line the conditional is again an atom and one
    Gaussian cut to the ball. Where much played actions pin each value, this is how to move.
    """
    d = theta.size
    active = np.flatnonzero(theta)
    covariance = inverse_precision(active, power, gram, slab_precision)
    way = np.empty(log_odds.size + 1)
    values = np.empty(log_odds.size + 1)
    for j in range(d):
        n = active.size
        if covariance.shape[0] < n or n == 0:
            return
        old = theta[j]
        own = -1
        if old == 0.0:
            if n == log_odds.size:
                continue
            precision = power * gram[j, j] + slab_precision
            least = 1e-9 * precision
            slope = field[j]
            for a in range(n):
                way[a] = 0.0
                for b in range(n):
                    way[a] -= covariance[a, b] * power * gram[active[b], j]
                precision += power * gram[active[a], j] * way[a]
                slope += way[a] * (field[active[a]] - slab_precision * theta[active[a]])
            if precision <= least:
                continue
        else:
            for a in range(n):
                if active[a] == j:
                    own = a
            precision = 1.0 / covariance[own, own]
            slope = precision * old
            for a in range(n):
                way[a] = covariance[a, own] * precision
                slope += way[a] * (field[active[a]] - slab_precision * theta[active[a]])
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
def block(theta, field, power, radius, gram, slab_precision, active, normals):
    """Redraw all active coordinates at once from their joint Gaussian; keep the old ones if it left
    the ball.
    """
    n = active.size
    if n == 0 or n > normals.size:
        return
    factor = np.empty((n, n))
    draw = np.empty(n)
    for a in range(n):
        i = active[a]
        draw[a] = field[i]
        for b in range(n):
            j = active[b]
            draw[a] += power * gram[i, j] * theta[j]
            factor[a, b] = power * gram[i, j]
        factor[a, a] += slab_precision
    if not cholesky(factor):
        return
    for a in range(n):
        for b in range(a):
            draw[a] -= factor[a, b] * draw[b]
        draw[a] /= factor[a, a]
    length = 0.0
    for a in range(n - 1, -1, -1):
        draw[a] += normals[a]
        for b in range(a + 1, n):
            draw[a] -= factor[b, a] * draw[b]
        draw[a] /= factor[a, a]
        length += abs(draw[a])
    if radius < math.inf and length + np.abs(theta).sum() - np.abs(theta[active]).sum() > radius:
        return
    for a in range(n):
        j = active[a]
        step = power * (draw[a] - theta[j])
        theta[j] = draw[a]
        for i in range(theta.size):
            field[i] -= step * gram[j, i]


@njit(cache=True)
def fields(theta, power, gram, moment, drift, pull):
    """The gradient of the log density at theta, prior left out and arms given."""
    field = power * moment - drift + pull
    for j in range(theta.size):
        if theta[j] != 0.0:
            for i in range(theta.size):
                field[i] -= power * theta[j] * gram[j, i]
    return field


@njit(cache=True)
def rate_actions(theta, columns, rewards):
    """Write the rewards of all actions under theta, at a cost that counts only its support."""
    rewards[:] = 0.0
    for j in range(theta.size):
        if theta[j] != 0.0:
            for n in range(rewards.size):
                rewards[n] += theta[j] * columns[j, n]


def all_rewards(thetas, columns):
    """The rewards of all actions under all parameters, (M, N)."""
    rewards = np.empty((thetas.shape[0], columns.shape[1]))
    by_rows(reward_rows, columns.shape[1], len(thetas), thetas, columns, rewards)
    return rewards


@njit(cache=True, nogil=True)
def reward_rows(start, stop, thetas, columns, rewards):
    """Write the rewards under some parameters."""
    for m in range(start, stop):
        rate_actions(thetas[m], columns, rewards[m])


def sweep(
    thetas, rewards, radii, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, floor, slab_precision, uniform_in_ball,
    flip_uniforms, glide_uniforms, arm_uniforms, swap_uniforms, block_normals,
):  # fmt: skip
    """The cloud after one arm, flip, swap and block move of every particle, and its rewards."""
    thetas, rewards = thetas.copy(), rewards.copy()
    # The smallest precision has the largest bump, so one table bounds all particles.
    least = powers.min() * np.diag(gram) + slab_precision
    half_logs = HALF_LOG_2PI - 0.5 * np.log(np.maximum(least, 1e-300))
    by_rows(
        sweep_rows, sum(columns.shape), len(thetas), thetas, rewards, radii, powers, gram, moment,
        drift, columns, starts, tilts, log_odds, floor, slab_precision, uniform_in_ball, half_logs,
        flip_uniforms, glide_uniforms, arm_uniforms, swap_uniforms, block_normals,
    )  # fmt: skip
    return thetas, rewards


@njit(cache=True, nogil=True)
def sweep_rows(
    start, stop, thetas, rewards, radii, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, floor, slab_precision, uniform_in_ball, half_logs,
    flip_uniforms, glide_uniforms, arm_uniforms, swap_uniforms, block_normals,
):  # fmt: skip
    """Move some particles."""
    for m in range(start, stop):
        theta, power, radius = thetas[m], powers[m], radii[m]
        volume = math.log(2.0 * radius) if uniform_in_ball else 0.0
        pull = np.empty(theta.size)
        draw_arms(rewards[m], starts, tilts, columns, arm_uniforms[m], pull)
        field = fields(theta, power, gram, moment, drift, pull)
        flip(
            theta, field, power, radius, volume, gram, slab_precision, half_logs,
            log_odds, floor, flip_uniforms[m],
        )  # fmt: skip
        swap(theta, field, power, radius, gram, slab_precision, half_logs, swap_uniforms[m])
        glide(
            theta, field, power, radius, volume, gram, slab_precision, log_odds, floor,
            glide_uniforms[m],
        )  # fmt: skip
        slopes = power * moment - drift + pull
        exchange(
            theta,
            power,
            radius,
            gram,
            slab_precision,
            slopes,
            swap_uniforms[m, 4:],
            block_normals[m],
        )
        rate_actions(theta, columns, rewards[m])
