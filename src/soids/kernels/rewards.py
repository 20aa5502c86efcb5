"""The rewards of all actions under all parameters, at a cost that counts only active features.

A block of actions stays in the cache while the loop runs over the parameters. Every reward is the
sum of its features' shares in order, so a result depends neither on the blocks nor on the threads.
"""

import numpy as np
from numba import njit

from soids.arrays import Floats
from soids.kernels.categorical import highest
from soids.kernels.threads import by_rows

BLOCK = 512  # actions: with 100 features they fill a quarter of a common second-level cache
NEAR_BLOCK = 2048  # actions, whose closeness stays in the nearest cache


def all_rewards(thetas, columns) -> Floats:
    """The rewards of all actions under all parameters, (M, N)."""
    rewards = np.empty((thetas.shape[0], columns.shape[1]))
    by_rows(reward_rows, columns.shape[1], len(thetas), thetas, columns, rewards)
    return rewards


@njit(cache=True, nogil=True)
def reward_rows(start, stop, thetas, columns, rewards):
    """Write the rewards under some parameters."""
    supports = [support(thetas[m]) for m in range(start, stop)]
    for first in range(0, columns.shape[1], BLOCK):
        last = min(first + BLOCK, columns.shape[1])
        for m in range(start, stop):
            add_shares(first, thetas[m], supports[m - start], columns, rewards[m, first:last])


def best_rewards(rewards, starts) -> Floats:
    """The best reward of each action set under every parameter, (M, B)."""
    best = np.empty((len(rewards), len(starts) - 1))
    by_rows(best_rows, rewards.shape[1], len(rewards), rewards, starts, best)
    return best


@njit(cache=True, nogil=True)
def best_rows(start, stop, rewards, starts, best):
    """Write the best rewards under some parameters."""
    for m in range(start, stop):
        for menu in range(best.shape[1]):
            best[m, menu] = highest(rewards[m, starts[menu] : starts[menu + 1]])


def closeness(rewards, first, last) -> Floats:
    """The largest ``reward - best reward`` over the rows, of the actions from first to last."""
    best = best_rewards(rewards, np.array([first, last]))[:, 0]
    near, blocks = np.full(last - first, -np.inf), -(-(last - first) // NEAR_BLOCK)
    by_rows(close_blocks, NEAR_BLOCK * len(rewards), blocks, rewards[:, first:last], best, near)
    return near


@njit(cache=True, nogil=True)
def close_blocks(start, stop, rewards, best, near):
    """Write the closeness of some blocks of actions."""
    for first in range(start * NEAR_BLOCK, min(stop * NEAR_BLOCK, near.size), NEAR_BLOCK):
        last = min(first + NEAR_BLOCK, near.size)
        for m in range(rewards.shape[0]):
            for n in range(first, last):
                near[n] = max(near[n], rewards[m, n] - best[m])


@njit(cache=True)
def support(theta):
    """The features whose value is not zero, without a branch, which would be mispredicted."""
    active, n = np.empty(theta.size, dtype=np.int64), 0
    for j in range(theta.size):
        active[n] = j
        n += theta[j] != 0.0
    return active[:n]


@njit(cache=True)
def write_rewards(theta, columns, rewards):
    """Write the rewards of all actions under theta."""
    add_shares(0, theta, support(theta), columns, rewards)


@njit(cache=True, nogil=True)
def add_shares(first, theta, active, columns, rewards):
    """Write the rewards of some actions; four features at a time save three of four writes."""
    last = first + rewards.size
    rewards[:] = 0.0
    whole = active.size - active.size % 4
    for i in range(0, whole, 4):
        f, g, h, j = active[i], active[i + 1], active[i + 2], active[i + 3]
        a, b, c, d = theta[f], theta[g], theta[h], theta[j]
        p, q = columns[f, first:last], columns[g, first:last]
        r, s = columns[h, first:last], columns[j, first:last]
        for n in range(rewards.size):
            rewards[n] = rewards[n] + a * p[n] + b * q[n] + c * r[n] + d * s[n]
    for i in range(whole, active.size):
        weight, column = theta[active[i]], columns[active[i], first:last]
        for n in range(rewards.size):
            rewards[n] += weight * column[n]
