"""Mean-field spike and slab with a Laplace slab, as in the R package sparsevb (Ray & Szabo 2022).

Under the approximation coefficients are independent: zero, or with the probability of inclusion
Gaussian. The prior has zero or, with fixed odds, a Laplace law.
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.kernels.mean_field import CONSTANT, ascend, costs
from soids.regression.weighted_lasso import weighted_lasso

TOLERANCE = 1e-5  # of the entropy of an inclusion, as in sparsevb
SWEEPS = 1000


class MeanField(NamedTuple):
    """Independent coefficients: N(mean, deviation^2) with the probability of inclusion, or 0."""

    means: Floats  # (d,)
    deviations: Floats  # (d,)
    inclusion: Floats  # (d,)

    def expected(self) -> Floats:  # (d,)
        return self.inclusion * self.means

    def variances(self) -> Floats:  # (d,)
        """Of the coefficients, zero or not."""
        second = self.inclusion * (self.means**2 + self.deviations**2)
        variances: Floats = second - self.expected() ** 2
        return variances


class SlabPrior(NamedTuple):
    """What is believed before the first reward."""

    slab: float  # rate of the Laplace law
    odds: float  # log odds that a feature matters


def mean_field(
    evidence: Evidence,
    noise: float,
    prior: SlabPrior,
    start: MeanField,
    *,
    tolerance: float = TOLERANCE,
    sweeps: int = SWEEPS,
) -> MeanField:
    """The approximation nearest to the posterior, by coordinate ascent from ``start`` on.

    Coordinates are updated in the order of their size at the start, as Ray & Szabo advise.
    """
    order = np.argsort(-np.abs(start.means), kind="stable")
    fit = MeanField(*(np.array(part) for part in start))
    ascend(evidence.gram, evidence.moment, noise**-2, *prior, order, *fit, tolerance, sweeps)
    return fit


def cold_start(evidence: Evidence, noise: float) -> MeanField:
    """Where to begin if nothing is known: at the lasso, whose features are taken to matter."""
    dimension, rounds = len(evidence.moment), max(evidence.rounds, 1)
    sizes = np.sqrt(evidence.played.diagonal)
    weights = noise * sizes * math.sqrt(2.0 * math.log(max(dimension, 2)))
    lasso = weighted_lasso(evidence.played, evidence.moment, weights, np.zeros(dimension))
    found = lasso != 0.0
    inclusion = np.where(found, 1.0, found.mean())
    deviations = noise / np.sqrt(evidence.played.diagonal + noise**2 / rounds)
    return MeanField(lasso, np.minimum(deviations, 1.0), inclusion)


def evidence_bound(evidence: Evidence, noise: float, prior: SlabPrior, fit: MeanField) -> float:
    """The lower bound on the log evidence that coordinate ascent raises, up to a constant."""
    gram, moment = evidence.gram / noise**2, evidence.moment / noise**2
    expected, share = fit.expected(), fit.inclusion
    curvatures = np.diagonal(gram).copy()
    paid = costs(fit.means, fit.deviations, -moment, curvatures, prior.slab)
    slabs = prior.odds + CONSTANT + math.log(prior.slab) - paid
    coins = entropy(share) + entropy(1.0 - share)
    between = expected @ gram @ expected - curvatures @ expected**2
    return float((share * slabs + coins).sum() - 0.5 * between)


def entropy(share: Floats) -> Floats:
    """``-p log p``, zero at zero."""
    return np.where(share > 0.0, -share * np.log(np.where(share > 0.0, share, 1.0)), 0.0)
