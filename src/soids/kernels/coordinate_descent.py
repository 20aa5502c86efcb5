"""Coordinate descent for the lasso, on the gram of a few features."""

from numba import njit


@njit(cache=True, nogil=True)
def descend(gram, moment, weights, theta, tolerance, sweeps):
    """Lower ``theta' gram theta / 2 - moment' theta + weights' |theta|`` in place, one coordinate
    after the other, until a sweep changes no slope by more than the tolerance.

    Returns the sweeps made.
    """
    size = theta.size
    slope = moment.copy()
    for j in range(size):
        if theta[j] != 0.0:
            row = gram[j]
            for i in range(size):
                slope[i] -= theta[j] * row[i]
    for sweep in range(sweeps):
        moved = 0.0
        for j in range(size):
            row = gram[j]
            curvature = row[j]
            if curvature <= 0.0:  # the feature is zero in all actions
                theta[j] = 0.0
                continue
            pull = slope[j] + curvature * theta[j]
            rest = abs(pull) - weights[j]
            new = 0.0
            if rest > 0.0:
                new = rest / curvature if pull > 0.0 else -rest / curvature
            step = new - theta[j]
            if step != 0.0:
                theta[j] = new
                for i in range(size):
                    slope[i] -= step * row[i]
                moved = max(moved, abs(step) * curvature)
        if moved <= tolerance:
            return sweep + 1
    return sweeps
