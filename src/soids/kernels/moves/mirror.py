"""Mirror: all active values reflected in a Gaussian cut to the ball (docs/sampler.md section 4).

sigma       signs      (n,)    of the values
mu          centre     (n,)    mean of the values without the ball
v           way        (n,)    P_SS^-1 sigma, how the values change with their length
c           length     scalar  l1 norm of the values
sigma' mu   middle     scalar  mean of the length, without the ball
sigma' v    spread     scalar  its variance
F(c)        1 - above  scalar  share of the mass below the length, on [0, R]
"""

import math

import numpy as np
from numba import njit

from soids.kernels.cholesky import solve_back
from soids.kernels.truncated_normal import invert_mass, log_mass

SURE = 1e-12  # smallest share of the mass that can be inverted in spite of rounding


@njit(cache=True)
def mirror(values, centre, factor, radius):
    """Reflect the values (n,), or keep them if any would change its sign.

    The factor (n, n) is that of their precision. The length's image has as much mass above as the
    length has below; the rest is reflected about its mean. In far tails the values are kept.
    """
    n, length, middle, spread = values.size, 0.0, 0.0, 0.0
    signs, way = np.sign(values), np.empty(n)
    for a in range(n):
        length += abs(values[a])
        middle += signs[a] * centre[a]
        way[a] = signs[a]
        for b in range(a):
            way[a] -= factor[a, b] * way[b]
        way[a] /= factor[a, a]
        spread += way[a] * way[a]
    if n == 0 or length >= radius:
        return
    solve_back(factor, n, way)
    # Relative to the present length, or rounding would be too large where the noise is tiny.
    slope, precision = (middle - length) / spread, 1.0 / spread
    room = radius - length
    whole = log_mass(slope, precision, -length, room)
    above = math.exp(log_mass(slope, precision, 0.0, room) - whole)
    if not SURE < above < 1.0 - SURE:
        return
    image = length + invert_mass(slope, precision, -length, room, above)
    step = (image + length - 2.0 * middle) / spread
    reflected, reached, turned = np.empty(n), 0.0, False
    for a in range(n):
        reflected[a] = 2.0 * centre[a] - values[a] + step * way[a]
        reached += abs(reflected[a])
        turned |= not reflected[a] * signs[a] > 0.0
    if reached <= radius and not turned:
        values[:] = reflected
