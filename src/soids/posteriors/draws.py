"""Draws that need no moves: parameters from the prior, radius and noise given a parameter."""

import numpy as np
from scipy.special import gammaln

from soids.arrays import Bools, Floats, Ints
from soids.kernels.density import sizes_and_lengths
from soids.kernels.weights import normalised
from soids.posteriors.prior import Prior, Span, log_slab_scale


def slabs_and_spikes(
    prior: Prior, particles: int, dimension: int, rng: np.random.Generator
) -> tuple[Floats, Bools]:
    """Draws of parameters and labels from a prior with slabs, its ball left out."""
    sizes = np.arange(len(prior.log_odds) + 1)
    log_peaks = log_slab_scale(prior.slab_precision, prior.slab_centre)
    if prior.spike_scale > 0.0:
        log_peaks += np.log(2.0 * prior.spike_scale)
    log_choices = gammaln(dimension + 1) - gammaln(sizes + 1) - gammaln(dimension - sizes + 1)
    law = normalised(log_choices + prior.log_sizes() - sizes * log_peaks)
    drawn = rng.choice(sizes, particles, p=law)
    ranks = rng.random((particles, dimension)).argsort(axis=1).argsort(axis=1)
    included = ranks < drawn[:, None]
    slab = rng.standard_normal((particles, dimension)) / prior.slab_precision**0.5
    if prior.slab_centre > 0.0:
        slab += prior.slab_centre * rng.choice([-1.0, 1.0], slab.shape)
    spike = prior.spike_scale * rng.laplace(size=(particles, dimension))
    return np.where(included, slab, spike), included


def uniform_in_balls(
    prior: Prior, radii: Floats, dimension: int, rng: np.random.Generator
) -> Floats:
    """Draws from the subset prior: a size, a support, a uniform point of its l1 ball."""
    thetas = np.zeros((len(radii), dimension))
    sizes = np.arange(1, len(prior.log_odds) + 1)
    law = normalised(prior.log_size_law(dimension))
    for m, size in enumerate(rng.choice(sizes, len(radii), p=law)):
        # k + 1 exponentials over their sum are uniform on the simplex; the last is what the ball
        # has to spare.
        spacings = rng.standard_exponential(size + 1)
        signs = rng.choice([-1.0, 1.0], size)
        support = rng.choice(dimension, size, replace=False)
        thetas[m, support] = radii[m] * signs * spacings[:-1] / spacings.sum()
    return thetas


def log_mass_of_balls(radius: Span, thetas: Floats) -> Floats:  # (M,)
    """Log prior density of parameters under all balls that hold them, their radius integrated out.

    The integral of ``R**(-k - 1)`` over these radii; factors that depend on the support alone are
    left out.
    """
    sizes, least = sizes_and_least_radii(radius, thetas)
    with np.errstate(divide="ignore"):  # no ball holds a parameter outside of the largest one
        log_mass: Floats = np.log1p(-((least / radius.high) ** sizes)) - sizes * np.log(least)
    return log_mass


def draw_radii(radius: Span, thetas: Floats, rng: np.random.Generator) -> Floats:  # (M,)
    """Radii given parameters: density ``R**(-k - 1)`` over the balls that hold each."""
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


def draw_variances(
    prior: Prior, misfits: Floats, rounds: float, rng: np.random.Generator
) -> Floats:
    """Noise variances given the (powered) residual sums of squares: conjugate inverse gamma."""
    shape, scale = prior.noise
    if prior.noise.known:
        return np.full(len(misfits), scale)
    return (scale + 0.5 * misfits) / rng.standard_gamma(shape + 0.5 * rounds, len(misfits))
