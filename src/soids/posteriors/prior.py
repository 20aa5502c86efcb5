"""A sparsity prior, in the form that the moves of the sampler use.

A support of size k is grown by one coordinate at the price ``log_odds[k]``; which coordinates are
in it never matters. Given the support, the active coordinates are uniform on an l1 ball or
Gaussian, about zero or about two values of either sign, the others zero or Laplace.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from soids.arrays import SMALLEST, Floats, as_count, as_number, as_radius
from soids.evidence import Evidence

NARROWEST = 0.05  # spread: below, moves hardly find from one value to another


class Span(NamedTuple):
    """A positive number, log-uniform between two values, or known if they are equal."""

    low: float
    high: float

    @property
    def known(self) -> bool:
        return self.low == self.high

    def beyond(self, earlier: "Span") -> float:
        """The share of the values that exceed all of an earlier span; zero if known."""
        if self.known:
            return 0.0
        return min(
            1.0, max(0.0, math.log(self.high / earlier.high) / math.log(self.high / self.low))
        )


class Noise(NamedTuple):
    """What is known of the noise variance: inverse gamma, or known if the shape is infinite."""

    shape: float
    scale: float  # of the inverse gamma, or the variance itself

    @property
    def known(self) -> bool:
        return self.shape == math.inf


class Prior(NamedTuple):
    """A prior over sparse parameters; the defaults are those of the theory's subset prior."""

    log_odds: Floats  # (largest size the moves may visit,)
    largest: int  # sizes above it are visited by the moves and given weight zero
    radius: Span
    noise: Noise
    smallest: int = 1
    slab_precision: float = 0.0  # zero: uniform on the ball
    spike_scale: float = 0.0  # zero: exact zeros
    slab_centre: float = 0.0  # half of the slab lies about it, half about its negative

    @property
    def uniform_in_ball(self) -> bool:
        return self.slab_precision == 0.0

    @property
    def lean(self) -> float:
        """By how much the two halves of the slab raise and lower the slope of a log density."""
        return self.slab_centre * self.slab_precision

    def log_sizes(self) -> Floats:  # (largest size + 1,)
        """Log prior weight of one support of each size."""
        return np.concatenate([[0.0], np.cumsum(self.log_odds)])

    def log_size_law(self, dimension: int) -> Floats:  # (largest size the moves may visit,)
        """Log weight of all supports of each size from one, for a prior uniform on balls."""
        sizes = np.arange(1, len(self.log_odds) + 1)
        # Prices are per support and unit of volume: count the supports and their balls.
        return np.cumsum(self.log_odds + np.log((dimension + 1 - sizes) / sizes**2))

    def log_lawful(self, dimension: int) -> float:
        """Log prior mass of the supports that are not too large."""
        if self.largest >= len(self.log_odds):
            return 0.0
        law = self.log_size_law(dimension)
        return float(logsumexp(law[: self.largest]) - logsumexp(law))


def log_slab_scale(precision: float, centre: float = 0.0) -> float:
    """What a slab's log density has besides ``-precision * x**2 / 2`` and, if its two halves lie
    about a centre, the log of ``exp(lean * x) + exp(-lean * x)``.
    """
    scale = 0.5 * math.log(precision / (2.0 * math.pi))
    return scale - (math.log(2.0) + 0.5 * precision * centre**2 if centre > 0.0 else 0.0)


def check_told(posterior: Any) -> None:
    """Refuse settings of a posterior that make no sense; numbers of other kinds become floats."""
    as_count(posterior.dimension, "dimension")
    if posterior.sparsity is not None:
        as_count(posterior.sparsity, "sparsity", 1, posterior.dimension)
    checks = dict.fromkeys(("noise", "slab_variance", "spike_scale"), SMALLEST)
    for name, low in {"radius": None, **checks, "spread": NARROWEST}.items():
        told = getattr(posterior, name, None)
        if told is None:
            continue
        number = as_radius(told) if low is None else as_number(told, name, low)
        if not isinstance(told, int | float):  # single precision would be compiled for apart
            object.__setattr__(posterior, name, number)


def subset_odds(dimension: int, ratios: Floats) -> Floats:
    """Log odds of one coordinate more: ``w(k) / C(d, k)`` over the ball's ``(2 R)**k / k!``.

    ``ratios`` are those of the sizes' weights, ``w(k) / w(k - 1)`` for k = 1, 2, ... The factor
    ``1 / (2 R)`` is left to the moves, which know each particle's radius.
    """
    k = np.arange(len(ratios))
    return np.log(ratios * (k + 1) ** 2 / (dimension - k))


def binomial_odds(dimension: int, sparsity: int | None) -> Floats:
    """Log odds of one inclusion more: probability s / d for each, or an unknown one.

    An unknown probability is uniform on (0, 1); integrated out, it leaves the beta-binomial prior
    on supports.
    """
    k = np.arange(dimension)
    if sparsity is None:
        return np.log((k + 1) / (dimension - k))
    share = min(sparsity / dimension, 1 - 0.5 / dimension)  # s = d must leave the spike some mass
    return np.full(dimension, math.log(share / (1 - share)))


def ball(radius: float | None, evidence: Evidence) -> Span:
    """A known radius, or one that the l2 norm suggested by the rewards allows, with some room.

    In the smallest ball parameters of one or two features have that norm, in the mean square: with
    smaller ones, many small features would come cheap.
    """
    if radius is not None:
        return Span(float(radius), float(radius))
    scale = evidence.scale()
    return Span(scale * 3.0**0.5, scale * (1.0 + evidence.moment.size**0.5))


def noise_level(noise: float | None, evidence: Evidence) -> Noise:
    """Known noise, or a vague guess worth four rounds: a tenth of the rewards' mean square."""
    if noise is not None:
        return Noise(math.inf, noise**2)
    mean_square = evidence.energy / evidence.rounds if evidence.energy > 0 else 1.0
    return Noise(2.0, 0.1 * mean_square)


def unit(noise: float | None, evidence: Evidence) -> float:
    """The unit of the paper's slab variance (10) and spike (0.1): the noise, or a guess."""
    return noise if noise is not None else 0.2 * evidence.scale()
