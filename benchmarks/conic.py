"""Designs by a general conic solver, cvxpy with Clarabel: a peer for speed, an oracle for tests."""

import cvxpy
import numpy as np

from soids.arrays import Floats


def conic_c_min(actions: Floats) -> float:
    """The largest smallest eigenvalue of the second moments."""
    weights = cvxpy.Variable(len(actions), nonneg=True)
    smallest = cvxpy.lambda_min(actions.T @ cvxpy.diag(weights) @ actions)
    problem = cvxpy.Problem(cvxpy.Maximize(smallest), [cvxpy.sum(weights) == 1.0])
    return float(problem.solve(cvxpy.CLARABEL))


def conic_h_star(actions: Floats) -> float:
    """H_*^2, as PopArt's authors solve it: ``[[Q, I], [I, T]] >= 0`` makes T at least Q^-1."""
    dimension = actions.shape[1]
    weights = cvxpy.Variable(len(actions), nonneg=True)
    cover = cvxpy.Variable((dimension, dimension), symmetric=True)
    unit = np.eye(dimension)
    blocks = cvxpy.bmat([[actions.T @ cvxpy.diag(weights) @ actions, unit], [unit, cover]])
    largest = cvxpy.max(cvxpy.diag(cover))
    problem = cvxpy.Problem(cvxpy.Minimize(largest), [cvxpy.sum(weights) == 1.0, blocks >> 0])
    return float(problem.solve(cvxpy.CLARABEL))
