"""Sides of a slab of two bumps (docs/sampler.md section 4, Two bumps).

l    lean   scalar  slope that the upper bump adds and the lower one subtracts
     leans  (d,)    l or -l for each active feature, else zero
"""

import numpy as np
from numba import njit

from soids.kernels.truncated_normal import share_of


@njit(cache=True)
def draw_leans(theta, active, lean, uniforms):
    """Draw the bump of each active value given the value: what it adds to the slope."""
    leans = np.zeros(theta.size)
    if lean > 0.0:
        for a in range(active.size):
            upwards = uniforms[a] < share_of(2.0 * lean * theta[active[a]])
            leans[active[a]] = lean if upwards else -lean
    return leans


@njit(cache=True)
def draw_lean(done, i, uniform):
    """Draw the bump of a feature about to enter beside the eliminated ones, its value integrated
    out.
    """
    upwards = share_of(2.0 * done.lean * done.slopes[i] / done.precisions[i])
    return done.lean if uniform < upwards else -done.lean
