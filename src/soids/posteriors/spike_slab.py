"""Exact zeros and a Gaussian slab, cut to an l1 ball so that optimism cannot run away."""

import math
from dataclasses import dataclass
from typing import ClassVar

from soids.arrays import SMALLEST, as_number
from soids.evidence import Evidence
from soids.posteriors.posterior import SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import IndependentLaw
from soids.posteriors.unknowns import Span, ball, noise_level, unit
from soids.posteriors.value_laws import Slab


@dataclass(frozen=True)
class SpikeSlab(SparsePosterior):
    """Each feature matters with probability s / d, with value N(0, slab variance).

    The product of these is restricted to the l1 ball. ``radius=math.inf`` lifts the restriction, at
    the price of a runaway mode (docs/sampler.md section 8). If the sparsity is given, no support is
    larger than ten times that and fifty: such are next to impossible, and need much memory. With a
    ``spread``, all values are about as large: N(R / s, (spread * R / s)**2), or its mirror image,
    in place of the slab, as s values of that size just fill the ball. Sparsity and radius are then
    more than bounds: they say how large a value is. A spread is at least 0.05.
    """

    in_ball: ClassVar[bool] = True

    slab_variance: float | None = None  # or ten times the noise variance, as in the paper
    spread: float | None = None  # standard deviation of similar values, over their size

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spread is None:
            return
        if self.sparsity is None or self.radius is None or self.radius == math.inf:
            raise ValueError(
                "spread needs sparsity and a finite radius, which say how large values are, got "
                f"sparsity={self.sparsity} and radius={self.radius}"
            )
        deviation = self.spread * self.radius / self.sparsity
        as_number(deviation, "spread times radius over sparsity", SMALLEST)
        if self.slab_variance is not None:
            raise ValueError(
                f"slab_variance must be left out beside a spread, got {self.slab_variance}"
            )

    @property
    def sizes(self) -> IndependentLaw:
        """The law of sizes."""
        largest = self.dimension
        if self.sparsity is not None:
            largest = min(largest, 50 + 10 * self.sparsity)
        return IndependentLaw(self.dimension, largest, self.sparsity)

    def _slab(self, evidence: Evidence) -> Slab:
        """The law of values."""
        if self.spread is None or self.radius is None or self.sparsity is None:
            return Slab(1.0 / (self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2))
        centre = self.radius / self.sparsity
        return Slab(1.0 / (self.spread * centre) ** 2, centre=centre)

    def prior(self, evidence: Evidence) -> Prior:
        # Not knowing the radius, take the largest: the slab keeps parameters small by itself.
        high = ball(self.radius, evidence).high
        noise = noise_level(self.noise, evidence)
        return Prior.of(self.sizes, self._slab(evidence), Span(high, high), noise)
