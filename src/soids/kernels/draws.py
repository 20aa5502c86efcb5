"""Draws from discrete distributions: an index, and the arms that make optimism linear."""

import math

import numpy as np
from numba import njit

# Log odds against the best below which an alternative counts for nothing: a million of them weigh
# less than the rounding of the best.
NEGLIGIBLE = -50.0


@njit(cache=True, fastmath={"nnan", "nsz"})  # the order of comparisons is the processor's to choose
def highest(scores):
    """The largest of some scores."""
    top = -np.inf
    for i in range(scores.size):
        top = max(top, scores[i])
    return top


@njit(cache=True)
def draw_index(scores, uniform):
    """Draw an index from the softmax of scores."""
    top = highest(scores)
    masses = np.zeros(scores.size)
    total = 0.0
    for i in range(scores.size):
        if scores[i] - top > NEGLIGIBLE:
            masses[i] = math.exp(scores[i] - top)
            total += masses[i]
    target = uniform * total
    index = 0
    reached = masses[0]
    while reached <= target and index < masses.size - 1:
        index += 1
        reached += masses[index]
    return index


@njit(cache=True)
def draw_arms(rewards, starts, tilts, columns, uniforms, arms, pull):
    """Draw one arm per menu from the softmax of its tilted rewards; write them and their pull."""
    pull[:] = 0.0
    for menu in range(tilts.size):
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
        if tilt == 0.0:
            continue
        arms[menu] = first + draw_index(tilt * rewards[first:last], uniforms[menu])
        for j in range(pull.size):
            pull[j] += tilt * columns[j, arms[menu]]
