"""Bandits with a fixed set of random actions, the paper's among them."""

import itertools
import math

import numpy as np
from scipy.special import ndtr

from soids.arrays import Floats, as_count, as_number
from soids.bandits.bandit import SparseLinearBandit


def paper_instance(
    dimension: int,
    seed: int,
    *,
    sparsity: int | None = None,
    radius: float = 10.0,
    actions: int = 200,
    noise: float = 1.0,
    degrees: float = math.inf,
) -> SparseLinearBandit:
    """The paper's environment: 200 random actions, and d / 10 equal coefficients of sum 10.

    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> bandit.actions.shape, bandit.theta[:3].tolist(), bandit.noise
    ((200, 20), [5.0, 5.0, 0.0], 1.0)
    """
    theta = leading(dimension, sparsity, radius)
    rows = generator(seed).uniform(-1, 1, (as_count(actions, "actions"), dimension))
    return SparseLinearBandit(rows, theta, noise, degrees)


def correlated(
    dimension: int,
    seed: int,
    *,
    rho: float = 0.7,
    sparsity: int | None = None,
    radius: float = 10.0,
    actions: int = 200,
    noise: float = 1.0,
    degrees: float = math.inf,
) -> SparseLinearBandit:
    """The paper's environment with columns i and j of normal correlation ``rho ** |i - j|``.

    The normal distribution function maps the rows to [-1, 1], so each entry is uniform as in the
    paper. The columns with non-zero coefficients are neighbours.
    """
    as_correlation(rho, "rho")
    theta = leading(dimension, sparsity, radius)
    innovations = generator(seed).standard_normal((as_count(actions, "actions"), dimension))
    normal = innovations.copy()
    for j in range(1, dimension):
        normal[:, j] = rho * normal[:, j - 1] + math.sqrt(1.0 - rho**2) * innovations[:, j]
    return SparseLinearBandit(2.0 * ndtr(normal) - 1.0, theta, noise, degrees)


def hypercube(
    dimension: int,
    seed: int,
    *,
    sparsity: int = 2,
    actions: int = 200,
    radius: float = 1.0,
    noise: float = 1.0,
    degrees: float = math.inf,
) -> SparseLinearBandit:
    """Corners of ``[-1, 1]^d``: all if there are at most ``actions``, else that many at random.

    >>> hypercube(dimension=3, seed=0).actions.shape
    (8, 3)
    """
    rng = generator(seed)
    theta = scattered(dimension, sparsity, radius, rng)
    if 2**dimension <= as_count(actions, "actions"):
        corners = np.array(list(itertools.product([-1.0, 1.0], repeat=dimension)))
    else:
        corners = rng.choice([-1.0, 1.0], (actions, dimension))
    return SparseLinearBandit(corners, theta, noise, degrees)


def sphere(
    dimension: int,
    seed: int,
    *,
    sparsity: int = 2,
    actions: int = 200,
    radius: float = 1.0,
    noise: float = 1.0,
    degrees: float = math.inf,
) -> SparseLinearBandit:
    """Actions uniform on the unit sphere."""
    rng = generator(seed)
    theta = scattered(dimension, sparsity, radius, rng)
    rows = unit_rows(as_count(actions, "actions"), dimension, rng)
    return SparseLinearBandit(rows, theta, noise, degrees)


# What the families share


def generator(seed: int) -> np.random.Generator:
    """The random numbers of an instance; a trial has other streams for noise and policy."""
    return np.random.default_rng(as_count(seed, "seed", 0))


def leading(dimension: int, sparsity: int | None, radius: float) -> Floats:  # (d,)
    """A parameter with equal coefficients of sum ``radius`` on the first columns (or d / 10)."""
    as_count(dimension, "dimension", 10 if sparsity is None else 1)
    sparsity = dimension // 10 if sparsity is None else as_count(sparsity, "sparsity", 1, dimension)
    theta = np.zeros(dimension)
    theta[:sparsity] = as_number(radius, "radius", 0.0, strict=True) / sparsity
    return theta


def scattered(
    dimension: int, sparsity: int, radius: float, rng: np.random.Generator
) -> Floats:  # (d,)
    """A parameter with coefficients of equal size and random sign on random columns."""
    theta = leading(dimension, sparsity, radius)
    theta[:sparsity] *= rng.choice([-1.0, 1.0], sparsity)
    return rng.permutation(theta)


def unit_rows(count: int, dimension: int, rng: np.random.Generator) -> Floats:  # (K, d)
    """Points uniform on the unit sphere."""
    normal = rng.standard_normal((count, dimension))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def as_correlation(value: object, name: str = "correlation") -> float:
    """A correlation in [0, 1)."""
    if not 0.0 <= (correlation := as_number(value, name)) < 1.0:
        raise ValueError(f"{name} must lie in [0, 1), got {correlation:g}")
    return correlation
