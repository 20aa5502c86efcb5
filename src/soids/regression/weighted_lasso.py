"""The lasso with a weight on each coefficient, from sums alone and from where one was before.

    theta' G theta / 2 - b' theta + sum of w_j |theta_j|

With ``w_j = n * alpha`` this is n times what scikit-learn and glmnet minimise: half the squares
over n, plus alpha times the l1 norm, without an intercept.

Only the rows of the gram that belong to features which are or may become active are ever asked for.
Among these coordinate descent finds out who is zero; where features are nearly dependent it would
take thousands of sweeps to find the rest, which given their signs solve linear equations.
"""

from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dposv

from soids.arrays import Floats, Ints
from soids.kernels.coordinate_descent import descend

TOLERANCE = 1e-5  # of the slopes, beside the largest weight
SWEEPS = 20  # of coordinate descent, before a leap
LEAPS = 100
ENTRANTS = 10  # features that may enter at a time, or as many as there are


class Products(Protocol):
    """A gram that answers with rows."""

    @property
    def diagonal(self) -> Floats: ...  # (d,)

    def rows(self, features: Ints) -> Floats: ...  # (n, d)


class Inner:
    """The gram of a few wide rows (n, d), n far below d: never made as a whole."""

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.diagonal: Floats = np.einsum("ij,ij->j", table, table)

    def rows(self, features: Ints) -> Floats:  # (n, d)
        """The rows of some features."""
        products: Floats = self.table[:, features].T @ self.table
        return products


def weighted_lasso(
    gram: Products,
    moment: Floats,
    weights: Floats,
    start: Floats,
    tolerance: float = TOLERANCE,
) -> Floats:  # (d,)
    """The minimiser, searched from ``start`` on.

    >>> from soids.gram import Gram
    >>> gram, moment = Gram.of(np.eye(2)), np.array([3.0, 0.1])
    >>> weighted_lasso(gram, moment, np.array([0.5, 0.5]), np.zeros(2)).tolist()
    [2.5, 0.0]
    """
    theta = np.array(start, dtype=np.float64)
    allowed = tolerance * max(float(weights.max()), 1e-6 * float(np.abs(moment).max()), 1e-300)
    active = np.flatnonzero(theta)
    slope = moment
    while True:
        if active.size:
            rows = gram.rows(active)
            values = theta[active]
            square = np.ascontiguousarray(rows[:, active])
            search(square, moment[active], weights[active], values, allowed)
            theta[active] = values
            slope = moment - values @ rows
        excess = np.abs(slope) - weights
        excess[active] = 0.0
        excess[gram.diagonal <= 0.0] = 0.0  # never seen
        waiting = np.flatnonzero(excess > 2.0 * allowed)
        if not waiting.size:
            return theta
        room = max(ENTRANTS, active.size)
        if waiting.size > room:
            waiting = waiting[np.argpartition(excess[waiting], -room)[-room:]]
        active = np.union1d(active, waiting)


def search(gram: Floats, moment: Floats, weights: Floats, theta: Floats, tolerance: float) -> None:
    """Bring a few features' coefficients to the minimum, in place."""
    for _ in range(LEAPS):
        if descend(gram, moment, weights, theta, tolerance, SWEEPS) < SWEEPS:
            return
        while leap(gram, moment, weights, theta):
            pass


def leap(gram: Floats, moment: Floats, weights: Floats, theta: Floats) -> bool:
    """Go, in place, to where the minimum would be if all signs were right; coefficients that would
    change theirs become zero on the way, or, if that is not downhill, the first of them does.

    Returns whether there were any: then it is not where it meant to go.
    """
    active = np.flatnonzero(theta)
    if not active.size:
        return False
    values, square = theta[active], gram[np.ix_(active, active)]
    _, goal, failed = dposv(square, moment[active] - weights[active] * np.sign(values), lower=1)
    if failed:
        return False

    def height(place: Floats) -> float:
        slope = 0.5 * (square @ place) - moment[active]
        return float(slope @ place + weights[active] @ np.abs(place))

    turned = goal * values < 0.0
    reached = np.where(turned, 0.0, goal)
    if turned.any() and height(reached) > height(values):
        shares = np.where(turned, -values / np.where(turned, goal - values, 1.0), np.inf)
        reached = values + shares.min() * (goal - values)
        reached[shares.argmin()] = 0.0
    theta[active] = reached
    return bool(turned.any())
