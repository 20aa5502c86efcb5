"""Unadjusted Langevin steps on the relaxed posterior (docs/sampler.md section 10).

rho        inclusion  (d,)    running probability that each coordinate belongs to the slab
bar rho    smoothed   (d,)    running average of it, which divides the prior between slab and spike
beta       share      scalar  prior probability of the slab
G theta    fitted     (d,)    gram times the parameter
g          gradient   (d,)    of the log density
c          pace.step  scalar  step size times the curvature
omega      weight     scalar  of the present state in the running values

With weight 1, ``g`` is the gradient of the log density. With less, the prior's labels are averages
over earlier states (SGLD-SA, Deng et al. 2019).
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Floats
from soids.kernels.moves.target import TargetArrays
from soids.kernels.threads import by_rows


class State(NamedTuple):
    """Chains, a row each, with their running values."""

    thetas: Floats  # (M, d)
    inclusion: Floats  # (M, d)
    smoothed: Floats  # (M, d)
    shares: Floats  # (M,)  prior probability of the slab
    variances: Floats  # (M,)  of the noise


class Pace(NamedTuple):
    """The size of a step."""

    step: float  # over the curvature: below 2 it is stable
    curvatures: Floats  # (d,)  eigenvalues of the gram, or (1,) the largest
    axes: Floats  # (d, d)  its eigenvectors, one a column, or (0, 0): equal steps in all directions
    axes_as_rows: Floats  # the same, one a row


class Learning(NamedTuple):
    """How the running values change."""

    weight: float
    learns_share: bool
    learns_noise: bool
    slab_variance: float
    spike_scale: float
    eta: float  # power of the likelihood
    energy: float
    rounds: float
    noise_shape: float
    noise_scale: float


@njit(cache=True)
def combine(weights, rows, total):
    """Write the weighted sum of rows, four at a time, as memory bounds the speed."""
    total[:] = 0.0
    fours = weights.size - weights.size % 4
    for j in range(0, fours, 4):
        w, x, y, z = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for n in range(total.size):
            left = w * rows[j, n] + x * rows[j + 1, n]
            total[n] += left + (y * rows[j + 2, n] + z * rows[j + 3, n])
    for j in range(fours, weights.size):
        for n in range(total.size):
            total[n] += weights[j] * rows[j, n]


@njit(cache=True)
def slab_probability(x, share, slab_variance, spike_scale):
    """The probability that a coordinate of value x was drawn from the slab."""
    slab = share / math.sqrt(2.0 * math.pi * slab_variance)
    spike = (1.0 - share) / (2.0 * spike_scale)
    fall = 0.5 * x * x / slab_variance - abs(x) / spike_scale
    return slab / (slab + spike * math.exp(min(fall, 600.0)))


@njit(cache=True)
def learn(theta, fitted, inclusion, smoothed, share, variance, moment, learning):
    """Move the running values; returns the new share and noise variance."""
    d, weight = theta.size, learning.weight
    for j in range(d):
        now = slab_probability(theta[j], share, learning.slab_variance, learning.spike_scale)
        inclusion[j] += weight * (now - inclusion[j])
        smoothed[j] += weight * (inclusion[j] - smoothed[j])
    if learning.learns_share:  # its mean given the labels, under a uniform prior
        share += weight * ((inclusion.sum() + 1.0) / (d + 2.0) - share)
    if learning.learns_noise:
        misfit = learning.energy
        for j in range(d):
            misfit += theta[j] * (fitted[j] - 2.0 * moment[j])
        scale = learning.noise_scale + 0.5 * learning.eta * max(misfit, 0.0)
        shape = learning.noise_shape + 0.5 * learning.eta * learning.rounds
        variance += weight * (scale / shape - variance)
    return share, variance


@njit(cache=True)
def climb(theta, fitted, smoothed, power, target, scores, gradient):
    """Write the gradient of the log density; where two actions are best, that of the first."""
    columns, starts, tilts = target.columns, target.starts, target.tilts
    slab_variance, spike_scale = 1.0 / target.prior.slab_precision, target.prior.spike_scale
    for j in range(theta.size):
        slab = smoothed[j] * theta[j] / slab_variance
        spike = (1.0 - smoothed[j]) * np.sign(theta[j]) / spike_scale
        gradient[j] = power * (target.moment[j] - fitted[j]) - target.drift[j] - slab - spike
    if not tilts.any():
        return
    combine(theta, columns, scores)
    for menu in range(tilts.size):
        best = starts[menu] + np.argmax(scores[starts[menu] : starts[menu + 1]])
        for j in range(theta.size):
            gradient[j] += tilts[menu] * columns[j, best]


@njit(cache=True)
def move(theta, gradient, power, floor, pace, normals):
    """One step: equal in all directions, or in each as long as its own curvature allows."""
    d = theta.size
    if pace.axes.size == 0:
        step = pace.step / (power * pace.curvatures[0] + floor)
        for j in range(d):
            theta[j] += step * gradient[j] + math.sqrt(2.0 * step) * normals[j]
        return
    along, shift = np.empty(d), np.empty(d)
    combine(gradient, pace.axes, along)
    for i in range(d):
        step = pace.step / (power * pace.curvatures[i] + floor)
        along[i] = step * along[i] + math.sqrt(2.0 * step) * normals[i]
    combine(along, pace.axes_as_rows, shift)
    for j in range(d):
        theta[j] += shift[j]


def walk(
    state: State, target: TargetArrays, pace: Pace, learning: Learning, normals: Floats
) -> State:
    """The chains after some steps, with one normal (M, steps, d) for each."""
    state = State(*(each.copy() for each in state))
    cost = normals.shape[1] * target.moment.size**2
    by_rows(walk_rows, cost, len(normals), state, target, pace, learning, normals)
    return state


@njit(cache=True, nogil=True)
def walk_rows(start, stop, state, target, pace, learning, normals):
    """Move some chains."""
    thetas, inclusions, averages, shares, variances = state
    d, steps = thetas.shape[1], normals.shape[1]
    floor = 1.0 / min(learning.spike_scale**2, learning.slab_variance)  # the prior's own curvature
    rows, moment = target.gram.rows, target.moment
    fitted, gradient, scores = np.empty(d), np.empty(d), np.empty(target.columns.shape[1])
    for m in range(start, stop):
        theta, inclusion, smoothed = thetas[m], inclusions[m], averages[m]
        share, variance = shares[m], variances[m]
        for k in range(steps + 1):
            if k > 0:  # not before the first step: prior, share or noise may have changed
                power = learning.eta / variance
                climb(theta, fitted, smoothed, power, target, scores, gradient)
                move(theta, gradient, power, floor, pace, normals[m, k - 1])
            combine(theta, rows, fitted)
            running = theta, fitted, inclusion, smoothed, share, variance
            share, variance = learn(*running, moment, learning)
        shares[m], variances[m] = share, variance
