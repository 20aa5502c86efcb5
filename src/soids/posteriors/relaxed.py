"""The prior of the paper's experiments: Laplace spikes and unbounded Gaussian slabs."""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from soids.evidence import Evidence
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.posterior import SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import IndependentLaw
from soids.posteriors.target import Tuning
from soids.posteriors.unknowns import Span, noise_level, unit
from soids.posteriors.value_laws import Slab

EDGE = 0.99  # largest optimism, relative to the region where the posterior is a distribution


@dataclass(frozen=True)
class Relaxed(SparsePosterior):
    """Each feature is N(0, slab variance) with probability s / d, else Laplace(spike scale).

    Nothing bounds the slab, and a radius has no effect. In directions that no action has shown,
    optimism can exceed the slab's tail (the runaway mode of docs/sampler.md section 8), or even the
    spike's tail, so that no posterior exists. The first gives a warning; the second lowers the rate
    with a warning.
    """

    slab_variance: float | None = None  # ten times the noise variance, as in the paper
    spike_scale: float | None = None  # a tenth of the noise, as in the paper

    def prior(self, evidence: Evidence) -> Prior:
        variance, spike_scale = self.scales(evidence)
        sizes = IndependentLaw(self.dimension, self.dimension, self.sparsity)
        slab, noise = Slab(1.0 / variance, spike_scale), noise_level(self.noise, evidence)
        return Prior.of(sizes, slab, Span(math.inf, math.inf), noise)

    def scales(self, evidence: Evidence) -> tuple[float, float]:
        """Slab variance and spike scale."""
        one = unit(self.noise, evidence)
        return self.slab_variance or 10.0 * one**2, self.spike_scale or 0.1 * one

    def update(
        self, belief: Any, evidence: Evidence, tuning: Tuning, rng: Generator
    ) -> ParticleSystem:
        self.warn_of_runaway(evidence, tuning.rate)
        tuning = tuning._replace(rate=self.proper_rate(evidence, tuning.rate))
        return super().update(belief, evidence, tuning, rng)

    def proper_rate(self, evidence: Evidence, rate: float) -> float:
        """The rate, lowered if optimism would exceed the spike where the data do not bound it: in a
        direction not shown, or in any if noise and parameter may grow together.
        """
        steepness = rate * steepest_optimism(evidence) * self.scales(evidence)[1]
        bounded = self.noise is not None and shows_all(evidence)
        if bounded or steepness < EDGE:
            return rate
        # Without numbers in the text, Python shows each of these warnings once.
        warnings.warn(
            "rate lowered: the relaxed posterior would be improper in a direction not yet seen, or "
            "with noise to be learned (give the noise, a smaller spike_scale, or take 'subset')",
            RuntimeWarning, stacklevel=2,
        )  # fmt: skip
        return EDGE / steepness * rate

    def warn_of_runaway(self, evidence: Evidence, rate: float) -> None:
        """Warn if optimism gains more in an unseen slab coordinate than its inclusion costs."""
        if rate == 0.0 or evidence.rounds == 0 or evidence.rounds > self.dimension:
            return
        squares = max(float((menu.actions**2).mean()) for menu in evidence.menus)
        gain = 0.5 * (rate * evidence.rounds) ** 2 * self.scales(evidence)[0] * squares
        if gain > math.log(self.dimension / (self.sparsity or 1)):
            warnings.warn(
                "the relaxed posterior has a runaway mode: features not yet seen gain more by "
                "optimism than inclusion costs (docs/sampler.md); posterior='subset' has none",
                RuntimeWarning, stacklevel=2,
            )  # fmt: skip


def steepest_optimism(evidence: Evidence) -> float:
    """The largest slope along a coordinate of the summed gaps between best and played."""
    if not evidence.menus:
        return 0.0
    offered = list(zip(evidence.offered, evidence.menus, strict=True))
    highest = sum(n * menu.actions.max(axis=0) for n, menu in offered)
    lowest = sum(n * menu.actions.min(axis=0) for n, menu in offered)
    return float(max((highest - evidence.total).max(), (evidence.total - lowest).max()))


def shows_all(evidence: Evidence) -> bool:
    """Whether the actions played span all directions."""
    eigenvalues = np.linalg.eigvalsh(evidence.gram)
    return bool(eigenvalues[0] > 1e-9 * eigenvalues[-1] > 0.0)
