"""One sweep of a cloud whose spike is a narrow Laplace density: every coordinate moves.

Notation as in ``sparse``; ``included`` (M, d) says which coordinates are drawn from the slab.
"""

import math

import numpy as np
from numba import njit

from soids.arrays import Bools, Floats
from soids.kernels.draws import draw_arms
from soids.kernels.joint import block
from soids.kernels.normal import invert_mass, log_mass
from soids.kernels.rows import by_rows
from soids.kernels.sparse import fields, rate_actions


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


def sweep(
    thetas, included, rewards, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, slab_precision, spike_scale,
    coordinate_uniforms, arm_uniforms, block_normals,
) -> tuple[Floats, Bools, Floats]:  # fmt: skip
    """The cloud after one pass over arms, coordinates and slabs, and its rewards."""
    thetas, included, rewards = thetas.copy(), included.copy(), rewards.copy()
    by_rows(
        sweep_rows, thetas.shape[1] ** 2, len(thetas), thetas, included, rewards, powers, gram,
        moment, drift, columns, starts, tilts, log_odds, slab_precision, spike_scale,
        coordinate_uniforms, arm_uniforms, block_normals,
    )  # fmt: skip
    return thetas, included, rewards


@njit(cache=True, nogil=True)
def sweep_rows(
    start, stop, thetas, included, rewards, powers, gram, moment, drift, columns, starts, tilts,
    log_odds, slab_precision, spike_scale, coordinate_uniforms, arm_uniforms, block_normals,
):  # fmt: skip
    """Move some particles."""
    d, diagonal, slots, rows = thetas.shape[1], gram.diagonal, gram.slots, gram.rows
    for m in range(start, stop):
        theta, label, power = thetas[m], included[m], powers[m]
        pull = np.empty(d)
        arms = np.empty(tilts.size, dtype=np.int64)
        draw_arms(rewards[m], starts, tilts, columns, arm_uniforms[m], arms, pull)
        field = fields(theta, power, gram, power * moment - drift + pull)
        size = np.count_nonzero(label)
        for j in range(d):
            old = theta[j]
            precision, slot = power * diagonal[j], slots[j]
            rest = size - label[j]
            label[j], theta[j] = spike_or_slab(
                field[j] + precision * old, precision, slab_precision, spike_scale,
                log_odds[rest], coordinate_uniforms[m, j],
            )  # fmt: skip
            size = rest + label[j]
            step = power * (theta[j] - old)
            for i in range(d):
                field[i] -= step * rows[slot, i]
        active = np.flatnonzero(label)
        block(theta, field, power, gram, slab_precision, active, block_normals[m])
        rate_actions(theta, columns, rewards[m])
