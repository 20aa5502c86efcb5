"""One sweep of a cloud whose spike is a narrow Laplace density: every coordinate moves.

Nothing bounds the slabs, so their values are integrated out while labels and spikes move, and drawn
at the end with an arm: a label changes by what the feature explains, whatever values the others
had. Notation as in ``sparse``; ``included`` (M, d) says which coordinates are drawn from the slab.
"""

import math

import numpy as np
from numba import njit

from soids.arrays import Bools, Floats
from soids.kernels.draws import draw_arms, draw_index
from soids.kernels.elimination import drop, eliminate, join, marginal, solve_back, support
from soids.kernels.joint import weigh_arms
from soids.kernels.normal import invert_mass, log_mass
from soids.kernels.rewards import add_shares
from soids.kernels.rows import by_rows
from soids.kernels.sparse import fields, rate_actions

ROUNDING = 1e-15  # of a precision, lost when slabs that explain the same are eliminated


@njit(cache=True)
def spike_or_slab(slope, precision, slab_precision, spike_scale, odds, u):
    """Draw a coordinate and its label: Gaussian slab, or left or right half of the spike.

    ``odds`` are the log odds of the slab's density, at its peak, over the spike's at its own.
    """
    rise = 1.0 / spike_scale
    slab = odds + log_mass(slope, precision + slab_precision, -math.inf, math.inf)
    left = log_mass(slope + rise, precision, -math.inf, 0.0)
    right = log_mass(slope - rise, precision, 0.0, math.inf)
    top = max(slab, left, right)
    slab, left, right = math.exp(slab - top), math.exp(left - top), math.exp(right - top)
    u *= slab + left + right
    if u < slab:
        return True, invert_mass(slope, precision + slab_precision, -math.inf, math.inf, u / slab)
    if u < slab + left:
        return False, invert_mass(slope + rise, precision, -math.inf, 0.0, (u - slab) / left)
    share = min((u - slab - left) / right, 1.0)
    return False, invert_mass(slope - rise, precision, 0.0, math.inf, share)


@njit(cache=True)
def see(done, n, j, field, slab_precision):
    """Write precision and slope of ``j`` with n slabs eliminated, and return what is left of the
    data's part of the precision.

    Spikes that move change field and centre only, so all other slopes are out of date: to carry
    every one along would cost n times as much. Rounding leaves no less than its own size.
    """
    least = ROUNDING * (done.whole[j] - slab_precision)
    done.spread[j] = max(done.spread[j], slab_precision + least)
    slope = field[j]
    for a in range(n):
        slope -= done.shadow[a, j] * done.centre[a]
    done.excess[j] = slope
    return max(done.spread[j] - slab_precision, least)


@njit(cache=True)
def shift(done, n, j, step, field, power, gram):
    """Take in that the spike of ``j`` has moved by a step."""
    row = gram.rows[gram.slots[j]]
    step_power = power * step
    for i in range(row.size):
        field[i] -= step_power * row[i]
    for a in range(n):
        done.centre[a] -= step * done.shadow[a, j]


@njit(cache=True)
def relabel(
    theta, label, field, done, n, power, gram, slab_precision, spike_scale, log_odds, uniforms
):
    """Redraw every label and every spike in turn, all slabs integrated out; returns their number.

    ``done`` has eliminated n slabs, and field holds the slopes at zero that the spikes leave.
    """
    for j in range(theta.size):
        own, old, rest = -1, theta[j], n - label[j]
        if label[j]:
            while own < 0 or done.active[own] != j:
                own += 1
            mean, variance = marginal(done, n, own)
            least = ROUNDING * (done.whole[j] - slab_precision)
            precision = max(1.0 / variance - slab_precision, least)
            slope = mean / variance
        else:
            precision = see(done, n, j, field, slab_precision)
            slope = done.excess[j] + precision * old
        enters, new = spike_or_slab(
            slope, precision, slab_precision, spike_scale, log_odds[rest], uniforms[j]
        )
        if not enters:
            theta[j] = new
        if label[j] and not enters:
            drop(done, n, own)
            shift(done, rest, j, new, field, power, gram)
        elif not label[j]:
            shift(done, n, j, -old if enters else new - old, field, power, gram)
            if enters:
                see(done, n, j, field, slab_precision)
                join(done, n, j, 0.0, power, gram)
        label[j], n = enters, rest + enters
    return n


def sweep(
    thetas, included, rewards, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, slab_precision, spike_scale,
    coordinate_uniforms, arm_uniforms, rearm_uniforms, slab_normals,
) -> tuple[Floats, Bools, Floats]:  # fmt: skip
    """The cloud after arms, labels with spikes, and slabs with an arm, and its rewards."""
    thetas, included, rewards = thetas.copy(), included.copy(), rewards.copy()
    by_rows(
        sweep_rows, thetas.shape[1] ** 2, len(thetas), thetas, included, rewards, powers, gram,
        moment, drift, columns, starts, tilts, log_odds, slab_precision, spike_scale,
        coordinate_uniforms, arm_uniforms, rearm_uniforms, slab_normals,
    )  # fmt: skip
    return thetas, included, rewards


@njit(cache=True, nogil=True)
def sweep_rows(
    start, stop, thetas, included, rewards, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, slab_precision, spike_scale, coordinate_uniforms, arm_uniforms, rearm_uniforms,
    slab_normals,
):  # fmt: skip
    """Move some particles."""
    d = thetas.shape[1]
    for m in range(start, stop):
        theta, label, power = thetas[m], included[m], powers[m]
        pull = np.empty(d)
        arms = np.empty(tilts.size, dtype=np.int64)
        draw_arms(rewards[m], starts, tilts, columns, arm_uniforms[m], arms, pull)
        field = fields(np.where(label, 0.0, theta), power, gram, power * moment - drift + pull)
        nothing, n = np.zeros(d), 0
        done = eliminate(nothing, d, power, gram, slab_precision, field, nothing, 0.0)
        for j in np.flatnonzero(label):
            see(done, n, j, field, slab_precision)
            join(done, n, j, 0.0, power, gram)
            n += 1
        n = relabel(
            theta, label, field, done, n, power, gram, slab_precision, spike_scale, log_odds,
            coordinate_uniforms[m],
        )  # fmt: skip
        active, values = done.active[:n], done.centre[:n] + slab_normals[m, :n]
        menu = min(int(rearm_uniforms[m, 0] * tilts.size), tilts.size - 1)
        if menu >= 0 and tilts[menu] > 0.0:
            first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
            field -= tilt * columns[:, arms[menu]]
            scores, whitened = weigh_arms(active, done.factor, field, columns, first, last, tilt)
            spikes = np.where(label, 0.0, theta)
            add_shares(first, spikes, support(spikes), columns, rewards[m, first:last])
            scores += tilt * rewards[m, first:last]
            arm = draw_index(scores, rearm_uniforms[m, 1])
            values = whitened[:, arm] + slab_normals[m, :n]
        solve_back(done.factor, n, values)
        theta[active] = values
        rate_actions(theta, columns, rewards[m])
