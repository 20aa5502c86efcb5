"""How close each action comes to the best one, under the parameter that favours it most."""

import numpy as np
from numba import njit

from soids.arrays import Floats
from soids.kernels.rewards import best_rewards
from soids.kernels.rows import by_rows

BLOCK = 2048  # actions, whose closeness stays in the nearest cache while all parameters pass


def closeness(rewards, first, last) -> Floats:
    """The largest ``reward - best reward`` over the rows, of the actions from first to last."""
    best = best_rewards(rewards, np.array([first, last]))[:, 0]
    near = np.full(last - first, -np.inf)
    blocks = -(-(last - first) // BLOCK)
    by_rows(close_blocks, BLOCK * len(rewards), blocks, rewards[:, first:last], best, near)
    return near


@njit(cache=True, nogil=True)
def close_blocks(start, stop, rewards, best, near):
    """Write the closeness of some blocks of actions."""
    for first in range(start * BLOCK, min(stop * BLOCK, near.size), BLOCK):
        last = min(first + BLOCK, near.size)
        for m in range(rewards.shape[0]):
            for n in range(first, last):
                near[n] = max(near[n], rewards[m, n] - best[m])
