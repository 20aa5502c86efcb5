"""An interior-point method for designs, with a certificate of optimality.

All designs minimise ``sum(w)`` over weights ``w >= 0`` for which the moments
``Q = sum_k w_k a_k a_k'`` are large enough. Newton's method follows the central path, the
minimisers of ``multiplier * sum(w) + barrier(w) - sum(log(w))`` as the multiplier grows. It keeps a
working set, which actions join when they violate the dual constraint, so that large action sets
take little time.

Notation
    rows     (K, d)  actions, in any basis
    weights  (K,)    not normalised: their total is what is minimised
    scores   (K,)    ``a_k' M a_k`` for a dual matrix M: at the optimum, the same wherever w_k > 0
"""

import math
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr

from soids.arrays import Floats, Ints

CLOSE = 1.0  # squared Newton decrement below which steps converge quadratically
STEPS = 100  # for one multiplier: several times as many as any action set tried has needed
FINEST = 1e-7  # relative gap: double precision certifies little below


class Dual(NamedTuple):
    """Bounds on the least total: ``reach / max(scores) <= least <= total``."""

    total: float  # of the weights, scaled down until they only just meet the criterion
    matrix: Floats  # (d, d)  its scores are minus the slopes of the barrier
    reach: float


class Criterion(Protocol):
    """The criterion that moments must meet; twice the identity always does."""

    def barrier(self, rows: Floats, weights: Floats) -> float:
        """The barrier, infinite where the criterion is not met."""

    def derivatives(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """The slopes (K,) and the hessian (K, K) of the barrier."""

    def dual(self, rows: Floats, weights: Floats) -> Dual:
        """The bounds that weights inside the barrier prove."""


class Answer(NamedTuple):
    """Weights that meet the criterion, and bounds on the least total."""

    weights: Floats  # (K,)  normalised to one
    total: float
    bound: float

    @property
    def gap(self) -> float:
        return self.total / self.bound - 1.0


def least_total(criterion: Criterion, rows: Floats, tolerance: float) -> Answer:
    """The least total of weights on rows that span the space, to a relative tolerance if it can."""
    working = first_working_set(rows)
    weights = safe_weights(rows[working])
    multiplier = sum(rows[working].shape) / weights.sum()
    best, _ = certify(criterion, rows, working, weights)
    steps_left = STEPS
    while steps_left and best.gap > tolerance:
        steps_left -= 1
        try:
            step, decrement = newton_step(criterion, rows[working], weights, multiplier)
        except np.linalg.LinAlgError:  # the multiplier is at the limit of precision
            break
        weights = line_search(criterion, rows[working], weights, multiplier, step, decrement)
        if decrement > CLOSE:
            continue
        here, scores = certify(criterion, rows, working, weights)
        best = min(best, here, key=lambda answer: answer.gap)
        slack = sum(rows[working].shape) / weights.sum()  # over the multiplier: the gap to expect
        enough = slack * (1.0 + 2.0 / max(tolerance, FINEST))
        joining = violations(scores, working, multiplier + slack, limit=max(rows.shape[1], 20))
        if len(joining):
            working = np.concatenate([working, joining])
            weights = np.concatenate([weights, np.full(len(joining), 1.0 / multiplier)])
            steps_left = STEPS
        elif multiplier < enough:
            multiplier = min(10.0 * multiplier, enough)
            steps_left = STEPS
    return best


def certify(
    criterion: Criterion, rows: Floats, working: Ints, weights: Floats
) -> tuple[Answer, Floats]:
    """The answer that the weights of a working set prove for all rows, and the scores of these."""
    dual = criterion.dual(rows[working], weights)
    scores = ((rows @ dual.matrix) * rows).sum(axis=1)
    law = np.zeros(len(rows))
    law[working] = weights / weights.sum()
    return Answer(law, dual.total, dual.reach / float(scores.max())), scores


def first_working_set(rows: Floats) -> Ints:
    """Actions that span the space, and the longest."""
    dimension = rows.shape[1]
    lengths = np.linalg.norm(rows, axis=1)
    units = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    _, order = qr(units.T, mode="r", pivoting=True)
    longest = np.argsort(-lengths, kind="stable")[: max(4 * dimension, 100)]
    return np.union1d(order[:dimension], longest)


def safe_weights(rows: Floats) -> Floats:
    """Weights whose moments are at least twice the identity; longer actions have smaller ones."""
    squares = (rows**2).sum(axis=1)
    weights = np.asarray(1.0 / np.where(squares > 0.0, squares, 1.0))
    return weights * (2.0 / float(np.linalg.eigvalsh(moments(rows, weights))[0]))


def moments(rows: Floats, weights: Floats) -> Floats:
    """The second moments ``sum_k w_k a_k a_k'``."""
    return np.asarray(rows.T @ (weights[:, None] * rows))


def violations(scores: Floats, working: Ints, multiplier: float, limit: int) -> Ints:
    """The actions outside the working set with the highest scores above the multiplier."""
    outside = scores.copy()
    outside[working] = -math.inf
    first = np.argsort(-outside, kind="stable")[:limit]
    return first[outside[first] > multiplier]


def newton_step(
    criterion: Criterion, rows: Floats, weights: Floats, multiplier: float
) -> tuple[Floats, float]:
    """The Newton direction relative to the weights, and its squared decrement."""
    slopes, hessian = criterion.derivatives(rows, weights)
    slopes = weights * (multiplier + slopes) - 1.0
    hessian *= weights[:, None]
    hessian *= weights
    # Equal actions make the rest singular, and at high multiplier rounding would absorb the ones.
    hessian[np.diag_indices_from(hessian)] *= 1.0 + 1e-14
    hessian[np.diag_indices_from(hessian)] += 1.0
    step: Floats = -cho_solve(cho_factor(hessian, lower=True, overwrite_a=True), slopes)
    return step, -float(slopes @ step)


def line_search(
    criterion: Criterion, rows: Floats, weights: Floats, multiplier: float, step: Floats,
    decrement: float,
) -> Floats:  # fmt: skip
    """The weights after as much of the step as stays inside and lowers the objective."""

    def objective(weights: Floats) -> float:
        inside = multiplier * weights.sum() - np.log(weights).sum()
        return float(inside) + criterion.barrier(rows, weights)

    before = objective(weights)
    length = min(1.0, 0.95 / max(-float(step.min()), 1e-300))
    while length > 1e-12:
        after: Floats = weights * (1.0 + length * step)
        lowered = objective(after)
        is_lower = lowered <= before - 0.1 * length * decrement
        # Close to the centre the objective changes by less than its rounding: Newton is right.
        if is_lower or (decrement < 1e-3 and math.isfinite(lowered)):
            return after
        length *= 0.5
    return weights
