"""The thresholded lasso of Ariu, Abe, Proutiere (2022): least squares on selected features."""

import math

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Evidence


def large(lasso: Floats, penalty: float) -> Ints:
    """The features whose coefficients exceed both thresholds.

    >>> large(np.array([5.0, 9.0, -10.0, 0.5]), penalty=1.0).tolist()
    [1, 2]
    """
    sizes = np.abs(lasso)
    first = sizes > 4.0 * penalty
    return np.flatnonzero(first & (sizes > 4.0 * penalty * math.sqrt(first.sum())))


def least_squares_on(evidence: Evidence, features: Ints) -> Floats:  # (d,)
    """Least squares on some features; the other coefficients are zero."""
    theta = np.zeros(len(evidence.moment))
    if features.size:
        square = evidence.played.rows(features)[:, features]
        theta[features] = np.linalg.lstsq(square, evidence.moment[features])[0]
    return theta
