"""Mean-field spike and slab with a Laplace slab, as in R's sparsevb (Ray & Szabo 2022)."""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.kernels.mean_field import Problem, ascend
from soids.records import check_arrays, check_numbers
from soids.regression.lasso import lasso

TOLERANCE = 1e-5  # change of an inclusion's entropy at which ascent ends, as in sparsevb
SWEEPS = 1000


class MeanField(NamedTuple):
    """Independent coefficients: N(mean, deviation^2) with the probability of inclusion, or 0."""

    means: Floats  # (d,)
    deviations: Floats  # (d,)
    inclusion: Floats  # (d,)

    def validate(self) -> None:
        check_arrays(self, means="d", deviations="d", inclusion="d")
        check_numbers(self, "deviations", 0.0)
        check_numbers(self, "inclusion", 0.0, 1.0)

    def expected(self) -> Floats:  # (d,)
        return self.inclusion * self.means

    def variances(self) -> Floats:  # (d,)
        """The variances of the coefficients, zero or not."""
        second = self.inclusion * (self.means**2 + self.deviations**2)
        return np.asarray(second - self.expected() ** 2)


class SlabPrior(NamedTuple):
    """Independent coefficients: Laplace with fixed odds, or zero."""

    slab: float  # rate of the Laplace distribution
    odds: float  # log odds that a coefficient is not zero


def mean_field(evidence: Evidence, noise: float, prior: SlabPrior, start: MeanField) -> MeanField:
    """The mean-field approximation by coordinate ascent on the evidence lower bound.

    Coordinates are updated in the order of their size in ``start``, as Ray & Szabo advise.
    """
    order = np.argsort(-np.abs(start.means), kind="stable")
    fit = MeanField(*(np.array(part) for part in start))
    problem = Problem(evidence.gram, evidence.moment, noise**-2, *prior)
    ascend(problem, order, fit, TOLERANCE, SWEEPS)
    return fit


def cold_start(evidence: Evidence, noise: float) -> MeanField:
    """A start from the lasso, whose features have inclusion one."""
    dimension, rounds = len(evidence.moment), max(evidence.rounds, 1)
    sizes = np.sqrt(evidence.played.diagonal)
    weights = noise * sizes * math.sqrt(2.0 * math.log(max(dimension, 2)))
    means = lasso(evidence.played, evidence.moment, weights)
    found = means != 0.0
    inclusion = np.where(found, 1.0, found.mean())
    deviations = noise / np.sqrt(evidence.played.diagonal + noise**2 / rounds)
    return MeanField(means, np.minimum(deviations, 1.0), inclusion)
