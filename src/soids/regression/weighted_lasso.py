"""The lasso with a weight on each coefficient, from sums alone and from where one was before.

    theta' G theta / 2 - b' theta + sum of w_j |theta_j|

With ``w_j = n * alpha`` this is n times what scikit-learn and glmnet minimise: half the squares
over n, plus alpha times the l1 norm, without an intercept.

Only the rows of the gram that belong to features which are or may become active are ever asked for.
"""

from typing import Protocol

import numpy as np

from soids.arrays import Floats, Ints
from soids.kernels.descent import descend

TOLERANCE = 1e-5  # of the slopes, beside the largest weight
SWEEPS = 2000
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
            descend(square, moment[active], weights[active], values, allowed, SWEEPS)
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
