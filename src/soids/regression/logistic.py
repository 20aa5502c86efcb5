"""Logistic regression from counts: the mode under a Gaussian prior."""

import numpy as np
from scipy.special import expit

from soids.arrays import Floats
from soids.tally import Tally

STEPS = 100  # maximum number of Newton steps
TOLERANCE = 1e-9  # of the log density, relative


def logistic_mode(tally: Tally, precision: float) -> Floats:  # (1 + d,)
    """The level and the parameter of largest density; parameters are N(0, 1 / precision).

    Newton's method with halved steps: the log density is concave.

    >>> tally = Tally(np.array([[1.0], [-1.0]]), np.array([10.0, 10.0]), np.array([9.0, 1.0]))
    >>> logistic_mode(tally, precision=1e-9).round(4).tolist()  # log odds of 9 to 1
    [0.0, 2.1972]
    """
    design = np.column_stack([np.ones(len(tally.trials)), tally.actions])
    prior = np.full(design.shape[1], precision)
    prior[0] = 0.0

    def log_density(mode: Floats) -> float:
        odds = design @ mode
        fit = tally.successes @ odds - tally.trials @ np.logaddexp(0.0, odds)
        return float(fit - 0.5 * prior @ mode**2)

    mode = np.zeros(design.shape[1])
    mode[0] = np.log(tally.rate / (1.0 - tally.rate))
    value = log_density(mode)
    for _ in range(STEPS):
        rates = expit(design @ mode)
        slope = design.T @ (tally.successes - tally.trials * rates) - prior * mode
        weights = tally.trials * rates * (1.0 - rates)
        step = np.linalg.solve((design.T * weights) @ design + np.diag(prior), slope)
        while (after := log_density(mode + step)) < value and np.abs(step).max() > TOLERANCE:
            step *= 0.5
        if after <= value + TOLERANCE * (1.0 + abs(value)):
            break
        mode, value = mode + step, after
    return mode
