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

    The product of these laws is restricted to the l1 ball. ``radius=math.inf`` lifts the
    restriction, but then there is a runaway mode (docs/sampler.md section 8). If the sparsity s is
    given, no support is larger than 50 + 10 s.

    With a ``spread``, which is at least 0.05, all values have about the same size: the slab is
    N(R / s, (spread * R / s)**2), or its mirror image, since s values of size R / s fill the ball.
    """

    in_ball: ClassVar[bool] = True

    slab_variance: float | None = None  # default: ten times the noise variance, as in the paper
    spread: float | None = None  # standard deviation of the values, over their size

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
        d, s = self.dimension, self.sparsity
        return IndependentLaw(d, d if s is None else min(d, 50 + 10 * s), s)

    def prior(self, evidence: Evidence) -> Prior:
        if self.spread is None or self.radius is None or self.sparsity is None:
            slab = Slab(1.0 / (self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2))
        else:
            centre = self.radius / self.sparsity
            slab = Slab(1.0 / (self.spread * centre) ** 2, centre=centre)
        # If the radius is unknown, the largest is taken: the slab itself keeps parameters small.
        high = ball(self.radius, evidence).high
        return Prior.of(self.sizes, slab, Span(high, high), noise_level(self.noise, evidence))
