"""Draws from discrete distributions: an index, and the arms that make optimism linear."""

import numpy as np

from soids.kernels.compiler import njit

NEGLIGIBLE = -50.0  # log odds against the best: a million such weigh less than its rounding
BLOCK = 16  # masses that are summed at once


@njit(cache=True, fastmath={"nnan", "nsz"})
def highest(scores):
    """The largest of some scores; four run side by side, so that no comparison waits."""
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
    """Write ``exp(scale * (scores - top))`` where no score exceeds top, zero where negligible.

    The loop has no calls and no branches, so the processor computes several entries at once. A
    short series at a 1024th of the exponent, squared ten times, has an error below 1e-13.
    """
    for i in range(scores.size):
        fall = scale * (scores[i] - top)
        x = max(fall, NEGLIGIBLE) * (1 / 1024)
        share = 1 / 5040 + x / 40320
        share = 1 / 24 + x * (1 / 120 + x * (1 / 720 + x * share))
        share = 1.0 + x * (1.0 + x * (0.5 + x * (1 / 6 + x * share)))
        share **= 4  # written out: an inner loop would stop the processor from doing several
        share **= 4
        share **= 4
        share **= 4
        share **= 4
        shares[i] = share if fall > NEGLIGIBLE else 0.0


@njit(cache=True)
def total(masses):
    """The sum of some masses; four sums run side by side, so that no addition waits."""
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
    while index + BLOCK < masses.size:  # additions wait for each other: first in large steps
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
    """Draw one arm per action set from the softmax of its tilted rewards; write arms and pull."""
    pull[:] = 0.0
    for menu in range(tilts.size):
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
        if tilt == 0.0:
            continue
        arms[menu] = first + draw_index(tilt * rewards[first:last], uniforms[menu])
    for j in range(pull.size):  # features outside, as actions are stored feature by feature
        for menu in range(tilts.size):
            if tilts[menu] != 0.0:
                pull[j] += tilts[menu] * columns[j, arms[menu]]
