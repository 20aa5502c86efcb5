"""A few features exchanged and all values redrawn (docs/sampler.md section 4, Exchange).

o_1, .., o_m  out                (m,)    features taken out, m at most EXCHANGED
f_1, .., f_m  entering           scalar  features put back, one after the other
v_i, x_i      done.precisions    (d,)    and done.slopes, beside the features that are left
log Z         weigh_candidates   scalar  of all candidates
"""

import math

import numpy as np
from numba import njit

from soids.kernels.categorical import pick
from soids.kernels.cholesky import (
    drop,
    is_pinned,
    join,
    solve_back,
    surely_pinned,
    without,
    write_marginals,
)
from soids.kernels.moves.candidates import is_replaced, weigh_candidates
from soids.kernels.moves.lean import draw_lean

EXCHANGED = 3  # features at once, at most


@njit(cache=True)
def exchange(particle, done, uniforms, sides, normals):
    """Take a few active coordinates out, put as many back and redraw all values.

    Candidates are weighed with all values integrated out, so a support that explains much-played
    actions as well as another can be reached although each single value is pinned. The first is
    drawn from its exact law given the rest; the others count by ``Z`` there over ``Z`` on the way
    back. What falls outside the ball is refused. ``done`` has eliminated the active features.
    """
    theta, precision = particle.theta, particle.precision
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
        join(done, rest + k - 1, out[k - 1], leans[k - 1], precision)
        if is_replaced(done, out[k]):
            return
        gained -= weigh_candidates(done, rest + k, masses)
    for k in range(count - 1, 0, -1):
        drop(done, rest + k, rest + k - 1)
    join(done, rest, entering, lean, precision)
    for k in range(1, count):
        gained += weigh_candidates(done, rest + k, masses)
        if gained == -math.inf:  # the data pin no other feature beside those
            return
        entering = pick(masses, uniforms[1 + EXCHANGED + k])
        join(done, rest + k, entering, draw_lean(done, entering, sides[k]), precision)
    if gained < 0.0 and uniforms[1 + 2 * EXCHANGED] >= math.exp(gained):
        return
    values = done.centre[:n] + normals[:n]
    solve_back(done.factor, n, values)
    new = np.zeros(theta.size)
    for a in range(n):
        new[done.active[a]] = values[a]
    if np.abs(values).sum() > particle.radius:
        return
    means, variances = np.empty(n), np.empty(n)
    write_marginals(done.inverse, done.centre, n, means, variances)
    sure = surely_pinned(done.active, done.diagonal, n, variances)
    if sure or is_pinned(new, precision):
        theta[:] = new
