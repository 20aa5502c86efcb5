"""The prior of the paper's experiments: Laplace spikes and unbounded Gaussian slabs."""

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from soids.evidence import Evidence
from soids.posteriors.cloud import Cloud
from soids.posteriors.prior import (
    Prior,
    Span,
    binomial_odds,
    check_told,
    log_slab_scale,
    noise_level,
    unit,
)
from soids.posteriors.smc import follow
from soids.posteriors.target import Tuning

EDGE = 0.99  # optimism stays this far inside the region where the posterior is a distribution


@dataclass(frozen=True)
class Relaxed:
    """Each feature is N(0, slab variance) with probability s / d, else Laplace(spike scale).

    Nothing bounds the slab. Where the data do not see a direction, optimism can outgrow the slab's
    tail (the runaway mode of docs/sampler.md: a warning says when). There, or if the noise is to be
    learned, it can outgrow even the spike's, and no posterior exists (the rate is then lowered to
    where one does, with a warning).
    """

    heeds_radius: ClassVar[bool] = False

    dimension: int
    sparsity: int | None = None
    radius: float | None = (
        None  # accepted as for the other priors, and of no effect: the slab is unbounded
    )
    noise: float | None = None
    slab_variance: float | None = None  # ten times the noise variance, as in the paper
    spike_scale: float | None = None  # a tenth of the noise, as in the paper

    def __post_init__(self) -> None:
        check_told(self)

    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not told as vague as the rewards' scale allows."""
        variance, spike_scale = self.scales(evidence)
        peaks = math.log(2.0 * spike_scale) + log_slab_scale(1.0 / variance)
        return Prior(
            binomial_odds(self.dimension, self.sparsity) + peaks,
            largest=self.dimension,
            radius=Span(math.inf, math.inf),
            noise=noise_level(self.noise, evidence),
            smallest=0,
            slab_precision=1.0 / variance,
            spike_scale=spike_scale,
        )

    def scales(self, evidence: Evidence) -> tuple[float, float]:
        """Slab variance and spike scale."""
        one = unit(self.noise, evidence)
        return self.slab_variance or 10.0 * one**2, self.spike_scale or 0.1 * one

    def update(
        self, cloud: Cloud | None, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Cloud:
        """The cloud of the optimistic posterior, grown from that of an earlier one."""
        self.warn_of_runaway(evidence, tuning.rate)
        tuning = tuning._replace(rate=self.proper_rate(evidence, tuning.rate))
        return follow(cloud, self.prior(evidence), evidence, tuning, rng)

    def proper_rate(self, evidence: Evidence, rate: float) -> float:
        """The rate, lowered if it would outgrow the spike where the data do not hold it back.

        Data that see every direction do, unless the noise is to be learned: then parameter and
        noise may grow together at the price of a logarithm.
        """
        steepest = rate * steepest_optimism(evidence)
        _, spike_scale = self.scales(evidence)
        held_back = self.noise is not None and sees_all(evidence)
        if held_back or steepest * spike_scale < EDGE:
            return rate
        # Without numbers in the text, Python shows each of these warnings once.
        warnings.warn(
            "rate lowered: the relaxed posterior would be improper in a direction not yet seen, or "
            "with noise to be learned (tell it, or take a smaller spike_scale or 'subset')",
            RuntimeWarning,
            stacklevel=2,
        )
        return EDGE / (steepest * spike_scale) * rate

    def warn_of_runaway(self, evidence: Evidence, rate: float) -> None:
        """Say so when an unseen slab coordinate gains more by optimism than its inclusion costs."""
        if rate == 0.0 or evidence.rounds == 0 or evidence.rounds > self.dimension:
            return
        if self.optimistic_nats(evidence, rate) > math.log(self.dimension / (self.sparsity or 1)):
            warnings.warn(
                "the relaxed posterior has a runaway mode: features not yet seen gain more by "
                "optimism than inclusion costs (docs/sampler.md); posterior='subset' has none",
                RuntimeWarning,
                stacklevel=2,
            )

    def optimistic_nats(self, evidence: Evidence, rate: float) -> float:
        """What optimism adds to the log mass of a slab coordinate that the data do not see."""
        variance, _ = self.scales(evidence)
        squares = max(float((menu.actions**2).mean()) for menu in evidence.menus)
        return 0.5 * (rate * evidence.rounds) ** 2 * variance * squares


def steepest_optimism(evidence: Evidence) -> float:
    """The largest slope along a coordinate of the summed gaps between best and played."""
    if not evidence.menus:
        return 0.0
    highest = sum(
        n * menu.actions.max(axis=0)
        for n, menu in zip(evidence.offered, evidence.menus, strict=True)
    )
    lowest = sum(
        n * menu.actions.min(axis=0)
        for n, menu in zip(evidence.offered, evidence.menus, strict=True)
    )
    return float(max((highest - evidence.total).max(), (evidence.total - lowest).max()))


def sees_all(evidence: Evidence) -> bool:
    """Whether the data see every direction."""
    eigenvalues = np.linalg.eigvalsh(evidence.gram)
    return bool(eigenvalues[0] > 1e-9 * eigenvalues[-1] > 0.0)
