"""A random support and a uniform point of its l1 ball: the prior of the theory, and two others."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.posteriors.posterior import SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import RatioLaw
from soids.posteriors.unknowns import ball, noise_level
from soids.posteriors.value_laws import UniformInBall


@dataclass(frozen=True)
class InBall(SparsePosterior):
    """Supports drawn by their size, parameters uniform on the l1 ball; sparsity (up to half the
    dimension), radius and noise are learned if they are not given.
    """

    in_ball: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius == math.inf:
            raise ValueError(
                "radius must be finite for a prior uniform in a ball, got inf: leave it out"
            )

    @property
    def sizes(self) -> RatioLaw:
        """The law of sizes, with one size more, of weight zero, as a hard cap would trap moves."""
        largest = self.sparsity or max(1, self.dimension // 2)
        sizes = np.arange(1.0, min(largest + 1, self.dimension) + 1)
        return RatioLaw(self.dimension, largest, self._ratios(sizes))

    @abstractmethod
    def _ratios(self, sizes: Floats) -> Floats:
        """The weight of each size over that of the one before."""

    def prior(self, evidence: Evidence) -> Prior:
        radius, noise = ball(self.radius, evidence), noise_level(self.noise, evidence)
        return self._before._replace(radius=radius, noise=noise)

    @cached_property
    def _before(self) -> Prior:
        """The prior before any evidence; only radius and noise follow the rewards."""
        nothing = Evidence.empty(self.dimension)
        radius, noise = ball(self.radius, nothing), noise_level(self.noise, nothing)
        return Prior.of(self.sizes, UniformInBall(), radius, noise)


@dataclass(frozen=True)
class Subset(InBall):
    """Supports of size k with odds ``2**-k / C(d, k)``: the prior of the theory."""

    def _ratios(self, sizes: Floats) -> Floats:
        return np.full(len(sizes), 0.5)


@dataclass(frozen=True)
class Broad(InBall):
    """Supports of size k with odds ``1 / (k (k + 1) C(d, k))``: few features, or many small ones.

    Many small effects are found with fewer rewards than by ``Subset``, but early supports are
    larger and moves slower.
    """

    def _ratios(self, sizes: Floats) -> Floats:
        return np.where(sizes > 1.0, (sizes - 1.0) / (sizes + 1.0), 0.5)


@dataclass(frozen=True)
class Ample(InBall):
    """Supports of size k with odds ``2**k / C(d, k)``: about as many features matter as given.

    ``Subset`` reads the sparsity as a bound. If it is not given, sizes up to a tenth of the
    dimension have the same odds here, and each feature beyond has a factor of a quarter.
    """

    def _ratios(self, sizes: Floats) -> Floats:
        if self.sparsity is None:
            return np.where(sizes <= max(1.0, 0.1 * self.dimension), 1.0, 0.25)
        return np.where(sizes <= self.sparsity, 2.0, 0.5)
