"""The mirror image of all active values, in a Gaussian that the l1 ball cuts off.

Where the truth lies on the rim of the ball and optimism pulls outwards, the values are pressed
against a face of the ball: most fresh draws fall outside, and so does the plain reflection about
the centre. Their length, and where they lie among values of that length, are independent of each
other as long as no sign changes; each of the two has a mirror image of its own.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.cholesky import solve_back
from soids.kernels.truncated_normal import invert_mass, log_mass

SURE = 1e-12  # a smaller share of the mass is not told from none or all once it is inverted


@njit(cache=True)
def mirror(values, centre, factor, radius):
    """Reflect the values (n,), or keep them if any would change its sign.

    They are Gaussian about the centre (n,), with the Cholesky factor (n, n) of their precision, cut
    to the ball. The length trades places with the one that has as much mass above it as this one
    below; the rest is reflected about its mean. To do it twice is to do nothing, and both keep the
    density: so the move does. In tails too far out for rounding the values are kept.
    """
    n = values.size
    signs, way = np.sign(values), np.empty(n)  # the way: how the values answer to a longer length
    length, middle, spread = 0.0, 0.0, 0.0
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
    # Seen from the present length: masses of nearly equal size would drown it where noise is tiny.
    slope, precision = (middle - length) / spread, 1.0 / spread
    room = radius - length
    above = math.exp(
        log_mass(slope, precision, 0.0, room) - log_mass(slope, precision, -length, room)
    )
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
