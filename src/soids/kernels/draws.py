"""Draws from discrete distributions: an index, and the arms that make optimism linear."""

import numpy as np
from numba import njit


@njit(cache=True)
def draw_index(scores, uniform):
    """Draw an index from the softmax of scores."""
    masses = np.exp(scores - scores.max())
    target = uniform * masses.sum()
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
