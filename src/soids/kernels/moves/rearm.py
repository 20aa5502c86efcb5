"""Rearm: arm and values redrawn together; redraw: values alone (docs/sampler.md section 4).

h_k         slopes, and tilt times action k  (d,)    of the log density at zero, under arm k
L           factor                           (n, n)  L L' = P_SS
L^-1 h_k    whitened[:, k]                   (n, K)
log weight  scores                           (K,)    h_k' P_SS^-1 h_k / 2
R           radius                           scalar
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats, Ints
from soids.kernels.categorical import draw_index
from soids.kernels.cholesky import solve_back, subtract
from soids.kernels.moves.mirror import mirror

ANGLES = 7  # on the ellipse, at most
MIRRORED = 0.75  # probability of a mirror image: below one, so that copies of a particle separate


class ValuesByArm(NamedTuple):
    """The Gaussian law of the active values under each arm of one action set."""

    active: Ints  # (n,)
    factor: Floats  # (n, n)
    scores: Floats  # (K,)
    whitened: Floats  # (n, K)


class ValueNumbers(NamedTuple):
    """The random numbers that redraw the active values."""

    normals: Floats  # (n,)  of new values
    angles: Floats  # (ANGLES + 1,)  uniforms: angles on an ellipse, and whether to mirror
    others: Floats  # (n,)  normals of the ellipse


@njit(cache=True)
def weigh_arms(active, factor, slopes, arms):
    """The values' law under each arm of an action set, weighed with all values integrated out; the
    slopes leave out the pull of this set's arm.
    """
    first, last, tilt = arms.first, arms.last, arms.tilt
    n, count = active.size, last - first if tilt > 0.0 else 1
    whitened, scores = np.empty((n, count)), np.zeros(count)
    for a in range(n):
        row, inverse = whitened[a], 1.0 / factor[a, a]
        row[:] = inverse * slopes[active[a]]
        if tilt > 0.0:
            column, pull = arms.columns[active[a], first:last], inverse * tilt
            for k in range(count):
                row[k] += pull * column[k]
        subtract(row, whitened, factor[a], a, inverse)
        for k in range(count):
            scores[k] += 0.5 * row[k] * row[k]
    return ValuesByArm(active, factor, scores, whitened)


@njit(cache=True)
def rearm(theta, law, arm, radius, uniform, numbers):
    """Redraw arm and values together, or else the values in the ball; returns the set's arm."""
    chosen = draw_index(law.scores, uniform)
    new, present = law.whitened[:, chosen].copy(), law.whitened[:, arm].copy()
    if is_drawn(theta, law.active, law.factor, new, radius, numbers):
        return chosen
    # Whether a draw falls outside does not depend on the present state, so other moves may follow.
    stay_inside(theta, law.active, law.factor, present, radius, numbers)
    return arm


@njit(cache=True)
def redraw(theta, active, factor, whitened, radius, numbers):
    """Redraw all active values, given the arms, or else move them within the ball; the whitened
    slopes (n,) are ``factor^-1`` times those of the active features.
    """
    if not is_drawn(theta, active, factor, whitened, radius, numbers):
        stay_inside(theta, active, factor, whitened, radius, numbers)


@njit(cache=True)
def is_drawn(theta, active, factor, whitened, radius, numbers):
    """Redraw the active values without the ball, and keep them if they lie inside; returns this."""
    values = whitened + numbers.normals[: active.size]
    solve_back(factor, active.size, values)
    inside = np.abs(values).sum() <= radius
    if inside:
        theta[active] = values
    return inside


@njit(cache=True)
def stay_inside(theta, active, factor, whitened, radius, numbers):
    """Move the active values within the ball: along an ellipse, and perhaps to a mirror image."""
    values, centre, others = theta[active], whitened.copy(), numbers.others[: active.size].copy()
    solve_back(factor, active.size, centre)
    solve_back(factor, active.size, others)
    turn(values, centre, others, radius, numbers.angles[:ANGLES])
    if numbers.angles[ANGLES] < MIRRORED:
        mirror(values, centre, factor, radius)
    theta[active] = values


@njit(cache=True)
def reflect(theta, active, factor, whitened, radius):
    """Mirror all active values, given the arms; whitened slopes as in ``redraw``."""
    values, centre = theta[active], whitened.copy()
    solve_back(factor, active.size, centre)
    mirror(values, centre, factor, radius)
    theta[active] = values


@njit(cache=True)
def turn(values, centre, others, radius, uniforms):
    """Move along the ellipse through the values and other draws to a point inside the ball, or keep
    the values if all uniforms fail (elliptical slice sampling, Murray, Adams, MacKay 2010).
    """
    angle = 2.0 * math.pi * uniforms[0]
    low, high = angle - 2.0 * math.pi, angle
    for k in range(uniforms.size):
        if k > 0:
            angle = low + (high - low) * uniforms[k]
        new = centre + math.cos(angle) * (values - centre) + math.sin(angle) * others
        if np.abs(new).sum() <= radius:
            values[:] = new
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle
