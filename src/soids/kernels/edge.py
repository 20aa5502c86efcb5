"""The search for the two actions between which the least information ratio lies."""

import numpy as np
from numba import njit


@njit(cache=True)
def best_edge(regret, gain, power):
    """The edge of the upper hull of (regret, gain) that holds the least ratio.

    Between the action of least regret and the one of most gain, the farthest point above the chord
    is a vertex of the hull; there the ratio's slope along the chord tells on which side the minimum
    lies. What is cut off is never looked at again, so the cost is of the order of K.
    """
    left, right = 0, 0
    for k in range(regret.size):
        if regret[k] < regret[left] or (regret[k] == regret[left] and gain[k] > gain[left]):
            left = k
        if gain[k] > gain[right] or (gain[k] == gain[right] and regret[k] < regret[right]):
            right = k
    between = np.arange(regret.size)
    while left != right:
        dearer = regret[right] - regret[left]
        richer = gain[right] - gain[left]
        vertex, height, count = left, 0.0, 0
        for k in between:
            above = (gain[k] - gain[left]) * dearer - (regret[k] - regret[left]) * richer
            if above > 0.0 and regret[left] < regret[k] < regret[right]:
                between[count] = k
                count += 1
                if above > height:
                    vertex, height = k, above
        between = between[:count]
        if count == 0:
            break
        if power * dearer * gain[vertex] < richer * regret[vertex]:
            left = vertex
        else:
            right = vertex
    return left, right
