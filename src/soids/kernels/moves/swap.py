"""Swap: one active coordinate replaced by another (docs/sampler.md section 4).

g_i        field   (d,)    gradient of the log density without the coordinate taken out
c          slack   scalar  what the other coordinates leave of the radius
B_i        masses  (d,)    upper bounds on the masses of the bumps: exp(heights) * widths
M_i / B_i  excess  scalar  log of this ratio, new over old
"""

import math

import numpy as np

from soids.kernels.categorical import highest, pick, write_shares
from soids.kernels.compiler import njit
from soids.kernels.gram_rows import meet
from soids.kernels.rewards import support
from soids.kernels.truncated_normal import invert_twin_mass, log_twin_mass
from soids.kernels.vectors import l1_norm


@njit(cache=True, inline="always")  # so that the processor computes several at once
def bump_bound(slope, precision, slack):
    """A close upper bound on the mass of a bump on ``[-slack, slack]``: log height, and width."""
    slope, precision = abs(slope), max(precision, 1e-300)
    fall = slope - precision * slack  # of the log density at the rim, if its peak lies outside
    rim = slack * (slope - 0.5 * precision * slack)
    height = 0.5 * slope * slope / precision if fall < 0.0 else rim
    width = min(math.sqrt(2.0 * math.pi / precision), 2.0 * slack)
    return height, min(width, 1.0 / fall) if fall > 0.0 else width


@njit(cache=True, inline="always")
def swap(particle, lean, field, uniforms):
    """Take one active coordinate out and put one back; the field is left without both."""
    theta, gram, own_odds = particle.theta, particle.precision.gram, particle.own_odds
    power, slab_precision = particle.precision.power, particle.precision.slab
    d, diagonal = theta.size, gram.diagonal
    slots, rows = gram.slots, gram.rows
    active = support(theta)
    if active.size == 0:
        return
    out = active[min(int(uniforms[0] * active.size), active.size - 1)]
    old = theta[out]
    slack = particle.radius - (l1_norm(theta) - abs(old))
    if slack <= 0.0:
        return
    slot = slots[out] if slots[out] >= 0 else meet(gram, out)
    for i in range(d):
        field[i] += power * old * rows[slot, i]
    theta[out] = 0.0
    heights, widths, masses = np.empty((3, d))
    for i in range(d):
        precision = power * diagonal[i] + slab_precision
        heights[i], widths[i] = bump_bound(abs(field[i]) + lean, precision, slack)
        heights[i] += own_odds[i]
    for j in support(theta):
        heights[j] = -math.inf
    write_shares(heights, 1.0, highest(heights), masses)
    for i in range(d):
        masses[i] *= widths[i]
    chosen = pick(masses, uniforms[1])
    # An independence step: the bounds propose, and the ratios of mass over bound decide.
    precision_new = power * diagonal[chosen] + slab_precision
    precision_old = power * diagonal[out] + slab_precision
    excess = log_twin_mass(field[chosen], lean, precision_new, -slack, slack) - heights[chosen]
    excess -= log_twin_mass(field[out], lean, precision_old, -slack, slack) - heights[out]
    excess += math.log(widths[out] / widths[chosen]) + own_odds[chosen] - own_odds[out]
    new = old
    if excess >= 0.0 or uniforms[2] < math.exp(excess):
        new, _ = invert_twin_mass(field[chosen], lean, precision_new, -slack, slack, uniforms[3])
    else:
        chosen = out
    theta[chosen] = new
