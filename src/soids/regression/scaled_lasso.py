"""The noise of rewards as the scaled lasso estimates it (Sun & Zhang 2012), from sums alone.

Lasso and noise are found in turn. The weights are ``noise sqrt(n log(d) / 2)`` times the root mean
square of each feature, half of Sun & Zhang's: theirs leave so much of large effects to the noise
that policies learn later. The squared residuals of the lasso are divided by the rewards less the
features it takes (Reid, Tibshirani, Friedman 2016). Without any feature the noise is the root mean
square of the rewards, about their mean if there is an intercept.
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.regression.lasso import Products, lasso

STEPS = 20  # at most
CLOSE = 0.01  # relative change of the noise at which it is found
CLEAREST = 1e-3  # least noise, relative to the root mean square of the rewards


class Sums(NamedTuple):
    """What a regression needs of n rewards."""

    gram: Products  # (d, d)
    moment: Floats  # (d,)
    rounds: float
    energy: float  # sum of squared rewards

    @classmethod
    def of(cls, evidence: Evidence) -> "Sums":
        return cls(evidence.played, evidence.moment, evidence.rounds, evidence.energy)


def scaled_noise(sums: Sums, noise: float = 0.0, start: Floats | None = None) -> float:
    """The estimate of the noise; an earlier one, and a lasso that is near, save time.

    >>> from soids.gram import Gram
    >>> rewards = np.array([3.0, -3.0])  # of actions that are zero: nothing explains them
    >>> sums = Sums(Gram.of(np.zeros((2, 2))), np.zeros(2), 2, float(rewards @ rewards))
    >>> scaled_noise(sums)
    3.0
    """
    gram, moment, rounds, energy = sums
    if energy <= 0.0 or rounds <= 0:
        return 0.0
    largest = math.sqrt(energy / rounds)
    least = CLEAREST * largest
    noise = noise or largest
    sizes = np.sqrt(0.5 * math.log(max(len(moment), 2)) * gram.diagonal)
    theta = start
    for _ in range(STEPS):
        weights = noise * sizes
        theta = lasso(gram, moment, weights, theta)
        square = energy - float(moment @ theta) - float(weights @ np.abs(theta))
        left = max(rounds - np.count_nonzero(theta), 0.5 * rounds)
        before, noise = noise, max(math.sqrt(max(square, 0.0) / left), least)
        if abs(noise - before) <= CLOSE * before:
            break
    return noise
