"""Laws of the values of the features that matter, given the support: density, draws, and the
numbers that the moves need.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from soids.arrays import Bools, Floats, Ints
from soids.kernels.density import twins
from soids.posteriors.unknowns import Span, log_mass_of_balls
from soids.records import check_numbers

Draws = tuple[Floats, Bools]  # (M, d) each: parameters, and which features matter


@dataclass(frozen=True)
class ValueLaw(ABC):
    """The law of the values; moves read its settings, ``lean`` and ``uniform_in_ball``."""

    uniform_in_ball: ClassVar[bool] = False  # whether k values have the density's factor (2 R)**-k

    slab_precision: float = 0.0  # 1 / rho_1; zero if there is no slab
    spike_scale: float = 0.0  # rho_0; zero if the other features are exactly zero
    centre: float = 0.0  # mean of one half of the slab; the other half has its negative

    def validate(self) -> None:
        check_numbers(self, "slab_precision spike_scale centre", 0.0)

    @property
    def lean(self) -> float:
        """By how much the two halves of the slab raise or lower the slope of a log density."""
        return self.centre * self.slab_precision

    @property
    def log_scale(self) -> float:
        """The log of the factor that each value contributes at the density's peak."""
        return 0.0

    def growth(self, sizes: Ints) -> Floats:
        """The other factors of the density of k values over that of k - 1, for sizes k."""
        return np.ones(len(sizes))

    @abstractmethod
    def log_terms(self, thetas: Floats, included: Bools, radius: Span) -> Iterator[Floats]:
        """The terms (M,) of the log density that differ between particles or targets."""

    @abstractmethod
    def draw(self, sizes: Ints, radii: Floats, dimension: int, rng: Generator) -> Draws:
        """Parameters and labels of given sizes, not yet restricted to a ball."""


class UniformInBall(ValueLaw):
    """Uniform on the l1 ball in the space of the support, whose volume is ``(2 R)**k / k!``."""

    uniform_in_ball: ClassVar[bool] = True

    def growth(self, sizes: Ints) -> Floats:
        return sizes.astype(np.float64)

    def log_terms(self, thetas: Floats, included: Bools, radius: Span) -> Iterator[Floats]:
        if not radius.known:
            yield log_mass_of_balls(radius, thetas)

    def draw(self, sizes: Ints, radii: Floats, dimension: int, rng: Generator) -> Draws:
        thetas = np.zeros((len(radii), dimension))
        for m, size in enumerate(sizes):
            # k + 1 exponentials over their sum are uniform on the simplex; the last is the rest.
            spacings = rng.standard_exponential(size + 1)
            signs = rng.choice([-1.0, 1.0], size)
            support = rng.choice(dimension, size, replace=False)
            thetas[m, support] = radii[m] * signs * spacings[:-1] / spacings.sum()
        return thetas, thetas != 0.0


class Slab(ValueLaw):
    """Gaussian, with mean zero or two opposite means; the other features are zero, or Laplace."""

    @property
    def log_scale(self) -> float:
        """The constants of the slab's log density, over the spike's peak."""
        scale = 0.5 * math.log(self.slab_precision / (2.0 * math.pi))
        if self.centre > 0.0:
            scale -= math.log(2.0) + 0.5 * self.slab_precision * self.centre**2
        return scale + (math.log(2.0 * self.spike_scale) if self.spike_scale > 0.0 else 0.0)

    def log_terms(self, thetas: Floats, included: Bools, radius: Span) -> Iterator[Floats]:
        slab = np.where(included, thetas, 0.0) if self.spike_scale > 0.0 else thetas
        yield -0.5 * self.slab_precision * np.einsum("md,md->m", slab, slab)
        if self.centre > 0.0:
            yield twins(slab, self.lean)
        if self.spike_scale > 0.0:
            length = np.abs(np.where(included, 0.0, thetas)).sum(axis=1)
            yield -(length / self.spike_scale + thetas.shape[1] * np.log(self.spike_scale))
        yield np.where(np.abs(thetas).sum(axis=1) > radius.high, -np.inf, 0.0)

    def draw(self, sizes: Ints, radii: Floats, dimension: int, rng: Generator) -> Draws:
        shape = len(sizes), dimension
        ranks = rng.random(shape).argsort(axis=1).argsort(axis=1)
        included = ranks < sizes[:, None]
        slab = rng.standard_normal(shape) / self.slab_precision**0.5
        if self.centre > 0.0:
            slab += self.centre * rng.choice([-1.0, 1.0], shape)
        spike = self.spike_scale * rng.laplace(size=shape)
        return np.where(included, slab, spike), included
