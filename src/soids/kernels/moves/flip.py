"""Flip: one coordinate, zero or not, given all others (docs/sampler.md section 4).

P_jj   precision   scalar  of coordinate j: power * gram + slab precision
g      slope       scalar  h_j - p sum of G_ji theta_i over i != j
c      slack       scalar  what the others leave of the radius
o      odds        scalar  log prior odds
h - p G theta      field        (d,)  gradient of the log density, prior left out
omega  log_odds    scalar  log odds of the bump over the atom
"""

import math

from soids.kernels.compiler import njit
from soids.kernels.gram_rows import meet
from soids.kernels.rewards import support
from soids.kernels.truncated_normal import invert_twin_mass, least_log_mass, log_twin_mass
from soids.kernels.vectors import l1_norm

REDRAWN = 0.25  # share of the flips that keep a feature and redraw its value
RARE = 0.05  # a larger uniform changes only coordinates with log odds above log(RARE)
LOG_RARE = math.log(RARE)


@njit(cache=True)
def share_inside(log_odds, inside, eager):
    """The probability that a coordinate is not zero after a Gibbs step, or a Metropolis step if
    eager, given the log odds of its bump and whether it is inside now.
    """
    if not eager:
        return 1.0 / (1.0 + math.exp(min(-log_odds, 700.0)))  # plain Python overflows at 710
    if inside:
        return 1.0 - math.exp(-max(log_odds, 0.0))
    return math.exp(min(log_odds, 0.0))


@njit(cache=True, inline="always")
def fields(theta, power, gram, slopes):
    """The gradient of the log density at theta, without the prior, from the slopes at zero."""
    field, slots, rows = slopes.copy(), gram.slots, gram.rows
    for j in range(theta.size):
        if theta[j] != 0.0:
            slot = slots[j] if slots[j] >= 0 else meet(gram, j)
            for i in range(theta.size):
                field[i] -= power * theta[j] * rows[slot, i]
    return field


@njit(cache=True, inline="always")
def flip(particle, prior, field, half_logs, eager, uniforms):
    """Draw each coordinate from its conditional law, an atom and one or two cut Gaussians; most
    values that stay keep their value. ``half_logs`` (d,) bounds the log of the width of each bump.
    """
    theta, radius, volume = particle.theta, particle.radius, particle.log_volume
    gram, power = particle.precision.gram, particle.precision.power
    slab_precision = particle.precision.slab
    log_odds, own_odds, lean = prior.log_odds, prior.own_odds, prior.lean
    d, diagonal = theta.size, gram.diagonal
    slots, rows = gram.slots, gram.rows
    length, size = l1_norm(theta), support(theta).size
    for j in range(d):
        old = theta[j]
        rest = size - (old != 0.0)
        if rest == log_odds.size:
            continue
        slack = radius - (length - abs(old))
        if slack <= 0.0:
            continue
        precision = power * diagonal[j] + slab_precision
        slope = field[j] + power * diagonal[j] * old
        u, odds, share = uniforms[j], log_odds[rest] + own_odds[j] - volume, 1.0
        if rest >= prior.smallest:
            if old == 0.0 and precision > 0.0:
                steepest = abs(slope) + lean
                squeeze = odds + 0.5 * steepest * steepest / precision + half_logs[j]
                if squeeze < LOG_RARE and u > RARE:
                    continue
                if squeeze < math.log(u + 1e-300):
                    continue
            # For the bump on its own side; if it is zero, minus infinity.
            least = odds + least_log_mass(slope + math.copysign(lean, old), precision, old)
            if REDRAWN <= u < 1.0 - RARE and least > -LOG_RARE:
                continue
            mass = log_twin_mass(slope, lean, precision, -slack, slack)
            share = share_inside(odds + mass, old != 0.0, eager)
        new = 0.0
        if old == 0.0:
            if u < share:
                new, _ = invert_twin_mass(slope, lean, precision, -slack, slack, u / share)
        elif u < REDRAWN * share:
            new, _ = invert_twin_mass(slope, lean, precision, -slack, slack, u / (REDRAWN * share))
        elif u < share:  # it stays and keeps its value: other moves draw pinned values
            continue
        if new != old:
            step = power * (new - old)
            slot = slots[j] if slots[j] >= 0 else meet(gram, j)
            for i in range(d):
                field[i] -= step * rows[slot, i]
            theta[j] = new
            length += abs(new) - abs(old)
            size = rest + (new != 0.0)
