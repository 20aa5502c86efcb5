"""Laws of the number of features that matter; all supports of one size are equally likely.

A law gives the log prior odds of one given feature more, ``log P(S + j) / P(S)``. From k - 1 values
to k, the law of values changes the density by a factor ``growth(k)``. It is multiplied in before
the logarithm, so that rounding happens once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from soids.arrays import Floats, Ints

LOG_VISITS = math.log(0.1)  # log of the factor by which too large supports are made rarer
Growth = Callable[[Ints], Floats]


@dataclass(frozen=True)
class SizeLaw(ABC):
    """The law of the number of features."""

    smallest: ClassVar[int] = 0

    dimension: int
    largest: int  # sizes above it have weight zero, though the moves may visit them

    @abstractmethod
    def log_odds(self, growth: Growth) -> Floats:
        """Log odds (n,) of one given feature more, at sizes 0, 1, ... that the moves visit."""


@dataclass(frozen=True)
class RatioLaw(SizeLaw):
    """``P(k) / P(k - 1) = ratios[k - 1]`` for k = 1, 2, ..., and at least one feature."""

    smallest: ClassVar[int] = 1

    ratios: Floats  # (n,)  up to the largest size that the moves may visit

    def log_odds(self, growth: Growth) -> Floats:
        k = np.arange(1, len(self.ratios) + 1)
        odds = np.log(self.ratios * (k * growth(k)) / (self.dimension + 1 - k))
        odds[self.largest :] += LOG_VISITS
        return odds


@dataclass(frozen=True)
class IndependentLaw(SizeLaw):
    """Each feature matters with probability s / d, or with one that is uniform on (0, 1) if s is
    None: the beta-binomial law.
    """

    sparsity: int | None

    def log_odds(self, growth: Growth) -> Floats:
        k = np.arange(1, self.largest + 1)
        if self.sparsity is None:
            return np.log(k * growth(k) / (self.dimension + 1 - k))
        # Sparsity d must leave the spike some mass.
        share = min(self.sparsity / self.dimension, 1 - 0.5 / self.dimension)
        return math.log(share / (1 - share)) + np.log(growth(k))
