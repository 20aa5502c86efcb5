"""Unknown radius and noise, sampled with the parameter, against mixtures of exact answers."""

import math

import numpy as np
import pytest
from numba import config

from judging import assert_chains_exact, evidence_of, mean_p_value, scene, target_of
from oracles import (
    binomial_sizes,
    enumerate_spike_slab,
    enumerate_subset_posterior,
    log_nodes,
    mean_of,
    mixed,
    noise_nodes,
    relaxed_grid,
)
from soids.posteriors import Relaxed, SpikeSlab, Subset
from soids.posteriors.unknowns import draw_radii

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_an_unknown_noise_is_integrated_out(rate):
    past = scene(2, 12, noise=0.5)
    target = target_of(Subset(2, sparsity=2, radius=2.0), past, 0.5, rate)
    variances, log_priors = noise_nodes(target.prior.noise)
    given = [
        enumerate_subset_posterior(
            past, sparsity=2, radius=2.0, eta=0.5, rate=rate, noise=math.sqrt(variance)
        )
        for variance in variances
    ]
    mean = mean_of(np.log(variances), given, log_priors)
    assert_chains_exact(
        target, mixed(given, log_priors), past,
        lambda system: mean_p_value(system, np.log(system.variances), mean),
    )  # fmt: skip


def test_an_unknown_noise_is_integrated_out_of_the_spike_slab_posterior():
    past = scene(1, 12, noise=0.5)
    posterior = SpikeSlab(1, sparsity=1, radius=math.inf, slab_variance=4.0)
    target = target_of(posterior, past, 0.5, 0.1)
    variances, log_priors = noise_nodes(target.prior.noise)
    given = [
        enumerate_spike_slab(
            past, sizes=binomial_sizes(1, 0.5), slab_variance=4.0, eta=0.5, rate=0.1,
            noise=math.sqrt(variance),
        )
        for variance in variances
    ]  # fmt: skip
    assert_chains_exact(target, mixed(given, log_priors), past)


def test_an_unknown_noise_is_integrated_out_of_the_relaxed_posterior():
    past = scene(1, 12, noise=0.5)
    posterior = Relaxed(1, sparsity=1, slab_variance=4.0, spike_scale=0.2)
    target = target_of(posterior, past, 0.5, 0.1)
    variances, log_priors = noise_nodes(target.prior.noise)
    given = [
        relaxed_grid(
            past, sizes=binomial_sizes(1, 0.5), slab_variance=4.0, spike_scale=0.2, eta=0.5,
            rate=0.1, noise=math.sqrt(variance),
        )
        for variance in variances
    ]  # fmt: skip
    assert_chains_exact(target, mixed(given, log_priors), past)


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_an_unknown_radius_is_integrated_out(rate):
    past = scene(2, 12)
    target = target_of(Subset(2, sparsity=2, noise=1.0), past, 0.5, rate)
    radii, log_priors = log_nodes(*target.prior.radius)
    given = [
        enumerate_subset_posterior(past, sparsity=2, radius=radius, eta=0.5, rate=rate)
        for radius in radii
    ]
    mean = mean_of(np.log(radii), given, log_priors)

    def radius_p_value(system):
        drawn = draw_radii(target.prior.radius, system.thetas, np.random.default_rng(0))
        return mean_p_value(system, np.log(drawn), mean)

    assert_chains_exact(target, mixed(given, log_priors), past, radius_p_value)


@pytest.mark.parametrize("dimension", [1, 9])
def test_an_unknown_radius_begins_where_one_or_two_features_fit(dimension):
    past = scene(dimension, 4)
    evidence = evidence_of(past)
    low, high = Subset(dimension).prior(evidence).radius
    assert low == pytest.approx(math.sqrt(3.0) * evidence.scale())
    assert high == pytest.approx((1.0 + math.sqrt(dimension)) * evidence.scale())
