"""Radius and noise: what is known of them, and draws of them (docs/sampler.md section 2)."""

import math
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from soids.arrays import Floats, Ints
from soids.evidence import Evidence
from soids.kernels.density import sizes_and_lengths
from soids.records import LEAST, check_numbers


class Span(NamedTuple):
    """A positive number, log-uniform between two values, or known if they are equal."""

    low: float
    high: float

    def validate(self) -> None:
        check_numbers(self, "low high", LEAST, math.inf)
        check_numbers(self, "high", self.low, math.inf)

    @property
    def known(self) -> bool:
        return self.low == self.high

    def beyond(self, earlier: "Span") -> float:
        """The share of the values that exceed all of an earlier span; zero if known."""
        if self.known:
            return 0.0
        share = math.log(self.high / earlier.high) / math.log(self.high / self.low)
        return min(1.0, max(0.0, share))


class Noise(NamedTuple):
    """What is known of the noise variance: inverse gamma, or known if the shape is infinite."""

    shape: float
    scale: float  # of the inverse gamma, or the variance itself

    def validate(self) -> None:
        check_numbers(self, "shape", LEAST, math.inf)
        check_numbers(self, "scale", LEAST)

    @property
    def known(self) -> bool:
        return self.shape == math.inf


def ball(radius: float | None, evidence: Evidence) -> Span:
    """A known radius, or a span around the l2 norm that the rewards suggest.

    In the smallest ball, parameters of one or two features have that norm in the mean square.
    """
    if radius is not None:
        return Span(float(radius), float(radius))
    scale = evidence.scale()
    return Span(scale * 3.0**0.5, scale * (1.0 + evidence.moment.size**0.5))


def noise_level(noise: float | None, evidence: Evidence) -> Noise:
    """Known noise, or a vague guess worth four rounds: a tenth of the rewards' mean square."""
    if noise is not None:
        return Noise(math.inf, noise**2)
    mean_square = evidence.energy / evidence.degrees if evidence.energy > 0 else 1.0
    return Noise(2.0, 0.1 * mean_square)


def unit(noise: float | None, evidence: Evidence) -> float:
    """The unit of slab and spike, which are 10 and 0.1 in the paper: the noise, or a guess."""
    return noise if noise is not None else 0.2 * evidence.scale()


def log_mass_of_balls(radius: Span, thetas: Floats) -> Floats:  # (M,)
    """Log prior density, up to a constant of the support, with the radius integrated out: the
    integral of ``R**(-k - 1)`` over the balls that hold each parameter.
    """
    sizes, least = sizes_and_least_radii(radius, thetas)
    with np.errstate(divide="ignore"):  # a parameter outside of the largest ball has density zero
        log_mass: Floats = np.log1p(-((least / radius.high) ** sizes)) - sizes * np.log(least)
    return log_mass


def draw_radii(radius: Span, thetas: Floats, rng: Generator) -> Floats:  # (M,)
    """Radii given parameters, of density ``R**(-k - 1)`` over the balls that hold each."""
    if radius.known:
        return np.full(len(thetas), radius.high)
    sizes, least = sizes_and_least_radii(radius, thetas)
    beyond = rng.random(len(thetas)) * (1.0 - (least / radius.high) ** sizes)
    drawn: Floats = least * (1.0 - beyond) ** (-1.0 / sizes)
    return drawn


def sizes_and_least_radii(radius: Span, thetas: Floats) -> tuple[Ints, Floats]:  # (M,) each
    """How many features each parameter has, and the smallest possible radius of its ball."""
    sizes, lengths = sizes_and_lengths(thetas)
    return sizes, np.minimum(np.maximum(lengths, radius.low), radius.high)


def draw_variances(noise: Noise, misfits: Floats, rounds: float, rng: Generator) -> Floats:  # (M,)
    """Noise variances given eta times the residual sums of squares: conjugate inverse gamma."""
    shape, scale = noise
    if noise.known:
        return np.full(len(misfits), scale)
    return (scale + 0.5 * misfits) / rng.standard_gamma(shape + 0.5 * rounds, len(misfits))
