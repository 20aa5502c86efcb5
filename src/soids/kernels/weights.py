"""Weights of particles from their logarithms, compiled because calls of NumPy cost more."""

import math

import numpy as np

from soids.kernels.compiler import njit
from soids.kernels.vectors import largest


@njit(cache=True)
def normalised(log_weights):
    """Weights that sum to one; one of the logarithms must be finite."""
    weights = np.exp(log_weights - largest(log_weights))
    weights /= weights.sum()
    return weights


@njit(cache=True)
def effective_share(log_weights):
    """Effective size over size; zero if every weight is zero."""
    top = largest(log_weights)
    if not math.isfinite(top):
        return 0.0
    total, squares = 0.0, 0.0
    for log_weight in log_weights:
        weight = math.exp(log_weight - top)
        total += weight
        squares += weight * weight
    return total * total / squares / log_weights.size


@njit(cache=True)
def sizes(included):
    """How many features each row (M, d) includes."""
    counts = np.zeros(len(included), dtype=np.int64)
    for m in range(len(included)):
        for j in range(included.shape[1]):
            counts[m] += included[m, j]
    return counts
