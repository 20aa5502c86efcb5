"""Small loops in place of NumPy's calls, whose general versions take a second each to compile."""

import math

import numpy as np

from soids.kernels.compiler import njit


@njit(cache=True)
def overwrite(vector, values):
    """Write values over a vector of the same size."""
    for i in range(vector.size):
        vector[i] = values[i]


@njit(cache=True)
def l1_norm(vector):
    """The l1 norm, summed in order."""
    total = 0.0
    for value in vector:
        total += abs(value)
    return total


@njit(cache=True)
def largest(vector):
    """The largest entry, or NaN if there is one."""
    top = -np.inf
    for value in vector:
        if math.isnan(value):
            return value
        top = max(top, value)
    return top


@njit(cache=True)
def put(vector, indices, values):
    """Write values to some places of a vector."""
    for i in range(indices.size):
        vector[indices[i]] = values[i]
