"""Relabel: one sweep if the spike is a narrow Laplace density (docs/sampler.md section 4).

L          label           (d,)    which coordinates are drawn from the slab
f          field           (d,)    slopes that the spikes leave
rho_0      spike_scale     scalar
1 / rho_1  slab_precision  scalar
A theta    rewards         (M, N)  of all actions of all sets

Nothing bounds the slabs, so their values are integrated out while labels and spikes change, and are
drawn at the end with an arm.
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats
from soids.kernels.categorical import draw_arms, draw_index
from soids.kernels.cholesky import Precision, drop, eliminate, join, marginal, solve_back
from soids.kernels.compiler import njit
from soids.kernels.moves.flip import fields
from soids.kernels.moves.rearm import weigh_arms
from soids.kernels.moves.target import ActionSet, TargetArrays
from soids.kernels.rewards import add_shares, support, write_rewards
from soids.kernels.threads import by_rows
from soids.kernels.truncated_normal import invert_mass, log_mass
from soids.kernels.vectors import put

ROUNDING = 1e-15  # of a precision, lost when slabs that explain the same are eliminated


class LabelNumbers(NamedTuple):
    """All random numbers of one sweep, a row for every particle."""

    coordinates: Floats  # (M, d)
    arms: Floats  # (M, B)
    rearms: Floats  # (M, 2)  action set, and its arm
    normals: Floats  # (M, d)  of the slabs


@njit(cache=True)
def spike_or_slab(slope, precision, slab_precision, spike_scale, odds, u):
    """Draw a coordinate and its label: Gaussian slab, or left or right half of the spike; ``odds``
    are the log odds of the slab's density over the spike's, both at their peaks.
    """
    rise = 1.0 / spike_scale
    slab = odds + log_mass(slope, precision + slab_precision, -math.inf, math.inf)
    left = log_mass(slope + rise, precision, -math.inf, 0.0)
    right = log_mass(slope - rise, precision, 0.0, math.inf)
    top = max(slab, left, right)
    slab, left, right = math.exp(slab - top), math.exp(left - top), math.exp(right - top)
    u *= slab + left + right
    if u < slab or left + right == 0.0:  # rounding may lead to a half without any mass
        share = min(u / slab, 1.0)
        return True, invert_mass(slope, precision + slab_precision, -math.inf, math.inf, share)
    if u < slab + left or right == 0.0:
        share = min((u - slab) / left, 1.0)
        return False, invert_mass(slope + rise, precision, -math.inf, 0.0, share)
    share = min((u - slab - left) / right, 1.0)
    return False, invert_mass(slope - rise, precision, 0.0, math.inf, share)


@njit(cache=True)
def spikes_of(theta, label):
    """The parameter with zeros in place of slabs."""
    spikes = theta.copy()
    for j in range(theta.size):
        if label[j]:
            spikes[j] = 0.0
    return spikes


@njit(cache=True)
def see(done, n, j, field, slab_precision):
    """Write precision and slope of ``j`` with n slabs eliminated; returns the data's part of the
    precision. The slopes of other features are out of date, as updates would cost n times as much.
    """
    least = ROUNDING * (done.diagonal[j] - slab_precision)
    done.precisions[j] = max(done.precisions[j], slab_precision + least)
    slope = field[j]
    for a in range(n):
        slope -= done.shadow[a, j] * done.centre[a]
    done.slopes[j] = slope
    return max(done.precisions[j] - slab_precision, least)


@njit(cache=True)
def shift(done, n, j, step, field, precision):
    """Update field and centre after the spike of ``j`` has moved by a step."""
    row, step_power = precision.gram.rows[precision.gram.slots[j]], precision.power * step
    for i in range(row.size):
        field[i] -= step_power * row[i]
    for a in range(n):
        done.centre[a] -= step * done.shadow[a, j]


@njit(cache=True)
def relabel(theta, label, field, done, n, precision, prior, uniforms):
    """Redraw every label and every spike in turn, with all slabs integrated out; returns their
    number. ``done`` has eliminated the n slabs.
    """
    slab_precision, scale = prior.slab_precision, prior.spike_scale
    for j in range(theta.size):
        own, old, rest = -1, theta[j], n - label[j]
        if label[j]:
            while own < 0 or done.active[own] != j:
                own += 1
            mean, variance = marginal(done, n, own)
            least = ROUNDING * (done.diagonal[j] - slab_precision)
            own_precision = max(1.0 / variance - slab_precision, least)
            slope = mean / variance
        else:
            own_precision = see(done, n, j, field, slab_precision)
            slope = done.slopes[j] + own_precision * old
        odds, u = prior.log_odds[rest] + prior.own_odds[j], uniforms[j]
        enters, new = spike_or_slab(slope, own_precision, slab_precision, scale, odds, u)
        if not enters:
            theta[j] = new
        if label[j] and not enters:
            drop(done, n, own)
            shift(done, rest, j, new, field, precision)
        elif not label[j]:
            shift(done, n, j, -old if enters else new - old, field, precision)
            if enters:
                see(done, n, j, field, slab_precision)
                join(done, n, j, 0.0, precision)
        label[j], n = enters, rest + enters
    return n


def sweep(
    thetas, included, rewards, powers, target: TargetArrays, numbers: LabelNumbers
) -> tuple[Floats, Bools, Floats]:
    """Parameters, labels and rewards after arms, labels with spikes, and slabs with an arm."""
    (count, d), moved = thetas.shape, (thetas.copy(), included.copy(), rewards.copy())
    by_rows(sweep_rows, d * d, count, *moved, powers, target, numbers)
    return moved


@njit(cache=True, nogil=True)
def sweep_rows(start, stop, thetas, included, rewards, powers, target, numbers):
    """Move some particles."""
    d, prior = thetas.shape[1], target.prior
    columns, starts, tilts = target.columns, target.starts, target.tilts
    for m in range(start, stop):
        theta, label, power = thetas[m], included[m], powers[m]
        precision = Precision(power, target.gram, prior.slab_precision)
        pull, arms = np.empty(d), np.empty(tilts.size, dtype=np.int64)
        draw_arms(rewards[m], starts, tilts, columns, numbers.arms[m], arms, pull)
        slopes = power * target.moment - target.drift + pull
        field = fields(spikes_of(theta, label), power, target.gram, slopes)
        nothing, n = np.zeros(d), 0
        done = eliminate(nothing, d, precision, field, nothing, 0.0)
        for j in np.flatnonzero(label):
            see(done, n, j, field, prior.slab_precision)
            join(done, n, j, 0.0, precision)
            n += 1
        n = relabel(theta, label, field, done, n, precision, prior, numbers.coordinates[m])
        active, values = done.active[:n], done.centre[:n] + numbers.normals[m, :n]
        menu = min(int(numbers.rearms[m, 0] * tilts.size), tilts.size - 1)
        if menu >= 0 and tilts[menu] > 0.0:
            first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
            field -= tilt * columns[:, arms[menu]]
            law = weigh_arms(active, done.factor, field, ActionSet(columns, first, last, tilt))
            spikes = spikes_of(theta, label)
            add_shares(first, spikes, support(spikes), columns, rewards[m, first:last])
            arm = draw_index(law.scores + tilt * rewards[m, first:last], numbers.rearms[m, 1])
            values = law.whitened[:, arm] + numbers.normals[m, :n]
        solve_back(done.factor, n, values)
        put(theta, active, values)
        write_rewards(theta, columns, rewards[m])
