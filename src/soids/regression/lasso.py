"""The lasso with a weight for each coefficient, from sums alone.

    theta' G theta / 2 - b' theta + sum of w_j |theta_j|

With ``w_j = n * alpha`` this is n times the objective of scikit-learn and glmnet: half the squared
errors over n, plus alpha times the l1 norm, without an intercept.

The solver needs only the rows of the gram of active features. Coordinate descent, which is slow
where features are nearly dependent, finds the zeros and signs; linear equations give the rest.
"""

import math
import warnings
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from soids.arrays import Floats, Ints
from soids.evidence import Evidence
from soids.kernels.coordinate_descent import descend

TOLERANCE = 1e-8  # of the slopes at the minimum, relative to the largest weight
ROUNDING = 1e-12  # the same, relative to the largest moment
SWEEPS = 20  # of coordinate descent, before linear equations
ATTEMPTS = 100  # of both
ENTRANTS = 10  # features that may become active at a time, or as many as are active


class Products(Protocol):
    """A gram that computes rows on demand."""

    @property
    def diagonal(self) -> Floats: ...  # (d,)
    def rows(self, features: Ints) -> Floats: ...  # (n, d)


class Inner:
    """The gram of a table (n, d) with n far below d, which is never computed as a whole."""

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.diagonal: Floats = np.einsum("ij,ij->j", table, table)

    def rows(self, features: Ints) -> Floats:  # (n, d)
        products: Floats = self.table[:, features].T @ self.table
        return products


def lasso(gram: Products, moment: Floats, weights: Floats, start: Floats | None = None) -> Floats:
    """The minimiser (d,); a ``start`` near it saves time.

    >>> from soids.gram import Gram
    >>> lasso(Gram.of(np.eye(2)), np.array([3.0, 0.1]), np.array([0.5, 0.5])).tolist()
    [2.5, 0.0]
    """
    theta = np.zeros(len(moment)) if start is None else np.array(start, dtype=np.float64)
    largest = float(np.abs(moment).max())
    allowed = max(TOLERANCE * float(weights.max()), ROUNDING * largest, 1e-300)
    active = np.flatnonzero(theta)
    slope = moment
    while True:
        if active.size:
            rows, values = gram.rows(active), theta[active]
            square = np.ascontiguousarray(rows[:, active])
            minimise(square, moment[active], weights[active], values, allowed)
            theta[active] = values
            slope = moment - values @ rows
        excess = np.abs(slope) - weights
        excess[active] = 0.0
        excess[gram.diagonal <= 0.0] = 0.0  # features that are zero in all actions
        waiting = np.flatnonzero(excess > 2.0 * allowed)
        if not waiting.size:
            return theta
        room = max(ENTRANTS, active.size)
        if waiting.size > room:
            waiting = waiting[np.argpartition(excess[waiting], -room)[-room:]]
        active = np.union1d(active, waiting)


def hao_lasso(evidence: Evidence, noise: float, size: float) -> Floats:  # (d,)
    """The lasso of Hao, Lattimore & Wang (2020), for entries of actions up to ``size``.

    It minimises ``|y - X theta|^2 / n + 4 sigma size sqrt(log d / n) |theta|_1``.
    """
    dimension = len(evidence.moment)
    penalty = 4.0 * noise * size * math.sqrt(math.log(dimension) / max(evidence.rounds, 1))
    weight = 0.5 * penalty * evidence.rounds  # half, because the squares above are not halved
    return lasso(evidence.played, evidence.moment, np.full(dimension, weight))


def minimise(gram: Floats, moment: Floats, weights: Floats, theta: Floats, least: float) -> None:
    """Bring a few coefficients to the minimum, in place, up to slopes of ``least``."""
    for _ in range(ATTEMPTS):
        if descend(gram, moment, weights, theta, least, SWEEPS) < SWEEPS:
            return
        while solve_for_signs(gram, moment, weights, theta):
            pass
    remedy = "rescale the actions, or raise the penalty"
    why = f"the lasso has not converged on {len(theta)} features: {remedy}"
    warnings.warn(why, RuntimeWarning, stacklevel=3)


def solve_for_signs(gram: Floats, moment: Floats, weights: Floats, theta: Floats) -> bool:
    """Move, in place, to the minimum for these signs, and return whether one would change.

    Coefficients whose sign would change become zero; if that raises the objective, the step ends
    where the first of them is zero. Where features are dependent, the ridge makes the step a long
    one down their null space, so one of them becomes zero.
    """
    active = np.flatnonzero(theta)
    values, square = theta[active], gram[np.ix_(active, active)]
    pull = moment[active] - weights[active] * np.sign(values)
    ridged = square + np.diag(1e-12 * np.diagonal(square))
    factor, failed = dpotrf(ridged, lower=1)
    if failed or not active.size:
        return False
    goal = dpotrs(factor, pull, lower=1)[0]
    goal += dpotrs(factor, pull - square @ goal, lower=1)[0]  # the error of the ridge

    def objective(theta: Floats) -> float:
        slope = 0.5 * (square @ theta) - moment[active]
        return float(slope @ theta + weights[active] @ np.abs(theta))

    turned = goal * values < 0.0
    reached = np.where(turned, 0.0, goal)
    if turned.any() and objective(reached) > objective(values):
        shares = np.where(turned, -values / np.where(turned, goal - values, 1.0), np.inf)
        reached = values + shares.min() * (goal - values)
        reached[shares.argmin()] = 0.0
    theta[active] = reached
    return bool(turned.any())
