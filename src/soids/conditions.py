"""Conditions that theorems put on a menu, checked.

Notation
    sparse  (n, d)  actions with at most s non-zero entries
    dense   (m, d)  the others
    support (s,)    features that a parameter uses
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from soids.arrays import Bools, Floats, Ints, as_count, as_floats

TIE = 1e-9  # advantages up to this, relative to the largest entry of any action, are rounding


class SparseOptimality(NamedTuple):
    """Whether sparse actions suffice: True is proven, False comes with a witness, None is unknown.

    As a condition it is true only if proven.
    """

    holds: bool | None
    witness: Floats | None = None  # (d,)  at which, and near which, every best action is dense
    draws: int = 0  # random parameters that were tried, none of them a witness if unknown

    def __bool__(self) -> bool:
        return self.holds is True


def has_sparse_optimal_actions(
    actions: Floats,
    sparsity: int,
    *,
    draws: int = 1000,
    programs: int = 2000,
    rng: np.random.Generator | None = None,
) -> SparseOptimality:
    """Whether almost every s-sparse parameter has a best action with at most s non-zero entries.

    This is Definition 1 of the paper for a prior that gives every support of size s a density on a
    ball around zero. It fails if and only if, for some support, a dense action restricted to it
    lies outside the convex hull of the sparse ones: then it beats them on an open set. Smaller
    supports need no look, because such a set extends to the larger ones. Random parameters come
    first; then linear programs, unless there would be more than ``programs``. Their precision, 1e-7
    of the largest entry, is that of the proof.

    >>> has_sparse_optimal_actions(np.vstack([np.eye(3), -np.eye(3), np.full(3, 0.3)]), 1).holds
    True
    >>> has_sparse_optimal_actions(np.vstack([np.eye(3), np.full(3, -1.0)]), 1).witness is None
    False
    """
    rows = as_floats(actions, "actions")
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"actions must have shape (K, d), one action a row, got {rows.shape}")
    dimension = rows.shape[1]
    sparsity = as_count(sparsity, "sparsity", 1, dimension)
    draws, programs = as_count(draws, "draws", 0), as_count(programs, "programs", 0)
    few = (rows != 0.0).sum(axis=1) <= sparsity
    if few.all():
        return SparseOptimality(True)
    rows /= np.abs(rows).max()
    if not few.any():
        return SparseOptimality(False, np.eye(dimension)[0])
    sparse, dense = rows[few], rows[~few]
    generator = np.random.default_rng(0) if rng is None else rng
    thetas = random_parameters(draws, dimension, sparsity, generator)
    wins = (thetas @ dense.T).max(axis=1) > (thetas @ sparse.T).max(axis=1) + TIE
    if wins.any():
        return SparseOptimality(False, thetas[wins.argmax()], draws)
    return search(sparse, dense, sparsity, draws, programs)


def random_parameters(
    draws: int, dimension: int, sparsity: int, rng: np.random.Generator
) -> Floats:  # (draws, d)
    """Parameters with random supports, uniform on the surface of the l1 ball: what is best does not
    depend on the length.
    """
    thetas = np.zeros((draws, dimension))
    supports = rng.random((draws, dimension)).argsort(axis=1)[:, :sparsity]
    sizes = rng.dirichlet(np.ones(sparsity), draws)
    signs = rng.choice([-1.0, 1.0], (draws, sparsity))
    np.put_along_axis(thetas, supports, signs * sizes, axis=1)
    return thetas


def search(
    sparse: Floats, dense: Floats, sparsity: int, draws: int, programs: int
) -> SparseOptimality:
    """Look at every dense action on every support, if there are not too many."""
    dimension = dense.shape[1]
    if len(dense) > programs:
        return SparseOptimality(None, None, draws)
    everything = np.arange(dimension)
    # What lies in the hull of the sparse actions does so on every support.
    outside: Bools = np.array([separation(action, sparse, everything)[1] > TIE for action in dense])
    candidates = dense[outside]
    if len(dense) + len(candidates) * math.comb(dimension, sparsity) > programs:
        return SparseOptimality(None, None, draws)
    for support in itertools.combinations(range(dimension), sparsity):
        for action in candidates:
            theta, advantage = separation(action, sparse, np.array(support))
            if advantage > TIE:
                return SparseOptimality(False, theta, draws)
    return SparseOptimality(True, None, draws)


def separation(action: Floats, others: Floats, support: Ints) -> tuple[Floats, float]:
    """The parameter in the unit box of a support that favours an action most over all others, and
    its advantage there.
    """
    lead = (action - others)[:, support]
    size = len(support)
    constraints = np.hstack([-lead, np.ones((len(lead), 1))])  # the advantage is below each lead
    solution = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=constraints,
        b_ub=np.zeros(len(lead)),
        bounds=[(-1.0, 1.0)] * size + [(0.0, None)],
    )
    if solution.x is None:  # zero is feasible and the box bounds the rest: the solver gave up
        raise RuntimeError(f"the linear program of a support failed: {solution.message}")
    theta = np.zeros(len(action))
    theta[support] = solution.x[:size]
    return theta, float((lead @ theta[support]).min())
