"""Norms of actions, one by one: equal actions get equal norms, to the last bit, in any company."""

import math

import numpy as np

from soids.kernels.compiler import njit
from soids.kernels.vectors import overwrite


@njit(cache=True, nogil=True)
def lengths_of(chosen, actions, factor):
    """Norms of some actions in the inverse of ``factor factor'``, by forward substitution."""
    lengths, rest = np.empty(chosen.size), np.empty(factor.shape[0])
    for i in range(chosen.size):
        overwrite(rest, actions[chosen[i]])
        square = 0.0
        for j in range(rest.size):
            share = rest[j] / factor[j, j]
            square += share * share
            below, column = rest[j + 1 :], factor[j + 1 :, j]
            for k in range(below.size):
                below[k] -= share * column[k]
        lengths[i] = math.sqrt(square)
    return lengths
