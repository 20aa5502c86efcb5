"""Draws from discrete distributions: an index, and the arms that make optimism linear."""

import numpy as np
from numba import njit

# Log odds against the best below which an alternative counts for nothing: a million of them weigh
# less than the rounding of the best.
NEGLIGIBLE = -50.0
BLOCK = 16


@njit(cache=True, fastmath={"nnan", "nsz"})
def highest(scores):
    """The largest of some scores; four at a time, as no comparison has to wait for the last."""
    a = b = c = d = -np.inf
    even = scores.size - scores.size % 4
    for i in range(0, even, 4):
        a, b = max(a, scores[i]), max(b, scores[i + 1])
        c, d = max(c, scores[i + 2]), max(d, scores[i + 3])
    for i in range(even, scores.size):
        a = max(a, scores[i])
    return max(max(a, b), max(c, d))


@njit(cache=True, fastmath={"nnan", "nsz"})
def write_shares(scores, scale, top, shares):
    """Write ``exp(scale * (scores - top))`` for a top that none exceeds, zero where negligible.

    Without calls and branches, so that the processor takes several at once: a short series at a
    1024th of the exponent, squared ten times, is good to 1e-13.
    """
    for i in range(scores.size):
        fall = scale * (scores[i] - top)
        x = max(fall, NEGLIGIBLE) * (1 / 1024)
        share = 1 / 5040 + x / 40320
        share = 1 / 24 + x * (1 / 120 + x * (1 / 720 + x * share))
        share = 1.0 + x * (1.0 + x * (0.5 + x * (1 / 6 + x * share)))
        share **= 4  # written out, as an inner loop would be taken one by one
        share **= 4
        share **= 4
        share **= 4
        share **= 4
        shares[i] = share if fall > NEGLIGIBLE else 0.0


@njit(cache=True)
def total(masses):
    """The sum of some masses; four at a time, as no addition has to wait for the last."""
    a = b = c = d = 0.0
    even = masses.size - masses.size % 4
    for i in range(0, even, 4):
        a, b = a + masses[i], b + masses[i + 1]
        c, d = c + masses[i + 2], d + masses[i + 3]
    for i in range(even, masses.size):
        a += masses[i]
    return (a + b) + (c + d)


@njit(cache=True)
def pick(masses, uniform):
    """Draw an index in proportion to masses."""
    target, reached, index = uniform * total(masses), 0.0, 0
    while index + BLOCK < masses.size:  # sums wait for each other: first in large steps
        further = reached + total(masses[index : index + BLOCK])
        if further > target:
            break
        reached, index = further, index + BLOCK
    reached += masses[index]
    while reached <= target and index < masses.size - 1:
        index += 1
        reached += masses[index]
    while masses[index] == 0.0 and index > 0:  # sums in another order may fall short of the target
        index -= 1
    return index


@njit(cache=True)
def draw_index(scores, uniform):
    """Draw an index from the softmax of scores, one of which must be finite."""
    masses = np.empty(scores.size)
    write_shares(scores, 1.0, highest(scores), masses)
    return pick(masses, uniform)


@njit(cache=True)
def draw_arms(rewards, starts, tilts, columns, uniforms, arms, pull):
    """Draw one arm per menu from the softmax of its tilted rewards; write them and their pull."""
    pull[:] = 0.0
    for menu in range(tilts.size):
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
        if tilt == 0.0:
            continue
        arms[menu] = first + draw_index(tilt * rewards[first:last], uniforms[menu])
    for j in range(pull.size):  # along the features, as actions lie feature by feature
        for menu in range(tilts.size):
            if tilts[menu] != 0.0:
                pull[j] += tilts[menu] * columns[j, arms[menu]]
