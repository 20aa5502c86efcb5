"""The exploratory design, whose value is C_min, the design of PopArt, and the optimal design."""

import math
from functools import lru_cache, wraps
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from soids.arrays import Floats, Ints, as_number, as_rows
from soids.designs.central_path import least_total
from soids.designs.criteria import LargeEigenvalues, LargeVolume, SmallVariances


class Design(NamedTuple):
    """A distribution over actions, its value, and a certified bound on the value of any other."""

    weights: Floats  # (K,)
    value: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the value may be from the best, relative to the value."""
        if self.bound == self.value:
            return 0.0
        return abs(self.bound - self.value) / self.value if self.value else math.inf


class Solver(Protocol):
    """A function from actions to a design."""

    def __call__(self, actions: Floats, tolerance: float = 1e-5) -> Design: ...


def cached(solve: Solver) -> Solver:
    """Check the actions, solve equal ones as one, and keep recent designs.

    Designs are kept because learning rates need that of the same actions in every round.
    """

    @lru_cache(maxsize=16)
    def solve_buffer(buffer: bytes, shape: tuple[int, int], tolerance: float) -> Design:
        actions = np.frombuffer(buffer).reshape(shape)
        kept = distinct(actions)
        design = solve(actions[kept], tolerance)
        weights = np.zeros(len(actions))
        weights[kept] = design.weights
        weights.flags.writeable = False
        return design._replace(weights=weights)

    @wraps(solve)
    def design(actions: Floats, tolerance: float = 1e-5) -> Design:
        rows = as_rows(actions, "actions")
        tolerance = as_number(tolerance, "tolerance", 0.0, strict=True)
        return solve_buffer(rows.tobytes(), rows.shape, tolerance)

    return design


@cached
def exploratory_design(actions: Floats, tolerance: float = 1e-5) -> Design:
    """The design whose second moments have the largest smallest eigenvalue, ``C_min``.

    The value is zero if the actions do not span the space.

    >>> design = exploratory_design(np.eye(4))
    >>> round(design.value, 6), design.weights.round(3).tolist()
    (0.25, [0.25, 0.25, 0.25, 0.25])
    """
    basis = standardise(actions)
    if len(basis.scales) < actions.shape[1]:
        unseen = np.linalg.eigh(actions.T @ actions)[1][:, 0]
        uniform = np.full(len(actions), 1.0 / len(actions))
        return Design(uniform, 0.0, float(((actions @ unseen) ** 2).max()))
    # The least total weight with Q >= I is 1 / C_min.
    smallest = float(basis.scales.min())
    answer = least_total(LargeEigenvalues((smallest / basis.scales) ** 2), basis.rows, tolerance)
    return Design(answer.weights, smallest**2 / answer.total, smallest**2 / answer.bound)


def c_min(actions: Floats, action_bound: float) -> float:
    """The paper's ``C_min``, that of the actions over the bound on the size of their entries.

    It is at most 1, and zero if the actions do not span the space.
    """
    value = exploratory_design(actions / action_bound).value
    return min(1.0, value) if value > 1e-14 * actions.shape[1] else 0.0  # less is rounding


@cached
def popart_design(actions: Floats, tolerance: float = 1e-5) -> Design:
    """The design that makes the largest diagonal entry of ``Q^-1`` smallest, ``H_*^2``.

    PopArt (Jang, Zhang and Jun, 2022) estimates each coordinate with a variance of that order.

    >>> design = popart_design(np.diag([1.0, 2.0]))
    >>> round(design.value, 4), design.weights.round(3).tolist()
    (1.25, [0.8, 0.2])
    """
    basis = standardise(actions)
    if len(basis.scales) < actions.shape[1]:
        raise ValueError(
            f"actions must span the space of {actions.shape[1]} features for every coordinate to "
            f"be estimable: they span {len(basis.scales)} dimensions"
        )
    # The least total weight with (Q^-1)_ii <= 1 for all features is H_*^2.
    smallest = float(basis.scales.min())
    features = (smallest / basis.scales)[:, None] * basis.directions
    answer = least_total(SmallVariances(features), basis.rows, tolerance)
    return Design(answer.weights, answer.total / smallest**2, answer.bound / smallest**2)


@cached
def optimal_design(actions: Floats, tolerance: float = 1e-5) -> Design:
    """The design that makes the largest ``a_k' Q^-1 a_k`` smallest, in the span of the actions.

    By Kiefer and Wolfowitz it is also the one with the largest determinant, and the best value is
    the dimension of the span.

    >>> design = optimal_design(np.array([[3.0, 0.0], [0.0, 0.1], [0.1, 0.0]]))
    >>> round(design.value, 4), design.weights.round(3).tolist()
    (2.0, [0.5, 0.5, 0.0])
    """
    basis = standardise(actions)
    rank = len(basis.scales)
    if rank == 0:
        return Design(np.full(len(actions), 1.0 / len(actions)), 0.0, 0.0)
    # Any basis of the span would do: in this one no action is long.
    triangle = np.linalg.qr(basis.rows, mode="r")
    rows = solve_triangular(triangle, basis.rows.T, trans="T").T
    # The weights of least total with det Q >= 1 are proportional to the design.
    answer = least_total(LargeVolume(), rows, tolerance)
    return Design(answer.weights, rank * answer.total / answer.bound, float(rank))


def distinct(rows: Floats) -> Ints:
    """Indices of rows of which no two are equal or opposite: those have the same moments."""
    first = rows[np.arange(len(rows)), (rows != 0.0).argmax(axis=1)]
    upward = rows * np.where(first < 0.0, -1.0, 1.0)[:, None]
    return np.unique(upward + 0.0, axis=0, return_index=True)[1]  # no negative zeros


class Principal(NamedTuple):
    """Actions in the basis of their span in which their variance is the same in all directions.

    ``actions = rows @ diag(scales) @ directions``.
    """

    rows: Floats  # (K, r)
    scales: Floats  # (r,)
    directions: Floats  # (r, d)  orthonormal


def standardise(actions: Floats) -> Principal:
    """The principal axes of the actions as unit vectors, so that short ones count as well."""
    unit = np.abs(actions).max() or 1.0
    lengths = unit * np.linalg.norm(actions / unit, axis=1, keepdims=True)
    units = actions / np.where(lengths > 0.0, lengths, 1.0)
    _, scales, directions = np.linalg.svd(units, full_matrices=False)
    seen = scales > 1e-10 * scales[0]  # less would leave the designs few digits
    # The longest action sets the unit of the scales; rows are then of moderate size.
    scales, directions = scales[seen] * float(lengths.max()), directions[seen]
    return Principal((actions @ directions.T) / scales, scales, directions)
