"""Thompson sampling with a mean-field posterior (Chakraborty, Roy, Tewari 2023)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats
from soids.evidence import Evidence
from soids.information import Even, Mixture
from soids.particles import Particles
from soids.policies.policy import Family, Generator, Menu
from soids.policies.posterior_rule import Outlook, PosteriorRule
from soids.posteriors import Posterior, Tuning, as_posterior
from soids.regression.spike_slab_vb import MeanField, SlabPrior, cold_start, mean_field

AVERAGED = 30  # draws whose mean the authors take residuals of
# The least noise that is believed, in units of rewards: without it some features may by chance
# explain the first rewards to the last digit, and the noise never recovers.
CLEAREST = 0.1


class MeanFieldDraws(NamedTuple):
    """Independent draws from a mean-field posterior."""

    fit: MeanField
    thetas: Floats  # (M, d)
    included: Bools  # (M, d)
    variance: float  # of the noise, as it looks after this fit

    def noise(self) -> float:
        return math.sqrt(self.variance)

    def rewards_on(self, menu: Menu) -> Floats:
        return self.thetas @ menu.columns

    def particles(self) -> Particles:
        size = len(self.thetas)
        return Particles(self.thetas, self.included, np.full(size, 1.0 / size))


@dataclass(frozen=True, kw_only=True)
class VBThompsonRule(PosteriorRule):
    """Variational-Bayes Thompson sampling: follow a draw from a mean-field spike and slab.

    The slab is Laplace with rate ``slab``, the prior odds of a feature ``dimension**-complexity``.
    Choices are uniform in the first ``uniform`` rounds. Unknown ``noise`` is estimated from the
    residuals of each fit, for the next.
    """

    settings = "dimension noise slab complexity uniform restart particles intercept"
    bounded_ratios = ()

    posterior: str = "mean field"
    radius: float = math.inf
    slab: float = 1.0
    complexity: float = 1.001
    uniform: int = 5
    restart: int = 5

    @cached_property
    def model(self) -> Posterior:
        """The posterior itself; no radius bounds it."""
        known = {"sparsity": None, "radius": self.radius, "noise": self.noise}
        return as_posterior(self, self.dimension, **known)

    def update(
        self, draws: MeanFieldDraws | None, evidence: Evidence, tuning: Tuning, rng: Generator
    ) -> MeanFieldDraws:
        """Draws from a new fit, which starts from the last one except every ``restart`` rewards."""
        prior = SlabPrior(self.slab, -self.complexity * math.log(self.dimension))
        noise = math.sqrt(self._variance(None, evidence)) if draws is None else draws.noise()
        if draws is None or evidence.rounds % self.restart == 0:
            start = cold_start(evidence, noise)
        else:
            start = draws.fit
        fit = mean_field(evidence, noise, prior, start)
        shape = (tuning.particles, self.dimension)
        included = rng.random(shape) < fit.inclusion
        _, features = np.nonzero(included)
        thetas = np.zeros(shape)
        spread = fit.deviations[features] * rng.standard_normal(len(features))
        thetas[included] = fit.means[features] + spread
        return MeanFieldDraws(fit, thetas, included, self._variance(fit, evidence))

    def _variance(self, fit: MeanField | None, evidence: Evidence) -> float:
        """The mean square of residuals, as the authors' average over a few draws expects it."""
        if self.noise is not None:
            return self.noise**2
        if evidence.energy == 0.0:
            return 1.0
        square = evidence.energy
        if fit is not None:
            theta = fit.expected()
            explained = 2.0 * evidence.moment @ theta - theta @ evidence.gram @ theta
            spread = evidence.played.diagonal @ fit.variances()
            square += float(spread / AVERAGED - explained)
        return max(square, CLEAREST**2 * evidence.energy) / evidence.degrees

    def _mixture(self, outlook: Outlook) -> Mixture:
        if outlook.past.decisions < self.uniform:
            return Even(len(outlook.regret))
        return super()._mixture(outlook)


VBThompson = Family(VBThompsonRule)
