"""PopArt (Jang, Zhang, Jun 2022): each coefficient by a robust mean, small ones set to zero.

Notation
    moment   (d, d)  Q, the mean of a a' under the design that actions were drawn from
    spreads  (n, d)  diagonal of Q^-1: how much the noise of a round moves each coefficient
    reach            bound on |<theta - pilot, a>|
    certainty        log(2 d / delta), the price of d two-sided bounds at once
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats


class Samples(NamedTuple):
    """Rounds played by drawing from a design."""

    actions: Floats  # (n, d)
    rewards: Floats  # (n,)
    pulls: Floats  # (n, d)  Q^-1 a, of the design in force in each round
    spreads: Floats  # (n, d)  likewise

    def first(self, count: int) -> "Samples":
        return Samples(*(column[:count] for column in self))

    def after(self, count: int) -> "Samples":
        return Samples(*(column[count:] for column in self))


def popart(
    samples: Samples, reach: float, noise: float, delta: float, pilot: Floats | None = None
) -> Floats:  # (d,)
    """The parameter, with every coefficient zero that may be zero.

    With probability 1 - delta each one is wrong by at most twice its threshold, and is zero if the
    true one is.
    """
    count, dimension = samples.actions.shape
    start = np.zeros(dimension) if pilot is None else pilot
    certainty = math.log(2.0 * dimension / delta)
    if count <= 2.0 * certainty:
        return np.zeros(dimension)
    spread = samples.spreads.mean(axis=0)
    threshold = thresholds(spread, count, reach, noise, delta)
    variance = (reach**2 + noise**2) * spread
    slack = 1.0 + 2.0 * certainty / (count - 2.0 * certainty)
    residuals = samples.rewards - samples.actions @ start
    robust = catoni(
        start + samples.pulls * residuals[:, None],
        np.sqrt(2.0 * certainty / (count * variance * slack)),
    )
    return np.where(np.abs(robust) > threshold, robust, 0.0)


def thresholds(
    spread: Floats, rounds: int, reach: float, noise: float, delta: float
) -> Floats:  # (d,)
    """How far each robust mean may be from its coefficient; infinite for too few rounds."""
    certainty = math.log(2.0 * len(spread) / delta)
    if rounds <= 2.0 * certainty:
        return np.full(len(spread), math.inf)
    return np.sqrt(2.0 * (reach**2 + noise**2) * spread * certainty / (rounds - 2.0 * certainty))


def warm_popart(samples: Samples, reach: float, noise: float, delta: float) -> Floats:  # (d,)
    """PopArt on half of the rounds, then again from there on the other half, where errors are by
    now no larger than the noise.
    """
    half = len(samples.rewards) // 2
    pilot = popart(samples.first(half), reach, noise, 0.5 * delta)
    return popart(samples.after(half), noise, noise, 0.5 * delta, pilot)


def catoni(values: Floats, scale: Floats) -> Floats:  # (d,)
    """Catoni's robust mean of each column of the values (n, d).

    The root of ``sum psi(scale (value - root))``, psi growing like a logarithm; the sum falls in
    the root, and changes sign between the least and the largest value.

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
    """Catoni's psi: the identity near zero, a logarithm far out."""
    size = np.abs(deviation)
    damped: Floats = np.sign(deviation) * np.log1p(size + 0.5 * size**2)
    return damped
