"""Exact zeros and a Gaussian slab, cut to an l1 ball so that optimism cannot run away."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from soids.arrays import SMALLEST, Floats, as_number
from soids.evidence import Evidence
from soids.posteriors.prior import Prior, Span, ball, binomial_odds, check_told, noise_level, unit
from soids.posteriors.smc import Cloud, follow
from soids.posteriors.target import Tuning


@dataclass(frozen=True)
class SpikeSlab:
    """Each feature matters with probability s / d, with size N(0, slab variance).

    The product of these is restricted to the l1 ball. ``radius=math.inf`` lifts the restriction, at
    the price of a runaway mode (docs/sampler.md). Told the sparsity, no support is larger than ten
    times that and fifty: such are next to impossible, and need much room. Values that are ``alike``
    have a slab variance of ``(R / s)**2``: s of that size just fill the ball.
    """

    heeds_radius: ClassVar[bool] = True

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None
    slab_variance: float | None = None  # or ten times the noise variance, as the paper has it
    alike: bool = False

    def __post_init__(self) -> None:
        check_told(self)
        if not isinstance(self.alike, bool):
            raise ValueError(f"alike must be true or false, got {self.alike!r}")
        if not self.alike:
            return
        if self.sparsity is None or self.radius is None or self.radius == math.inf:
            raise ValueError(
                "values can be alike only where sparsity and a finite radius are told, got "
                f"sparsity {self.sparsity} and radius {self.radius}"
            )
        as_number(self.radius / self.sparsity, "radius over sparsity", SMALLEST)
        if self.slab_variance is not None:
            raise ValueError(
                f"slab_variance must be left out where values are alike, got {self.slab_variance}"
            )

    @cached_property
    def log_odds(self) -> Floats:  # (largest,)
        """Log odds of one inclusion more, the slab's peak left out."""
        odds = binomial_odds(self.dimension, self.sparsity)
        return odds if self.sparsity is None else odds[: 50 + 10 * self.sparsity]

    def _variance(self, evidence: Evidence) -> float:
        if self.alike and self.radius is not None and self.sparsity is not None:
            return (self.radius / self.sparsity) ** 2
        return self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        variance = self._variance(evidence)
        peak = -0.5 * math.log(2.0 * math.pi * variance)
        # Not knowing the radius, take the largest: the slab keeps parameters small by itself.
        high = ball(self.radius, evidence).high
        return Prior(
            self.log_odds + peak,
            largest=len(self.log_odds),
            radius=Span(high, high),
            noise=noise_level(self.noise, evidence),
            smallest=0,
            slab_precision=1.0 / variance,
        )

    def update(
        self, cloud: Cloud | None, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Cloud:
        """The cloud of the optimistic posterior, grown from that of an earlier one."""
        return follow(cloud, self.prior(evidence), evidence, tuning, rng)
