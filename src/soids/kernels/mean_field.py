"""Coordinate ascent for the mean-field spike and slab with a Laplace slab (Ray & Szabo 2022).

Notation
    means       (d,)  mu, of the slab's part of each coefficient
    deviations  (d,)  sigma
    inclusion   (d,)  gamma, probability of the slab
    G, b              gram and moment, times the precision of the noise
    slab              rate of the Laplace prior
    odds              log prior odds of inclusion

Given the others, coefficient j is left with a cost that is convex in (mu, sigma),

    (c + slab erf(mu / sigma sqrt 2)) mu + G_jj (mu^2 + sigma^2) / 2 - log sigma
        + slab sigma sqrt(2/pi) exp(-mu^2 / 2 sigma^2),
    c = sum over i != j of G_ji gamma_i mu_i, minus b_j,

minimised by Newton's method, and gamma_j is the logistic function of a constant minus that cost.
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.kernels.compiler import njit

ROOT = math.sqrt(2.0 / math.pi)
CONSTANT = 0.5 + 0.5 * math.log(0.5 * math.pi)
NEWTON = 50
CLOSE = 1e-10  # what the rest of a Newton step may still gain
FAINT = 1e-9  # smallest change of an expected coefficient that others notice, in their units


class Problem(NamedTuple):
    """The posterior to be approximated."""

    gram: Floats  # (d, d)
    moment: Floats  # (d,)
    precision: float  # of the noise
    slab: float
    odds: float


@njit(cache=True, nogil=True)
def cost(mean, deviation, pull, curvature, slab):
    """The cost of a slab with this mean and deviation, up to a constant."""
    ratio = mean / deviation
    return (
        (pull + slab * math.erf(ratio * math.sqrt(0.5))) * mean
        + 0.5 * curvature * (mean * mean + deviation * deviation)
        - math.log(deviation)
        + slab * deviation * ROOT * math.exp(-0.5 * ratio * ratio)
    )


@njit(cache=True, nogil=True)
def cheapest(mean, deviation, pull, curvature, slab):
    """The mean and deviation of least cost, and that cost, by Newton's method from a guess."""
    if curvature <= 0.0:  # no action has shown it: the prior's best
        mean, deviation = 0.0, 1.0 / (slab * ROOT)
    value = cost(mean, deviation, pull, curvature, slab)
    for _ in range(NEWTON if curvature > 0.0 else 0):
        ratio = mean / deviation
        peak = slab * ROOT * math.exp(-0.5 * ratio * ratio)
        slope = pull + slab * math.erf(ratio * math.sqrt(0.5)) + curvature * mean
        growth = curvature * deviation + peak - 1.0 / deviation
        bend = peak / deviation
        first, cross = curvature + bend, -bend * ratio
        second = curvature + bend * ratio * ratio + 1.0 / (deviation * deviation)
        determinant = first * second - cross * cross
        step = -(second * slope - cross * growth) / determinant
        stretch = -(first * growth - cross * slope) / determinant
        gain = -(step * slope + stretch * growth)
        if not gain > CLOSE:
            break
        # The deviation stays positive.
        share = min(1.0, -0.9 * deviation / stretch) if stretch < 0.0 else 1.0
        new = cost(mean + share * step, deviation + share * stretch, pull, curvature, slab)
        while new > value - 0.1 * share * gain and share > 1e-12:
            share *= 0.5
            new = cost(mean + share * step, deviation + share * stretch, pull, curvature, slab)
        if new >= value:
            break
        mean, deviation, value = mean + share * step, deviation + share * stretch, new
    return mean, deviation, value


@njit(cache=True, nogil=True)
def ascend(problem, order, fit, tolerance, sweeps):
    """Sweep over the coordinates, in place, until no inclusion changes in entropy by more than the
    tolerance; returns the number of sweeps.
    """
    gram, moment, precision, slab, odds = problem
    means, deviations, inclusion = fit
    size, expected = means.size, inclusion * means
    fitted = np.zeros(size)  # gram @ expected
    for j in range(size):
        if expected[j] != 0.0:
            for i in range(size):
                fitted[i] += expected[j] * gram[j, i]
    for sweep in range(sweeps):
        change = 0.0
        for j in order:
            row = gram[j]
            pull = precision * (fitted[j] - row[j] * expected[j] - moment[j])
            curvature = precision * row[j]
            mean, deviation, value = cheapest(means[j], deviations[j], pull, curvature, slab)
            means[j], deviations[j] = mean, deviation
            logit = odds + CONSTANT + math.log(slab) - value
            share = 1.0 / (1.0 + math.exp(-min(max(logit, -700.0), 700.0)))
            change = max(change, abs(entropy(share) - entropy(inclusion[j])))
            inclusion[j] = share
            step = share * mean - expected[j]
            if abs(step) * math.sqrt(curvature) > FAINT:
                expected[j] += step
                for i in range(size):
                    fitted[i] += step * row[i]
        if change <= tolerance:
            return sweep + 1
    return sweeps


@njit(cache=True, nogil=True)
def entropy(share):
    """The entropy, in nats, of an event with this probability."""
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return -share * math.log(share) - (1.0 - share) * math.log1p(-share)
