"""A logistic model of rewards that are 0 or 1, with a base level and a sparse parameter.

The log likelihood of each action's counts is replaced by a quadratic, so that the moves of linear
models apply; then every particle is weighted by the ratio of the two likelihoods, with the level
integrated out. So only the variance of the weights depends on the quadratics (docs/binary.md).

Notation
    scores  (M, N)  log odds of each action played under each particle, above its level
    levels  (M,)    log odds of the mean action
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.kernels.logistic import draw_levels
from soids.kernels.rewards import all_rewards
from soids.kernels.weights import effective_share, normalised
from soids.particles import Particles
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.posterior import SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import IndependentLaw
from soids.posteriors.smc import advance, start
from soids.posteriors.target import Target, Tuning
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import Slab
from soids.records import LEAST, check_arrays, check_numbers, check_weights
from soids.regression.logistic import logistic_mode
from soids.tally import Tally

EFFECT = 0.5  # prior standard deviation of the log odds that one feature explains
EXPLAINED = 1.5  # prior variance of the log odds of actions for the first quadratics
FEW = 0.2  # effective share of the particles below which the quadratics are renewed
TRIES = 5  # maximum number of times
NODES, SHARES = np.polynomial.hermite_e.hermegauss(9)
SHARES /= SHARES.sum()


class Clicks(NamedTuple):
    """Particles of a logistic model, each with its level and its weight under the likelihood."""

    system: ParticleSystem  # of the quadratics
    weights: Floats  # (M,)
    levels: Floats  # (M,)
    centre: Floats  # (d,)  the mean action
    rate: float  # the share of rewards that are 1

    def validate(self) -> None:
        size, dimension = self.system.thetas.shape
        known = {"M": size, "d": dimension}
        check_arrays(self, known, weights="M", levels="M", centre="d")
        check_weights(self.weights)
        check_numbers(self, "rate", LEAST, 1.0 - 1e-9)

    def noise(self) -> float:
        """The standard deviation of a reward."""
        return math.sqrt(self.rate * (1.0 - self.rate))

    def particles(self) -> Particles:
        return Particles(self.system.thetas, self.system.included, self.weights)

    def rewards_on(self, menu: Menu) -> Floats:  # (M, K)
        """The probability of a reward of 1, for each action under every particle."""
        shift = self.levels - self.system.thetas @ self.centre
        rates: Floats = expit(self.system.rewards_on(menu) + shift[:, None])
        return rates

    def rewards_of(self, action: Floats) -> Floats:  # (M,)
        """The probability of a reward of 1 of one action."""
        rates: Floats = expit(self.levels + self.system.thetas @ (action - self.centre))
        return rates


class Quadratics(NamedTuple):
    """Weighted squares in place of the log likelihoods of a tally about its centre."""

    tally: Tally
    curvatures: Floats  # (N,)
    slopes: Floats  # (N,)  at log odds of zero

    @classmethod
    def about(cls, tally: Tally, means: Floats, deviations: Floats) -> Self:
        """Those with the mean slope and curvature under Gaussian log odds of each action, (N,)."""
        rates = expit(means[:, None] + deviations[:, None] * NODES)
        curvatures = tally.trials * ((rates * (1.0 - rates)) @ SHARES)
        slopes = tally.successes - tally.trials * (rates @ SHARES) + curvatures * means
        return cls(tally, curvatures, slopes)

    def sums(self) -> tuple[Floats, Floats]:
        """Gram (d, d) and moment (d,), a flat level integrated out."""
        actions, whole = self.tally.actions, max(float(self.curvatures.sum()), 1e-300)
        deviations = actions - self.curvatures @ actions / whole
        level = float(self.slopes.sum()) / whole
        gram = (deviations.T * self.curvatures) @ deviations
        return gram, deviations.T @ (self.slopes - level * self.curvatures)


@dataclass(frozen=True)
class Logistic(SparsePosterior):
    """Each feature matters with an unknown probability; effects on the log odds are Gaussian.

    Their standard deviation is half a unit of log odds for a feature of unit variance. The level
    has the prior under which the rate of the mean action is Beta(1/2, 1/2). The radius bounds the
    sum of the effects.
    """

    in_ball: ClassVar[bool] = True
    estimates_evidence: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise is not None:
            raise ValueError(
                f"noise must be left out beside rewards='binary', got {self.noise}: the rate of "
                "an action determines its noise"
            )

    def prior(self, evidence: Evidence) -> Prior:
        d, s = self.dimension, self.sparsity
        sizes = IndependentLaw(d, d if s is None else min(d, 50 + 10 * s), s)
        spread = spread_of(evidence)
        radius = (1.0 + math.sqrt(d)) / spread if self.radius is None else self.radius
        slab = Slab((spread / EFFECT) ** 2)
        return Prior.of(sizes, slab, Span(radius, radius), Noise(math.inf, 1.0))

    def check_belief(self, belief: Any, evidence: Evidence, tuning: Tuning) -> None:
        if not isinstance(belief, Clicks) or evidence.tally is None:
            raise ValueError(f"belief must be of a logistic model, got {type(belief).__name__}")
        # The quadratics depend on earlier beliefs; all else must be that of the evidence.
        target = belief.system.target
        smooth = evidence._replace(
            played=target.gram, moment=target.moment, energy=1.0, centred=False
        )
        super().check_belief(belief.system, smooth, tuning._replace(eta=1.0))

    def update(  # type: ignore[override]
        self, belief: Clicks | None, evidence: Evidence, tuning: Tuning, rng: Generator
    ) -> Clicks:
        """The particles of the optimistic posterior, made from those of an earlier one."""
        counts = evidence.tally
        if counts is None:
            raise ValueError("evidence must have a tally for a logistic model, got none")
        # Half a success and half a failure of the mean action are the prior of the level.
        actions = np.vstack([counts.actions - counts.centre, np.zeros(self.dimension)])
        tally = Tally(
            actions, np.append(tuning.eta * counts.trials, 1.0),
            np.append(tuning.eta * counts.successes, 0.5),
        )  # fmt: skip
        prior, rate = self.prior(evidence), counts.rate
        # Optimism favours rewards; a unit of log odds is a reward of the variance.
        optimism = tuning.rate * rate * (1.0 - rate)
        if belief is None:
            system, quadratics = None, self.first(tally, evidence)
        else:
            system, quadratics = belief.system, quadratics_under(belief, tally, counts.centre)
        for _ in range(TRIES):
            gram, moment = quadratics.sums()
            smooth = evidence._replace(
                played=Gram.of(gram), moment=moment, energy=1.0, centred=False
            )
            before = None if system is None else system.target
            target = Target.of(smooth, prior, 1.0, optimism, before)
            system = system or start(target, tuning.particles, rng)
            system = advance(system, target, rng, tuning.sweeps, tuning.seconds)
            log_weights, levels = weighed(system, tally, gram, moment, rng)
            belief = Clicks(system, normalised(log_weights), levels, counts.centre, rate)
            if effective_share(log_weights) >= FEW:
                break
            quadratics = quadratics_under(belief, tally, counts.centre)
        assert belief is not None
        return belief

    def first(self, tally: Tally, evidence: Evidence) -> Quadratics:
        """The quadratics at the mode of a dense logistic regression."""
        precision = self.dimension * spread_of(evidence) ** 2 / EXPLAINED
        mode = logistic_mode(tally, precision)
        return Quadratics.about(
            tally, mode[0] + tally.actions @ mode[1:], np.zeros(len(tally.trials))
        )


def spread_of(evidence: Evidence) -> float:
    """The root mean variance of the features of the actions on offer; one before the first."""
    variances = [float(menu.actions.var(axis=0).mean()) for menu in evidence.menus]
    return math.sqrt(sum(variances) / len(variances)) or 1.0 if variances else 1.0


def quadratics_under(belief: Clicks, tally: Tally, centre: Floats) -> Quadratics:
    """The quadratics at what the particles believe."""
    shift = belief.levels + belief.system.thetas @ (centre - belief.centre)
    odds = shift[:, None] + scores_of(belief.system, tally)
    means = belief.weights @ odds
    deviations = np.sqrt(belief.weights @ (odds - means) ** 2)
    return Quadratics.about(tally, means, deviations)


def scores_of(system: ParticleSystem, tally: Tally) -> Floats:  # (M, N)
    """The log odds of the actions of a tally under every particle, without the level."""
    return all_rewards(system.thetas, np.ascontiguousarray(tally.actions.T))


def weighed(
    system: ParticleSystem, tally: Tally, gram: Floats, moment: Floats, rng: Generator
) -> tuple[Floats, Floats]:  # (M,) each
    """Log weights of the particles under the logistic likelihood, and levels drawn for them."""
    thetas = system.thetas
    guess = math.log(tally.rate / (1.0 - tally.rate))
    normals = rng.standard_normal(len(thetas))
    scores = scores_of(system, tally)
    levels, exact = draw_levels(scores, tally.trials, tally.successes, guess, normals)
    smooth = thetas @ moment - 0.5 * np.einsum("md,md->m", thetas @ gram, thetas)
    return system.log_weights + system.log_correction + exact - smooth, levels
