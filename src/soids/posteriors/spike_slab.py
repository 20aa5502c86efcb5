"""Exact zeros and a Gaussian slab, cut to an l1 ball so that optimism cannot run away."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from soids.evidence import Evidence
from soids.posteriors.prior import Prior, Span, ball, binomial_odds, check_told, noise_level, unit
from soids.posteriors.smc import Cloud, follow
from soids.posteriors.target import Tuning


@dataclass(frozen=True)
class SpikeSlab:
    """Each feature matters with probability s / d, with size N(0, slab variance).

    The product of these is restricted to the l1 ball. ``radius=math.inf`` lifts the restriction, at
    the price of a runaway mode (docs/sampler.md).
    """

    heeds_radius: ClassVar[bool] = True

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None
    slab_variance: float | None = (
        None  # ten times the noise variance, as in the paper's experiments
    )

    def __post_init__(self) -> None:
        check_told(self)

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        variance = self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2
        peak = -0.5 * math.log(2.0 * math.pi * variance)
        # Not knowing the radius, take the largest: the slab keeps parameters small by itself.
        high = ball(self.radius, evidence).high
        return Prior(
            binomial_odds(self.dimension, self.sparsity) + peak,
            largest=self.dimension,
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
