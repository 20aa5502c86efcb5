"""Exchange: up to three features at once, and all values redrawn (docs/sampler.md section 4).

o_1, .., o_m  out                (m,)    features taken out, m at most EXCHANGED
f_1, .., f_m  entering           scalar  features put back, one after the other
v_i, x_i      done.precisions    (d,)    and done.slopes, beside the features that are left
log Z         candidates.weigh   scalar  of all candidates
"""

import math

import numpy as np

from soids.kernels import cholesky
from soids.kernels.categorical import pick
from soids.kernels.compiler import njit
from soids.kernels.moves import candidates
from soids.kernels.rewards import support
from soids.kernels.vectors import l1_norm, overwrite, put

EXCHANGED = 3  # features at once, at most


@njit(cache=True, inline="always")
def exchange(particle, done, uniforms, sides, normals):
    """Take a few active coordinates out, put as many back and redraw all values.

    Candidates are weighed with all values integrated out. ``done`` has eliminated the active
    features. A result outside the ball is refused.
    """
    theta, precision, own_odds = particle.theta, particle.precision, particle.own_odds
    n = support(theta).size
    if n == 0:
        return
    count = min(1 + int(uniforms[0] ** 2 * EXCHANGED), n)  # mostly one: that is cheapest
    masses, gained = np.empty(theta.size), 0.0
    if count == 1:  # mostly the same feature enters again, which is found out cheaply
        place = min(int(uniforms[1] * n), n - 1)
        left = cholesky.without(done, n, place)
        if candidates.is_replaced(left, done.active[place]):  # there would be no way back
            return
        candidates.weigh(left, n - 1, masses, own_odds)
        if pick(masses, uniforms[1 + EXCHANGED]) == done.active[place]:
            return
    rest, out, leans = n - count, np.empty(count, dtype=np.int64), np.empty(count)
    for k in range(count):
        place = min(int(uniforms[1 + k] * (n - k)), n - k - 1)
        out[k] = done.active[place]
        leans[k] = cholesky.drop(done, n - k, place)
    if candidates.is_replaced(done, out[0]):
        return
    candidates.weigh(done, rest, masses, own_odds)
    entering = pick(masses, uniforms[1 + EXCHANGED])
    lean = candidates.draw_lean(done, entering, sides[0])
    for k in range(1, count):  # the way back
        cholesky.join(done, rest + k - 1, out[k - 1], leans[k - 1], precision)
        if candidates.is_replaced(done, out[k]):
            return
        gained -= candidates.weigh(done, rest + k, masses, own_odds)
    for k in range(count - 1, 0, -1):
        cholesky.drop(done, rest + k, rest + k - 1)
    cholesky.join(done, rest, entering, lean, precision)
    for k in range(1, count):
        gained += candidates.weigh(done, rest + k, masses, own_odds)
        if gained == -math.inf:  # the data pin no other feature beside those
            return
        entering = pick(masses, uniforms[1 + EXCHANGED + k])
        lean = candidates.draw_lean(done, entering, sides[k])
        cholesky.join(done, rest + k, entering, lean, precision)
    if gained < 0.0 and uniforms[1 + 2 * EXCHANGED] >= math.exp(gained):
        return
    values, new = done.centre[:n] + normals[:n], np.zeros(theta.size)
    cholesky.solve_back(done.factor, n, values)
    put(new, done.active[:n], values)
    if l1_norm(values) > particle.radius:
        return
    means, variances = np.empty((2, n))
    cholesky.write_marginals(done.inverse, done.centre, n, means, variances)
    sure = cholesky.surely_pinned(done.active, done.diagonal, n, variances)
    if sure or cholesky.is_pinned(new, precision):
        overwrite(theta, new)
