"""Bandits with a fixed set of random actions, the paper's among them."""

import itertools
import math

import numpy as np
from scipy.special import ndtr

from soids.arrays import as_count
from soids.bandits import draws
from soids.bandits.bandit import SparseLinearBandit


def paper_instance(
    dimension: int, seed: int, *, sparsity: int | None = None, radius: float = 10.0,
    actions: int = 200, noise: float = 1.0, degrees: float = math.inf,
) -> SparseLinearBandit:  # fmt: skip
    """The paper's environment: 200 random actions, and d / 10 equal coefficients of sum 10.

    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> bandit.actions.shape, bandit.theta[:3].tolist(), bandit.noise
    ((200, 20), [5.0, 5.0, 0.0], 1.0)
    """
    theta = draws.leading(dimension, sparsity, radius)
    rows = draws.generator(seed).uniform(-1, 1, (as_count(actions, "actions"), dimension))
    return SparseLinearBandit(rows, theta, noise, degrees)


def correlated(
    dimension: int, seed: int, *, rho: float = 0.7, sparsity: int | None = None,
    radius: float = 10.0, actions: int = 200, noise: float = 1.0, degrees: float = math.inf,
) -> SparseLinearBandit:  # fmt: skip
    """The paper's environment with columns i and j of normal correlation ``rho ** |i - j|``.

    The normal distribution function maps the rows to [-1, 1], so each entry is uniform as in the
    paper. The columns with non-zero coefficients are neighbours.
    """
    draws.as_correlation(rho, "rho")
    theta = draws.leading(dimension, sparsity, radius)
    shape = as_count(actions, "actions"), dimension
    normal = draws.autoregressive(shape, rho, draws.generator(seed))
    return SparseLinearBandit(2.0 * ndtr(normal) - 1.0, theta, noise, degrees)


def hypercube(
    dimension: int, seed: int, *, sparsity: int = 2, actions: int = 200, radius: float = 1.0,
    noise: float = 1.0, degrees: float = math.inf,
) -> SparseLinearBandit:  # fmt: skip
    """Corners of ``[-1, 1]^d``: all if there are at most ``actions``, else that many at random."""
    rng = draws.generator(seed)
    theta = draws.scattered(dimension, sparsity, radius, rng)
    if 2**dimension <= as_count(actions, "actions"):
        corners = np.array(list(itertools.product([-1.0, 1.0], repeat=dimension)))
    else:
        corners = rng.choice([-1.0, 1.0], (actions, dimension))
    return SparseLinearBandit(corners, theta, noise, degrees)


def sphere(
    dimension: int, seed: int, *, sparsity: int = 2, actions: int = 200, radius: float = 1.0,
    noise: float = 1.0, degrees: float = math.inf,
) -> SparseLinearBandit:  # fmt: skip
    """Actions uniform on the unit sphere."""
    rng = draws.generator(seed)
    theta = draws.scattered(dimension, sparsity, radius, rng)
    rows = draws.unit_rows(as_count(actions, "actions"), dimension, rng)
    return SparseLinearBandit(rows, theta, noise, degrees)
