"""Random parameters and random actions that several families of bandits use."""

import math
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from soids.arrays import Floats, as_count, as_number, as_positive


def generator(seed: int) -> np.random.Generator:
    """The random numbers of an instance; a trial has other streams for noise and policy."""
    return np.random.default_rng(as_count(seed, "seed", 0))


def leading(dimension: int, sparsity: int | None, radius: float) -> Floats:  # (d,)
    """A parameter with equal coefficients of sum ``radius`` on the first columns (or d / 10)."""
    as_count(dimension, "dimension", 10 if sparsity is None else 1)
    sparsity = dimension // 10 if sparsity is None else as_count(sparsity, "sparsity", 1, dimension)
    theta = np.zeros(dimension)
    theta[:sparsity] = as_positive(radius, "radius") / sparsity
    return theta


def scattered(dimension: int, sparsity: int, radius: float, rng: np.random.Generator) -> Floats:
    """A parameter (d,) with coefficients of equal size and random sign on random columns."""
    theta = leading(dimension, sparsity, radius)
    theta[:sparsity] *= rng.choice([-1.0, 1.0], sparsity)
    return rng.permutation(theta)


def entries(
    dimension: int, sparsity: int, draw: Callable[[int], Floats], rng: np.random.Generator
) -> Floats:  # (d,)
    """A parameter with drawn coefficients on random columns."""
    as_count(sparsity, "sparsity", 1, as_count(dimension, "dimension"))
    theta = np.zeros(dimension)
    theta[rng.choice(dimension, sparsity, replace=False)] = draw(sparsity)
    return theta


def uniform_entries(
    dimension: int, sparsity: int, low: float, high: float, rng: np.random.Generator
) -> Floats:  # (d,)
    """A parameter with uniform coefficients on random columns."""
    return entries(dimension, sparsity, lambda count: rng.uniform(low, high, count), rng)


def unit_rows(count: int, dimension: int, rng: np.random.Generator) -> Floats:  # (K, d)
    """Points uniform on the unit sphere."""
    normal = rng.standard_normal((count, dimension))
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def autoregressive(shape: tuple[int, int], rho: float, rng: np.random.Generator) -> Floats:
    """Independent standard normal rows; columns i and j have correlation ``rho ** |i - j|``."""
    innovations = rng.standard_normal(shape)
    innovations[:, 1:] *= math.sqrt(1.0 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], innovations, axis=1))


def as_correlation(value: object, name: str = "correlation") -> float:
    """A correlation in [0, 1)."""
    if not 0.0 <= (correlation := as_number(value, name)) < 1.0:
        raise ValueError(f"{name} must lie in [0, 1), got {correlation:g}")
    return correlation
