"""Empirical Bayes: variances of coefficients and noise by maximum marginal likelihood."""

import math
from functools import partial

import numpy as np

from soids.arrays import SMALLEST
from soids.evidence import Evidence

CERTAIN = 1e12  # shape of the inverse gamma prior that stands for an infinite one
FLAT = 2e-6  # of a gamma prior on the coefficients' precision, in units of rewards and actions
TOLERANCE = 1e-6  # relative, of both variances
STEPS = 1000


def empirical_bayes(evidence: Evidence, shape: float, scale: float) -> tuple[float, float]:
    """The variances of noise and of coefficients that maximise the marginal likelihood.

    The prior of the noise variance is inverse gamma; with an infinite shape the variance is
    ``scale``. MacKay's fixed point (as in scikit-learn's BayesianRidge) takes O(d) a step in the
    eigenbasis of the gram.
    """
    if shape == math.inf:
        shape, scale = CERTAIN, CERTAIN * scale
    if evidence.energy == 0.0 or not evidence.gram.any():
        return scale / shape, 1.0
    reward = math.sqrt(evidence.energy / evidence.degrees)
    action = math.sqrt(float(np.trace(evidence.gram)) / len(evidence.moment) / evidence.degrees)
    spectrum, basis = np.linalg.eigh(evidence.gram / action**2)
    spectrum = np.maximum(spectrum, 0.0)
    moment = basis.T @ evidence.moment / (reward * action)
    noise, slab = 1.0, 1.0  # precisions
    for _ in range(STEPS):
        curvature = noise * spectrum + slab
        theta = noise * moment / curvature
        determined = float((noise * spectrum / curvature).sum())
        residual = evidence.degrees - float(theta @ (2.0 * moment - spectrum * theta))
        before = noise, slab
        slab = (determined + FLAT) / (float(theta @ theta) + FLAT)
        slab = max(SMALLEST, slab)  # rounding in directions not shown would grow without end
        noise = (evidence.degrees - determined + 2.0 * shape) / (
            max(residual, 0.0) + 2.0 * scale / reward**2
        )
        if all(map(partial(math.isclose, rel_tol=TOLERANCE), before, (noise, slab))):
            break
    return reward**2 / noise, (reward / action) ** 2 / slab
