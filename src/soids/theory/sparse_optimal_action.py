"""Definition 1 of the paper, which the theorems assume: optimal actions are sparse.

Notation
    sparse  (n, d)  actions with at most s non-zero entries
    dense   (m, d)  all other actions
    support (s,)    features with non-zero coefficients
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from soids.arrays import Floats, Ints, as_count, as_rows

TIE = 1e-9  # advantages up to this, relative to the largest entry of any action, are rounding


class SparseOptimality(NamedTuple):
    """Whether optimal actions are sparse: True if proven, False with a witness, else None."""

    holds: bool | None
    witness: Floats | None = None  # (d,)  a parameter near which every optimal action is dense
    draws: int = 0  # random parameters that were tried

    def __bool__(self) -> bool:
        return self.holds is True


def has_sparse_optimal_actions(
    actions: Floats, sparsity: int, *, draws: int = 1000, programs: int = 2000,
    rng: np.random.Generator | None = None,
) -> SparseOptimality:  # fmt: skip
    """Whether almost every s-sparse parameter has an optimal action of at most s non-zero entries.

    This is Definition 1 of the paper for a prior with a density on a ball around zero for every
    support of size s. It fails if and only if, for some support, the restriction of a dense action
    lies outside the convex hull of the sparse ones: then that action is better on an open set.
    Smaller supports need no check, because such a set extends to the larger ones. Random parameters
    are tried first, then linear programs, at most ``programs``. The precision of the linear
    programs, 1e-7 of the largest entry, is that of the proof.

    >>> has_sparse_optimal_actions(np.vstack([np.eye(3), -np.eye(3), np.full(3, 0.3)]), 1).holds
    True
    >>> has_sparse_optimal_actions(np.vstack([np.eye(3), np.full(3, -1.0)]), 1).witness is None
    False
    """
    rows = as_rows(actions, "actions")
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
    thetas = random_parameters(draws, dimension, sparsity, rng or np.random.default_rng(0))
    wins = (thetas @ dense.T).max(axis=1) > (thetas @ sparse.T).max(axis=1) + TIE
    if wins.any():
        return SparseOptimality(False, thetas[wins.argmax()], draws)
    return search(sparse, dense, sparsity, programs)._replace(draws=draws)


def random_parameters(
    draws: int, dimension: int, sparsity: int, rng: np.random.Generator
) -> Floats:  # (draws, d)
    """Random sparse parameters of l1 norm 1: the length does not change which action is optimal."""
    thetas = np.zeros((draws, dimension))
    supports = rng.random((draws, dimension)).argsort(axis=1)[:, :sparsity]
    sizes = rng.dirichlet(np.ones(sparsity), draws)
    signs = rng.choice([-1.0, 1.0], (draws, sparsity))
    np.put_along_axis(thetas, supports, signs * sizes, axis=1)
    return thetas


def search(sparse: Floats, dense: Floats, sparsity: int, programs: int) -> SparseOptimality:
    """Check every dense action on every support, unless there are too many."""
    features = np.arange(dense.shape[1])
    if len(dense) > programs:
        return SparseOptimality(None)
    # An action in the hull of the sparse ones is in it on every support.
    outside = [action for action in dense if separation(action, sparse, features)[1] > TIE]
    if len(dense) + len(outside) * math.comb(len(features), sparsity) > programs:
        return SparseOptimality(None)
    for support in itertools.combinations(features, sparsity):
        for action in outside:
            theta, advantage = separation(action, sparse, np.array(support))
            if advantage > TIE:
                return SparseOptimality(False, theta)
    return SparseOptimality(True)


def separation(action: Floats, others: Floats, support: Ints) -> tuple[Floats, float]:
    """The largest advantage of an action over all others, and its parameter in [-1, 1]^support."""
    lead, size = (action - others)[:, support], len(support)
    solution = linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.hstack([-lead, np.ones((len(lead), 1))]),  # the advantage is below each lead
        b_ub=np.zeros(len(lead)),
        bounds=[(-1.0, 1.0)] * size + [(0.0, None)],
    )
    if solution.x is None:  # zero is feasible and the box bounds the rest: the solver gave up
        raise RuntimeError(f"the linear program of a support failed: {solution.message}")
    theta = np.zeros(len(action))
    theta[support] = solution.x[:size]
    return theta, float((lead @ theta[support]).min())
