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
from numba import njit, prange

from soids.kernels.normal import invert_mass, log_mass

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
    """An upper bound on the log mass of a bump on ``[-slack, slack]``: that of the whole line, or
    of its rim.
    """
    line = 0.5 * slope * slope / precision + half_log if precision > 0.0 else math.inf
    return min(line, abs(slope) * slack + math.log(2.0 * slack)) if slack < math.inf else line


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


@njit(cache=True, parallel=True)
def all_rewards(thetas, columns):
    """The rewards of all actions under all parameters, (M, N)."""
    rewards = np.empty((thetas.shape[0], columns.shape[1]))
    for m in prange(thetas.shape[0]):
        rate_actions(thetas[m], columns, rewards[m])
    return rewards


@njit(cache=True, parallel=True)
def sweep(
    thetas, rewards, radii, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, floor, slab_precision, uniform_in_ball,
    flip_uniforms, arm_uniforms, swap_uniforms, block_normals,
):  # fmt: skip
    """The cloud after one arm, flip, swap and block move of every particle, and its rewards."""
    thetas, rewards = thetas.copy(), rewards.copy()
    floor_precision = powers.min() * np.diag(gram) + slab_precision
    # The smallest precision has the largest bump, so one table bounds all particles.
    half_logs = HALF_LOG_2PI - 0.5 * np.log(np.maximum(floor_precision, 1e-300))
    for m in prange(thetas.shape[0]):
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
        slopes = power * moment - drift + pull
        exchange(
            theta, power, radius, gram, slab_precision, slopes, swap_uniforms[m, 4:], block_normals[m]
        )
        rate_actions(theta, columns, rewards[m])
    return thetas, rewards
