"""The dense conjugate posterior, without sparsity, drawn directly."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from soids.arrays import Floats, as_count, as_flag
from soids.evidence import Evidence, Menu
from soids.gram import ROUNDING
from soids.kernels.density import optimism
from soids.kernels.weights import normalised
from soids.particles import Particles
from soids.posteriors.posterior import Posterior
from soids.posteriors.target import Tuning
from soids.posteriors.unknowns import noise_level, unit
from soids.records import LEAST, check_arrays, check_numbers, check_weights
from soids.regression.empirical_bayes import empirical_bayes


class Draws(NamedTuple):
    """Independent draws from a dense posterior, weighted for its optimism."""

    thetas: Floats  # (M, d)
    weights: Floats  # (M,)
    variance: float  # of the noise

    def validate(self) -> None:
        check_arrays(self, thetas="M d", weights="M")
        check_weights(self.weights)
        check_numbers(self, "variance", LEAST)

    def noise(self) -> float:
        return float(np.sqrt(self.variance))

    def rewards_on(self, menu: Menu) -> Floats:
        return self.thetas @ menu.columns

    def particles(self) -> Particles:
        return Particles(self.thetas, self.thetas != 0.0, self.weights)


@dataclass(frozen=True)
class Gaussian(Posterior):
    """Independent N(0, slab variance) coordinates; unknown noise is estimated.

    Sparsity and radius have no effect. If ``empirical``, the slab variance is estimated too, by
    maximum likelihood. Coordinates outside of ``support`` are known to be zero. Draws are exact and
    independent, but with several action sets arms and parameters are drawn in turn.
    """

    selects_features: ClassVar[bool] = False

    slab_variance: float | None = None  # ten times the noise variance
    empirical: bool = False
    support: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        as_flag(self.empirical, "empirical")
        if self.empirical and self.slab_variance is not None:
            raise ValueError(
                f"slab_variance must be left out to be estimated, got {self.slab_variance}"
            )
        if self.support is not None:
            object.__setattr__(self, "support", as_support(self.support, self.dimension))

    def check_belief(self, belief: Any, evidence: Evidence, tuning: Tuning) -> None:
        if not isinstance(belief, Draws):
            raise ValueError(f"belief must be draws, got {type(belief).__name__}")
        super().check_belief(belief, evidence, tuning)

    def update(self, draws: Any, evidence: Evidence, tuning: Tuning, rng: Generator) -> Draws:
        """Draws from the optimistic posterior."""
        if tuning.rate == 0.0:  # then action sets do not matter
            evidence = evidence._replace(menus=(), counts=())
        if draws is not None and len(draws.thetas) != tuning.particles:
            draws = None
        if self.support is None:
            return self.drawn(draws, evidence, tuning, rng)
        features, thetas = list(self.support), np.zeros((tuning.particles, self.dimension))
        if draws is not None:
            draws = draws._replace(thetas=draws.thetas[:, features])
        on_support = self.drawn(draws, evidence.restricted(features), tuning, rng)
        thetas[:, features] = on_support.thetas
        return on_support._replace(thetas=thetas)

    def drawn(self, draws: Any, evidence: Evidence, tuning: Tuning, rng: Generator) -> Draws:
        """Draws of all coordinates of the evidence."""
        if self.empirical:
            variance, slab_variance = empirical_bayes(evidence, *noise_level(self.noise, evidence))
        else:
            slab_variance = self.slab_variance or 10.0 * unit(self.noise, evidence) ** 2
            variance = self.noise_variance(evidence, 1.0 / slab_variance)
        power, identity = tuning.eta / variance, np.eye(len(evidence.moment))
        factor = factored(power * evidence.gram + (1.0 / slab_variance) * identity)
        plain = power * evidence.moment - tuning.rate * evidence.total
        menus = evidence.menus if tuning.rate > 0.0 or len(evidence.menus) == 1 else ()
        tilts = tuning.rate * evidence.offered if menus else np.empty(0)
        size = tuning.particles
        if len(menus) == 1:
            pulls = tilts[0] * menus[0].actions
            solved = cho_solve(factor, (plain + pulls).T)
            arm_weights = normalised(0.5 * ((plain + pulls).T * solved).sum(axis=0))
            slopes = plain + pulls[rng.choice(len(pulls), size, p=arm_weights)]
            thetas = gaussians(factor, slopes, rng)
        elif menus and draws is not None:
            thetas = draws.thetas
        else:
            thetas = gaussians(factor, np.tile(plain, (size, 1)), rng)
        sweeps = max(tuning.sweeps, 1) if len(menus) > 1 else 0
        for _ in range(sweeps):
            thetas = gaussians(factor, plain + drawn_pulls(thetas, menus, tilts, rng), rng)
        rewards = np.hstack([np.empty((size, 0)), *(thetas @ menu.columns for menu in menus)])
        best, soft = optimism(rewards, np.cumsum([0, *(len(m.actions) for m in menus)]), tilts)
        return Draws(thetas, normalised(best - soft), variance)

    def noise_variance(self, evidence: Evidence, prior_precision: float) -> float:
        """The noise variance, given or estimated from the ridge residuals."""
        shape, scale = noise_level(self.noise, evidence)
        if self.noise is not None:
            return scale
        ridge = evidence.gram + scale * prior_precision * np.eye(len(evidence.moment))
        explained = float(evidence.moment @ np.linalg.solve(ridge, evidence.moment))
        misfit = max(evidence.energy - explained, 0.0)
        return (scale + 0.5 * misfit) / (shape + 0.5 * evidence.degrees)


def as_support(support: object, dimension: int) -> tuple[int, ...]:
    """A valid set of features, as columns."""
    if not isinstance(support, Iterable) or isinstance(support, str):
        raise ValueError(f"support must be a list of features, got {support!r}")
    if any(isinstance(feature, bool | np.bool_) for feature in support):
        raise ValueError("support must list columns by number: use np.flatnonzero on a mask")
    columns = tuple(as_count(feature, "support", 0, dimension - 1) for feature in support)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"support must name each feature once, and at least one, got {columns}")
    return columns


def factored(precision: Floats) -> tuple[Floats, bool]:
    """The Cholesky factor, of a slightly larger matrix if rounding hides the prior's part."""
    try:
        return cho_factor(precision, lower=True)
    except LinAlgError:
        ridge = ROUNDING * np.trace(precision) * np.eye(len(precision))
        return cho_factor(precision + ridge, lower=True)


def gaussians(factor: tuple[Floats, bool], slopes: Floats, rng: Generator) -> Floats:
    """A draw from N(P^-1 slope, P^-1) for each row of slopes (M, d), with the factor of P."""
    noise = solve_triangular(factor[0], rng.standard_normal(slopes.shape).T, lower=True, trans="T")
    draws: Floats = (cho_solve(factor, slopes.T) + noise).T
    return draws


def drawn_pulls(thetas: Floats, menus: tuple[Menu, ...], tilts: Floats, rng: Generator) -> Floats:
    """The summed pull (M, d) of one arm per action set, drawn from the softmax of its rewards."""
    pulls = np.zeros_like(thetas)
    for menu, tilt in zip(menus, tilts, strict=True):
        scores = tilt * (thetas @ menu.columns) + rng.gumbel(size=(len(thetas), len(menu.actions)))
        pulls += tilt * menu.actions[scores.argmax(axis=1)]
    return pulls
