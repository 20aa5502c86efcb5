"""Horizons at which terms and rates cross, and from which bounds are below the trivial one."""

import math
from collections.abc import Callable

from scipy.special import lambertw

from soids.arrays import as_number
from soids.rates import complexity
from soids.theory.lemmas import rich_alone
from soids.theory.problem import WIDEST_GAP, require
from soids.theory.theorems import terms


def uncapped_from(dimension: int, sparsity: int, c_min: float | None = None) -> int:
    """The first round in which Theorem 2's rate does not need its cap of one half.

    >>> uncapped_from(100, 10, c_min=1.0)
    5
    """
    require(dimension, sparsity, c_min=c_min)
    if c_min is None:
        return 1  # lambda^(2) is at most one half in every round
    factor = math.sqrt(c_min) / (4.0 * math.sqrt(3.0 * sparsity))
    return max(1, math.ceil(crossing(factor, dimension, sparsity)))


def crossover(dimension: int, sparsity: int, c_min: float) -> float:
    """The horizon at which Theorem 2's terms are equal: data-poor before it, data-rich after it.

    It is zero if data are rich from the first round on.
    """
    require(dimension, sparsity, c_min=c_min)
    factor = 0.9**6 * dimension * (dimension * c_min / sparsity) ** 2  # 0.9 is 27 over 30
    return crossing(factor, dimension, sparsity)


def rate_crossover(dimension: int, sparsity: int, c_min: float) -> float:
    """The round in which Theorem 2's rates are equal, or zero if it lies before the first."""
    require(dimension, sparsity, c_min=c_min)
    factor = 4.0**6 / 6.0**5 * dimension * (dimension * c_min / sparsity) ** 2
    return crossing(factor, dimension, sparsity)


def meaningful_from(
    dimension: int, sparsity: int, c_min: float | None = None, gap: float = WIDEST_GAP
) -> int:
    """The first horizon at which the bound of Theorem 2 is below the trivial one, ``gap`` a round.

    >>> meaningful_from(20, 2)
    248072
    """
    require(dimension, sparsity, c_min=c_min)
    return first_below(lambda horizon: terms(dimension, sparsity, horizon, c_min).value, gap)


def rich_alone_from(dimension: int, sparsity: int, gap: float = WIDEST_GAP) -> int:
    """Like ``meaningful_from`` for the data-rich rate alone, which does not need Definition 1.

    >>> rich_alone_from(20, 2)
    52648
    """
    require(dimension, sparsity)
    return first_below(lambda horizon: rich_alone(dimension, sparsity, horizon), gap)


def first_below(bound: Callable[[int], float], gap: float) -> int:
    """The first horizon at which a bound is below ``gap`` a round; bound over horizon must fall."""
    as_number(gap, "gap", 0.0, strict=True)
    low, high = 0, 1
    while bound(high) >= gap * high:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) >= gap * middle else (low, middle)
    return high


def crossing(factor: float, dimension: int, sparsity: int) -> float:
    """The horizon at which ``T = factor C_T``, or zero if it lies before the first round.

    There is at most one, because ``T / C_T`` rises. With ``C_T = C_1 + 2 s log T`` it is a value of
    Lambert's W on its lower branch.
    """
    first = complexity(dimension, sparsity, 1)
    if factor * first < 1.0:
        return 0.0
    slope = 2.0 * sparsity * factor
    return float(-slope * lambertw(-math.exp(-first / (2.0 * sparsity)) / slope, -1).real)
