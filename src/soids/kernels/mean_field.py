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
from numba import njit

from soids.arrays import Floats

ROOT = math.sqrt(2.0 / math.pi)
CONSTANT = 0.5 + 0.5 * math.log(0.5 * math.pi)
NEWTON = 50
CLOSE = 1e-10  # what the rest of a Newton step may still gain
FAINT = 1e-9  # a change of an expected coefficient that others need not hear of, in their units


class Problem(NamedTuple):
    """What is to be approximated."""

    gram: Floats  # (d, d)
    moment: Floats  # (d,)
    precision: float  # of the noise
    slab: float
    odds: float


@njit(cache=True, nogil=True)
def cost(mean, deviation, pull, curvature, slab):
    """What a slab with this mean and deviation costs, but for a constant."""
    ratio = mean / deviation
    return (
        (pull + slab * math.erf(ratio * math.sqrt(0.5))) * mean
        + 0.5 * curvature * (mean * mean + deviation * deviation)
        - math.log(deviation)
        + slab * deviation * ROOT * math.exp(-0.5 * ratio * ratio)
    )


@njit(cache=True, nogil=True)
def cheapest(mean, deviation, pull, curvature, slab):
    """The mean and deviation of least cost, and that cost, from a guess of them."""
    if curvature <= 0.0:  # never seen: the prior's best
        mean, deviation = 0.0, 1.0 / (slab * ROOT)
    value = cost(mean, deviation, pull, curvature, slab)
    for _ in range(NEWTON if curvature > 0.0 else 0):
        ratio = mean / deviation
        peak = slab * ROOT * math.exp(-0.5 * ratio * ratio)
        slope = pull + slab * math.erf(ratio * math.sqrt(0.5)) + curvature * mean
        growth = curvature * deviation + peak - 1.0 / deviation
        bend = peak / deviation
        first = curvature + bend
        second = curvature + bend * ratio * ratio + 1.0 / (deviation * deviation)
        cross = -bend * ratio
        determinant = first * second - cross * cross
        step = -(second * slope - cross * growth) / determinant
        stretch = -(first * growth - cross * slope) / determinant
        gain = -(step * slope + stretch * growth)
        if not gain > CLOSE:
            break
        share = 1.0
        if stretch < 0.0:
            share = min(1.0, -0.9 * deviation / stretch)  # it stays positive
        new = cost(mean + share * step, deviation + share * stretch, pull, curvature, slab)
        while new > value - 0.1 * share * gain and share > 1e-12:
            share *= 0.5
            new = cost(mean + share * step, deviation + share * stretch, pull, curvature, slab)
        if new >= value:
            break
        mean += share * step
        deviation += share * stretch
        value = new
    return mean, deviation, value


@njit(cache=True, nogil=True)
def ascend(problem, order, fit, tolerance, sweeps):
    """Sweep over the coordinates, in place, until no inclusion changes in entropy by more than the
    tolerance; returns the number of sweeps.
    """
    gram, moment, precision, slab, odds = problem
    means, deviations, inclusion = fit
    size = means.size
    expected = inclusion * means
    spread = np.zeros(size)  # gram @ expected
    for j in range(size):
        if expected[j] != 0.0:
            row = gram[j]
            for i in range(size):
                spread[i] += expected[j] * row[i]
    for sweep in range(sweeps):
        change = 0.0
        for n in range(size):
            j = order[n]
            row = gram[j]
            pull = precision * (spread[j] - row[j] * expected[j] - moment[j])
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
                    spread[i] += step * row[i]
        if change <= tolerance:
            return sweep + 1
    return sweeps


@njit(cache=True, nogil=True)
def entropy(share):
    """Of a coin, in nats."""
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return -share * math.log(share) - (1.0 - share) * math.log1p(-share)


@njit(cache=True, nogil=True)
def costs(means, deviations, pulls, curvatures, slab) -> Floats:
    """The cost of each coordinate (d,)."""
    values = np.empty(means.size)
    for j in range(means.size):
        values[j] = cost(means[j], deviations[j], pulls[j], curvatures[j], slab)
    return values
