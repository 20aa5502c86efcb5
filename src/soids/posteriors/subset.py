"""A random support, and a uniform point of its l1 ball: the theory's prior, and two others."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.posteriors.cloud import Cloud
from soids.posteriors.prior import Prior, ball, check_told, noise_level, subset_odds
from soids.posteriors.smc import follow
from soids.posteriors.target import Tuning

# How much rarer than the prior has it the moves visit supports that are too large: often enough to
# pass through, seldom enough to waste few particles there.
LOG_VISITS = math.log(0.1)


@dataclass(frozen=True)
class InBall(ABC):
    """Supports drawn by their size, parameters uniform on the l1 ball.

    What is not told is learned: a sparsity up to half the dimension, a radius, a noise level.
    """

    heeds_radius: ClassVar[bool] = True

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        check_told(self)
        if self.radius == math.inf:
            raise ValueError(
                "radius must be finite for a prior uniform in a ball, got inf: leave it out"
            )

    @property
    def largest(self) -> int:
        """The largest support."""
        return self.sparsity or max(1, self.dimension // 2)

    @cached_property
    def log_odds(self) -> Floats:  # (largest + 1,)
        """Log odds of one coordinate more.

        The moves may visit one size more, where a state has weight zero: a hard cap traps them.
        """
        sizes = np.arange(1.0, min(self.largest + 1, self.dimension) + 1)
        odds = subset_odds(self.dimension, self._ratios(sizes))
        odds[self.largest :] += LOG_VISITS
        return odds

    @abstractmethod
    def _ratios(self, sizes: Floats) -> Floats:
        """The weight of each size over that of the one before."""

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        noise = noise_level(self.noise, evidence)
        return Prior(self.log_odds, self.largest, ball(self.radius, evidence), noise)

    def update(
        self, cloud: Cloud | None, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Cloud:
        """The cloud of the optimistic posterior, grown from that of an earlier one."""
        return follow(cloud, self.prior(evidence), evidence, tuning, rng)


@dataclass(frozen=True)
class Subset(InBall):
    """Supports of size k with odds ``2**-k / C(d, k)``: the prior of the theory."""

    def _ratios(self, sizes: Floats) -> Floats:
        return np.full(len(sizes), 0.5)


@dataclass(frozen=True)
class Broad(InBall):
    """Supports of size k with odds ``1 / (k (k + 1) C(d, k))``: few features, or many small ones.

    Beyond the first few, one feature more costs a factor near one, where ``Subset`` asks a half
    each time: effects that are many and small are believed in sooner. Supports are larger, and
    moves slower, while little is known.
    """

    def _ratios(self, sizes: Floats) -> Floats:
        return np.where(sizes > 1.0, (sizes - 1.0) / (sizes + 1.0), 0.5)


@dataclass(frozen=True)
class Ample(InBall):
    """Supports of size k with odds ``2**k / C(d, k)``: about as many features matter as was told.

    ``Subset`` reads the sparsity as a bound and asks a half for each feature more, so that it
    believes for long in few strong ones. Who knows how many there are loses less at first. If
    it was not told, sizes up to a tenth of the dimension have the same odds, and each feature
    beyond asks a quarter.
    """

    def _ratios(self, sizes: Floats) -> Floats:
        if self.sparsity is None:
            return np.where(sizes <= max(1.0, 0.1 * self.dimension), 1.0, 0.25)
        return np.where(sizes <= self.sparsity, 2.0, 0.5)
