"""Regret, gain and the best action under weighted parameters, in one pass over the rewards.

Notation
    rewards  (M, K)  of every action under every parameter
    weights  (M,)    non-negative, sum to one
    pivots   (M,)    the best rewards of the first block, near which all sums are taken

A block of actions stays in the cache while the sums run over the parameters, so the rewards are
read from memory once. Every sum runs over the parameters in order, so a result depends neither on
the blocks nor on the threads. Rounding keeps order, so no regret is ever below zero.
"""

import numpy as np

from soids.arrays import Floats, Ints
from soids.kernels.categorical import highest
from soids.kernels.compiler import njit
from soids.kernels.threads import by_rows

BLOCK = 512  # actions: a page of memory, and with 100 parameters half a second-level cache


def regret_and_gain(rewards, weights) -> tuple[Floats, Floats]:
    """Surrogate regret and gain (K,) of each action."""
    size, count = rewards.shape
    blocks, pivots = -(-count // BLOCK), rewards[:, :BLOCK].max(axis=1)
    regret, gain, peaks = np.empty(count), np.empty(count), np.empty((blocks, size))
    by_rows(appraise_blocks, size * BLOCK, blocks, rewards, weights, pivots, regret, gain, peaks)
    if blocks > 1:
        regret += lead(peaks, weights, pivots)
    return regret, gain


def regrets_and_gains(rewards, starts, weights) -> tuple[Floats, Floats]:
    """Surrogate regret and gain (N,) of each action within its own action set."""
    menus, (size, count) = len(starts) - 1, rewards.shape
    if menus == 1:  # a set that may be large: threads share it, and nothing is copied
        return regret_and_gain(rewards, weights)
    regret, gain = np.empty(count), np.empty(count)
    by_rows(appraise_menus, size * count // menus, menus, rewards, starts, weights, regret, gain)
    return regret, gain


@njit(cache=True, nogil=True)
def appraise_menus(start, stop, rewards, starts, weights, regret, gain):
    """Write the regret and gain of the actions of some action sets."""
    for menu in range(start, stop):
        first, last = starts[menu], starts[menu + 1]
        own, pivots = rewards[:, first:last].copy(), np.empty(weights.size)  # rows without gaps
        for m in range(weights.size):
            pivots[m] = highest(own[m, :BLOCK])
        blocks = -(-own.shape[1] // BLOCK)
        short, peaks = regret[first:last], np.empty((blocks, weights.size))
        appraise_blocks(0, blocks, own, weights, pivots, short, gain[first:last], peaks)
        if blocks > 1:
            short += lead(peaks, weights, pivots)


@njit(cache=True, nogil=True)
def appraise_blocks(start, stop, rewards, weights, pivots, regret, gain, peaks):
    """Write the shortfall from the pivots, the gain, and the best rewards of some blocks."""
    for block in range(start, stop):
        first, last = block * BLOCK, min((block + 1) * BLOCK, rewards.shape[1])
        short, variance, mean = regret[first:last], gain[first:last], np.zeros(last - first)
        short[:], variance[:] = 0.0, 0.0
        for m in range(weights.size):
            row, weight, pivot = rewards[m, first:last], weights[m], pivots[m]
            for k in range(row.size):
                short[k] += weight * (pivot - row[k])
                mean[k] += weight * row[k]
            peaks[block, m] = highest(row) if block > 0 else pivot
        for m in range(weights.size):
            row, half = rewards[m, first:last], 0.5 * weights[m]
            for k in range(row.size):
                variance[k] += half * (row[k] - mean[k]) ** 2


@njit(cache=True, nogil=True)
def lead(peaks, weights, pivots):
    """How far the best rewards lie above the pivots, on average: to the last bit, minus the
    shortfall of an action that is best under every parameter.
    """
    total = 0.0
    for m in range(weights.size):
        total += weights[m] * (pivots[m] - highest(peaks[:, m]))
    return -total


def winners(rewards, actions) -> Ints:
    """The best action (M,) under each parameter; of ties, the first with the fewest features."""
    best = np.empty(len(rewards), dtype=np.int64)
    work = rewards.shape[1] // 8  # a comparison is little work
    by_rows(winner_rows, work, len(rewards), rewards, actions, best)
    return best


@njit(cache=True, nogil=True)
def winner_rows(start, stop, rewards, actions, best):
    """Write the best actions under some parameters."""
    for m in range(start, stop):
        row, winner = rewards[m], -1
        largest = highest(row)
        for k in range(row.size):
            if row[k] == largest and (winner < 0 or has_fewer(actions[k], actions[winner])):
                winner = k
        best[m] = winner


@njit(cache=True, nogil=True)
def has_fewer(action, other):
    """Whether one action has fewer features than another: asked of ties only, as it takes long."""
    return np.count_nonzero(action) < np.count_nonzero(other)
