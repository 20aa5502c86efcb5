"""Exact zeros and a Gaussian slab, cut to an l1 ball so that optimism cannot run away."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from soids.arrays import SMALLEST, Floats, as_number
from soids.evidence import Evidence
from soids.posteriors.cloud import Cloud
from soids.posteriors.prior import (
    Prior,
    Span,
    ball,
    binomial_odds,
    check_told,
    log_slab_scale,
    noise_level,
    unit,
)
from soids.posteriors.smc import follow
from soids.posteriors.target import Tuning


@dataclass(frozen=True)
class SpikeSlab:
    """Each feature matters with probability s / d, with size N(0, slab variance).

    The product of these is restricted to the l1 ball. ``radius=math.inf`` lifts the restriction, at
    the price of a runaway mode (docs/sampler.md). Told the sparsity, no support is larger than ten
    times that and fifty: such are next to impossible, and need much room. With a ``spread``, all
    values are about as large: N(R / s, (spread * R / s)**2), or its mirror image, in place of
    the slab, as s values of that size just fill the ball. Sparsity and radius are then more than
    bounds: they say how large a value is. A spread is at least 0.05.
    """

    heeds_radius: ClassVar[bool] = True

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None
    slab_variance: float | None = None  # or ten times the noise variance, as the paper has it
    spread: float | None = None  # of values that are alike, as a share of their size

    def __post_init__(self) -> None:
        check_told(self)
        if self.spread is None:
            return
        if self.sparsity is None or self.radius is None or self.radius == math.inf:
            raise ValueError(
                "values have a spread only where the posterior is told how large they are, by "
                f"sparsity and a finite radius, got {self.sparsity} and {self.radius}"
            )
        deviation = self.spread * self.radius / self.sparsity
        as_number(deviation, "spread times radius over sparsity", SMALLEST)
        if self.slab_variance is not None:
            raise ValueError(
                f"slab_variance must be left out beside a spread, got {self.slab_variance}"
            )

    @cached_property
    def log_odds(self) -> Floats:  # (largest,)
        """Log odds of one inclusion more, the slab's peak left out."""
        odds = binomial_odds(self.dimension, self.sparsity)
        return odds if self.sparsity is None else odds[: 50 + 10 * self.sparsity]

    def _slab(self, evidence: Evidence) -> tuple[float, float]:
        """Centre and variance of the slab."""
        if self.spread is None or self.radius is None or self.sparsity is None:
            return 0.0, self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2
        centre = self.radius / self.sparsity
        return centre, (self.spread * centre) ** 2

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        centre, variance = self._slab(evidence)
        # Not knowing the radius, take the largest: the slab keeps parameters small by itself.
        high = ball(self.radius, evidence).high
        return Prior(
            self.log_odds + log_slab_scale(1.0 / variance, centre),
            largest=len(self.log_odds),
            radius=Span(high, high),
            noise=noise_level(self.noise, evidence),
            smallest=0,
            slab_precision=1.0 / variance,
            slab_centre=centre,
        )

    def update(
        self, cloud: Cloud | None, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Cloud:
        """The cloud of the optimistic posterior, grown from that of an earlier one."""
        return follow(cloud, self.prior(evidence), evidence, tuning, rng)
