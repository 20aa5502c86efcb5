"""Exploratory designs: how to spread plays over a menu so that no direction stays unseen."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats


class Design(NamedTuple):
    """A distribution over actions, the value it reaches, and a certified bound on what any other
    could.
    """

    weights: Floats  # (K,)
    value: float
    bound: float


def exploratory_design(actions: Floats, tolerance: float = 1e-6) -> Design:
    """The design whose second-moment matrix has the largest smallest eigenvalue, ``C_min``.

    The value is zero if the actions do not span the space. Recent answers are remembered, because
    learning rates ask for the same menu in every round.

    >>> design = exploratory_design(np.eye(4))
    >>> round(design.value, 6), design.weights.round(3).tolist()
    (0.25, [0.25, 0.25, 0.25, 0.25])
    """
    rows = np.ascontiguousarray(actions, dtype=np.float64)
    return solved(rows.tobytes(), rows.shape, tolerance)


@lru_cache(maxsize=16)
def solved(buffer: bytes, shape: tuple[int, int], tolerance: float) -> Design:
    """The exploratory design of the actions in a buffer.

    Solved on a small working set of actions, which grows by those that the dual certificate finds
    wanting.
    """
    actions = np.frombuffer(buffer).reshape(shape)
    count, dimension = shape
    lengths = (actions**2).sum(axis=1)
    unit = float(lengths.max()) or 1.0
    rows = actions / np.sqrt(unit)
    working = np.sort(np.argsort(-lengths, kind="stable")[: max(3 * dimension, 200)])
    while True:
        weights, value, dual = centre(rows[working], tolerance)
        scores = ((rows @ dual) * rows).sum(axis=1)
        if scores.max() <= value + 2.0 * tolerance or len(working) == count:
            break
        wanting = np.argsort(-scores, kind="stable")[:dimension]
        larger = np.union1d(working, wanting[scores[wanting] > value])
        if len(larger) == len(working):  # all that could help is there: the bound tells the gap
            break
        working = larger
    spread = np.zeros(count)
    spread[working] = weights
    spread.flags.writeable = False
    return Design(spread, max(value, 0.0) * unit, float(scores.max()) * unit)


def centre(rows: Floats, tolerance: float) -> tuple[Floats, float, Floats]:
    """Follow the central path of ``max t : sum w_k a_k a_k' >= t I`` to a gap below the tolerance.

    Returns the weights, their smallest eigenvalue, and the dual matrix (trace one).
    """
    count, dimension = rows.shape
    weights = np.full(count, 1.0 / count)
    level = float(np.linalg.eigvalsh(rows.T @ (weights[:, None] * rows))[0]) - 1.0 / dimension
    barrier = 1.0 / (count + dimension)
    while True:
        for _ in range(50):
            step, decrement = newton_step(rows, weights, level, barrier)
            length = longest_step(rows, weights, level, step)
            weights = weights + length * step[:count]
            level += length * float(step[count])
            if decrement < 1e-4:
                break
        inverse = np.linalg.inv(slack(rows, weights, level))
        if barrier * (count + dimension) < tolerance:
            weights = weights / weights.sum()
            value = float(np.linalg.eigvalsh(rows.T @ (weights[:, None] * rows))[0])
            return weights, value, inverse / np.trace(inverse)
        barrier *= 0.1


def slack(rows: Floats, weights: Floats, level: float) -> Floats:
    """How far the second-moment matrix lies above the level."""
    matrix: Floats = rows.T @ (weights[:, None] * rows)
    matrix[np.diag_indices_from(matrix)] -= level
    return matrix


def newton_step(
    rows: Floats, weights: Floats, level: float, barrier: float
) -> tuple[Floats, float]:
    """The Newton direction in (weights, level) of the barrier problem, weights summing to one, and
    its decrement.
    """
    count = len(rows)
    inverse = np.linalg.inv(slack(rows, weights, level))
    seen = rows @ inverse
    hessian = np.zeros((count + 2, count + 2))
    hessian[:count, :count] = (seen @ rows.T) ** 2
    hessian[range(count), range(count)] += weights**-2
    hessian[:count, count] = hessian[count, :count] = -(seen**2).sum(axis=1)
    hessian[count, count] = (inverse**2).sum()
    hessian[:count, count + 1] = hessian[count + 1, :count] = 1.0
    gradient = np.zeros(count + 2)
    gradient[:count] = (seen * rows).sum(axis=1) + 1.0 / weights
    gradient[count] = 1.0 / barrier - np.trace(inverse)
    step = np.linalg.solve(hessian, gradient)[:-1]
    return step.astype(np.float64), float(step @ gradient[:-1])


def longest_step(rows: Floats, weights: Floats, level: float, step: Floats) -> float:
    """A step of at most one, halved until the point stays inside the barrier."""
    length = 1.0
    falling = step[:-1] < 0.0
    if falling.any():
        length = min(length, 0.99 * float((-weights[falling] / step[:-1][falling]).min()))
    while True:
        try:
            np.linalg.cholesky(slack(rows, weights + length * step[:-1], level + length * step[-1]))
        except np.linalg.LinAlgError:
            length *= 0.5
        else:
            return length
