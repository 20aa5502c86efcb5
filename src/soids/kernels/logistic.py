"""The logistic likelihood of particles, with the base level integrated out by its own draw.

Notation
    scores     (M, N)  log odds of each action under each particle, without the level
    trials     (N,)    how often each action was played
    successes  (N,)    how often its reward was 1
    levels     (M,)    the base level, which is added to all log odds
"""

import math

import numpy as np

from soids.arrays import Floats
from soids.kernels.compiler import njit
from soids.kernels.threads import by_rows

STEPS = 60  # maximum number of Newton steps
LONGEST = 2.0  # step: farther away the curvature of the log likelihood is another one
EXACT = 1e-10  # a smaller step is the last


def draw_levels(scores, trials, successes, guess, normals) -> tuple[Floats, Floats]:
    """A level for each particle, and the log likelihood over the density of that draw, (M,) each.

    Levels are drawn by the normals (M,) from the Gaussian at the mode with the curvature there.
    The mean over draws of the exponential of the second is the likelihood integrated over levels.
    """
    levels, log_weights = np.empty((2, len(scores)))
    work = 40 * scores.shape[1]  # an exponential is as much work as several numbers
    by_rows(level_rows, work, len(scores), scores, trials, successes, guess, normals, levels,
            log_weights)  # fmt: skip
    return levels, log_weights


@njit(cache=True, nogil=True)
def level_rows(start, stop, scores, trials, successes, guess, normals, levels, log_weights):
    """Write the levels and weights of some particles."""
    for m in range(start, stop):
        row, level = scores[m], guess
        for _ in range(STEPS):
            slope, curvature = slope_and_curvature(row, trials, successes, level)
            step = slope / max(curvature, 1e-300)
            level += min(max(step, -LONGEST), LONGEST)
            if abs(step) < EXACT:
                break
        curvature = max(slope_and_curvature(row, trials, successes, level)[1], 1e-300)
        levels[m] = level + normals[m] / math.sqrt(curvature)
        log_likelihood = 0.0
        for n in range(row.size):
            odds = row[n] + levels[m]
            log_sum = max(odds, 0.0) + math.log1p(math.exp(-abs(odds)))
            log_likelihood += successes[n] * odds - trials[n] * log_sum
        log_weights[m] = log_likelihood + 0.5 * (normals[m] ** 2 - math.log(curvature))


@njit(cache=True)
def slope_and_curvature(row, trials, successes, level):
    """Of the log likelihood in the level."""
    slope, curvature = 0.0, 0.0
    for n in range(row.size):
        rate = 1.0 / (1.0 + math.exp(-min(max(row[n] + level, -500.0), 500.0)))
        slope += successes[n] - trials[n] * rate
        curvature += trials[n] * rate * (1.0 - rate)
    return slope, curvature
