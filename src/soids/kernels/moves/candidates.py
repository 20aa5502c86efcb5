"""Features that may enter: weights and sides (docs/sampler.md section 4, Exchange and Two bumps).

v_i   done.precisions  (d,)    precision of each feature, with the active values integrated out
x_i   done.slopes      (d,)    its slope at zero
e^s   masses           (d,)    exp(x_i^2 / 2 v_i + own odds) / sqrt(v_i)
l     lean             scalar  slope that the upper bump adds and the lower one subtracts
      leans            (d,)    l or -l for each active feature, else zero
"""

import math

import numpy as np

from soids.kernels.categorical import highest, total, write_shares
from soids.kernels.cholesky import PINNED
from soids.kernels.compiler import njit
from soids.kernels.truncated_normal import share_of


@njit(cache=True)
def is_replaced(done, i):
    """Whether the eliminated features nearly replace this one, so that the data do not pin it."""
    return done.precisions[i] <= PINNED * done.diagonal[i]


@njit(cache=True, error_model="numpy")  # without checks for a division by zero
def weigh(done, n, masses, own_odds):
    """Write the mass of each candidate, up to a common factor; returns the log of their sum."""
    scores, roots, lean = np.empty(masses.size), np.empty(masses.size), done.lean
    for i in range(masses.size):
        v, x = done.precisions[i], abs(done.slopes[i]) + lean  # the larger bump, if there are two
        pinned = v > PINNED * done.diagonal[i]
        v = v if pinned else 1.0
        scores[i] = 0.5 * x * x / v + own_odds[i] if pinned else -math.inf
        roots[i] = math.sqrt(v)
    for a in range(n):
        scores[done.active[a]] = -math.inf
    top = highest(scores)
    if top == -math.inf:
        return top
    write_shares(scores, 1.0, top, masses)
    for i in range(masses.size):
        masses[i] /= roots[i]
    if lean > 0.0:  # and the smaller one
        for i in range(masses.size):
            if masses[i] > 0.0:
                masses[i] *= 1.0 + math.exp(-2.0 * lean * abs(done.slopes[i]) / done.precisions[i])
    return top + math.log(total(masses))


@njit(cache=True)
def mark(done, n, masses):
    """Write one for each feature that the data pin beside the n eliminated ones, else zero."""
    for i in range(masses.size):
        masses[i] = 0.0 if is_replaced(done, i) else 1.0
    for a in range(n):
        masses[done.active[a]] = 0.0


@njit(cache=True)
def log_weight(done, i, lean):
    """The log mass of a feature with a given lean beside the eliminated ones."""
    x = done.slopes[i] + lean
    return 0.5 * (x * x / done.precisions[i] - math.log(done.precisions[i]))


@njit(cache=True)
def draw_lean(done, i, uniform):
    """Draw the side of a feature about to enter, with its value integrated out."""
    upwards = share_of(2.0 * done.lean * done.slopes[i] / done.precisions[i])
    return done.lean if uniform < upwards else -done.lean


@njit(cache=True)
def draw_leans(theta, active, lean, uniforms):
    """Draw the side of each active value given the value: what it adds to the slope."""
    leans = np.zeros(theta.size)
    if lean > 0.0:
        for a in range(active.size):
            upwards = uniforms[a] < share_of(2.0 * lean * theta[active[a]])
            leans[active[a]] = lean if upwards else -lean
    return leans
