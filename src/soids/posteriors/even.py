"""About as many features as told, all of about the same size, cut to an l1 ball."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from soids.evidence import Evidence
from soids.posteriors.prior import (
    Prior,
    Span,
    ball,
    check_told,
    noise_level,
    refuse_endless,
    support_odds,
)
from soids.posteriors.smc import Cloud, follow
from soids.posteriors.target import Tuning


@dataclass(frozen=True)
class Even:
    """Supports of size k with odds ``2**k / C(d, k)`` up to the sparsity, values N(0, (R / s)**2).

    So many features of that size just fill the ball, which the product is restricted to. A uniform
    point of the ball has a few large values and many small ones; who expects them to be alike loses
    less until they are found. Beyond the sparsity each feature asks a twentieth. If the sparsity
    was not told, sizes up to a tenth of the dimension have the same odds, and each feature beyond
    asks a quarter; without a radius the values are as large as the rewards suggest.
    """

    heeds_radius: ClassVar[bool] = True

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        check_told(self)
        refuse_endless(self.radius, "whose values share it")

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        expected = self.sparsity or max(1.0, 0.1 * self.dimension)
        within, beyond, largest = 1.0, 0.25, max(1, self.dimension // 2)
        if self.sparsity is not None:  # room enough for what a twentieth each makes rare
            within, beyond, largest = 2.0, 0.05, min(2 * self.sparsity + 10, self.dimension)
        ratios = np.where(np.arange(1, largest + 1) <= expected, within, beyond)
        high = ball(self.radius, evidence).high
        variance = evidence.scale() ** 2 / expected
        if self.radius is not None:
            variance = (self.radius / expected) ** 2
        return Prior(
            support_odds(self.dimension, ratios) - 0.5 * math.log(2.0 * math.pi * variance),
            largest=largest,
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
