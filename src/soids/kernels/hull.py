"""Actions that may have the least information ratio: two of one action set, or a few of each."""

import numpy as np
from numba import njit


@njit(cache=True)
def best_edge(regret, gain, power):
    """The edge of the upper hull of (regret, gain) that holds the least ratio, in time of order K.

    The farthest point above a chord is a vertex of the hull. The ratio's slope along the chord says
    on which side of the vertex the minimum lies; points on the other side are dropped.
    """
    left, right = 0, 0
    for k in range(regret.size):
        if regret[k] < regret[left] or (regret[k] == regret[left] and gain[k] > gain[left]):
            left = k
        if gain[k] > gain[right] or (gain[k] == gain[right] and regret[k] < regret[right]):
            right = k
    between = np.arange(regret.size)
    while left != right:
        dearer, richer = regret[right] - regret[left], gain[right] - gain[left]
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


@njit(cache=True)
def frontiers(regret, gain, starts):
    """The actions that are best at some price of information, and where each action set begins.

    They are, by rising regret, the actions with more gain than all of no more regret in their set;
    of equal ones the first.

    >>> regret, gain = np.array([2.0, 1.0, 3.0, 1.0]), np.array([5.0, 1.0, 4.0, 2.0])
    >>> [found.tolist() for found in frontiers(regret, gain, np.array([0, 4]))]
    [[3, 0], [0, 2]]
    """
    kept, begins = np.empty(regret.size, dtype=np.int64), np.zeros_like(starts)
    for menu in range(starts.size - 1):
        first, count = starts[menu], begins[menu]
        for k in first + np.argsort(regret[first : starts[menu + 1]], kind="mergesort"):
            if count > begins[menu] and gain[k] <= gain[kept[count - 1]]:
                continue
            if count == begins[menu] or regret[k] != regret[kept[count - 1]]:
                count += 1  # else it takes the place of one with the same regret
            kept[count - 1] = k
        begins[menu + 1] = count
    return kept[: begins[-1]], begins
