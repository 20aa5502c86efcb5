"""Coordinate descent for the lasso, on the gram of a few features."""

from soids.kernels.compiler import njit


@njit(cache=True, nogil=True)
def descend(gram, moment, weights, theta, tolerance, sweeps):
    """Minimise ``theta' gram theta / 2 - moment' theta + weights' |theta|`` in place, until a sweep
    changes no slope by more than the tolerance; returns the number of sweeps.
    """
    size, slope = theta.size, moment.copy()
    for j in range(size):
        if theta[j] != 0.0:
            for i in range(size):
                slope[i] -= theta[j] * gram[j, i]
    for sweep in range(sweeps):
        moved = 0.0
        for j in range(size):
            row, curvature = gram[j], gram[j, j]
            if curvature <= 0.0:  # the feature is zero in all actions
                theta[j] = 0.0
                continue
            pull = slope[j] + curvature * theta[j]
            rest, new = abs(pull) - weights[j], 0.0
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
