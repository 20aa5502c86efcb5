"""PopArt (Jang, Zhang, Jun 2022): each coefficient by a robust mean, small ones set to zero.

Notation
    Q          (d, d)  the mean of a a' under the design that actions were drawn from
    variances  (n, d)  diagonal of Q^-1: variance of each coefficient, for noise of variance one
    reach              bound on |<theta - pilot, a>|
    certainty          log(2 d / delta), for d two-sided bounds at once
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats


class Samples(NamedTuple):
    """Rounds whose actions were drawn from a design."""

    actions: Floats  # (n, d)
    rewards: Floats  # (n,)
    pulls: Floats  # (n, d)  Q^-1 a, of the design of each round, times its importance weight
    variances: Floats  # (n, d)  likewise

    def part(self, rounds: slice) -> "Samples":
        return Samples(*(column[rounds] for column in self))


def popart(
    samples: Samples, reach: float, noise: float, delta: float, pilot: Floats | None = None
) -> Floats:  # (d,)
    """The estimate of the parameter; coefficients below their thresholds are zero.

    With probability 1 - delta the error of each coefficient is at most twice its threshold, and
    coefficients whose true value is zero are zero.
    """
    count, dimension = samples.actions.shape
    start = np.zeros(dimension) if pilot is None else pilot
    certainty = math.log(2.0 * dimension / delta)
    if count <= 2.0 * certainty:
        return np.zeros(dimension)
    unit = samples.variances.mean(axis=0)
    threshold = thresholds(unit, count, reach, noise, delta)
    variance = (reach**2 + noise**2) * unit
    slack = 1.0 + 2.0 * certainty / (count - 2.0 * certainty)
    residuals = samples.rewards - samples.actions @ start
    scale = np.sqrt(2.0 * certainty / (count * variance * slack))
    robust = catoni(start + samples.pulls * residuals[:, None], scale)
    return np.where(np.abs(robust) > threshold, robust, 0.0)


def thresholds(variances: Floats, rounds: int, reach: float, noise: float, delta: float) -> Floats:
    """Bounds (d,) on the errors of the robust means; infinite for too few rounds."""
    certainty = math.log(2.0 * len(variances) / delta)
    if rounds <= 2.0 * certainty:
        return np.full(len(variances), math.inf)
    scale = 2.0 * (reach**2 + noise**2)
    return np.sqrt(scale * variances * certainty / (rounds - 2.0 * certainty))


def warm_popart(samples: Samples, reach: float, noise: float, delta: float) -> Floats:  # (d,)
    """PopArt on the second half of the rounds, with a pilot from the first half.

    The errors of the pilot in reward are assumed to be at most the noise.
    """
    half = len(samples.rewards) // 2
    pilot = popart(samples.part(slice(half)), reach, noise, 0.5 * delta)
    return popart(samples.part(slice(half, None)), noise, noise, 0.5 * delta, pilot)


def catoni(values: Floats, scale: Floats) -> Floats:  # (d,)
    """Catoni's robust mean of each column of the values (n, d).

    It is the root of ``sum psi(scale (value - root))`` by bisection, as the sum falls with it.

    >>> catoni(np.array([[0.0], [0.0], [0.0], [1000.0]]), np.array([1.0])).round(2).tolist()
    [11.52]
    """
    low, high = values.min(axis=0), values.max(axis=0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        above = influence(scale * (values - middle)).sum(axis=0) > 0.0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(0.5 * (low + high))


def influence(deviation: Floats) -> Floats:
    """Catoni's psi: the identity near zero, a logarithm far from it."""
    size = np.abs(deviation)
    return np.asarray(np.sign(deviation) * np.log1p(size + 0.5 * size**2))
