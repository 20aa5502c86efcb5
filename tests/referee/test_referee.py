"""The referee against exact answers, and the fast engine against the referee."""

import numpy as np
import pytest
from numba import config

from judging import (
    PARTICLES,
    assert_exact,
    chains,
    refereed_chains,
    scene,
    standard_errors,
    target_of,
)
from oracles import (
    binomial_sizes,
    enumerate_spike_slab,
    enumerate_subset_posterior,
    relaxed_grid,
)
from p_values import assert_plausible, two_sided
from referee.sampler import refereed
from soids.arrays import Floats
from soids.particles import Particles
from soids.posteriors import Relaxed, SpikeSlab, Subset

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")


def assert_refereed_exact(target, exact, past):
    assert_exact(refereed_chains(target, np.random.default_rng(2)), exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.6), (30, 0.1)])
def test_the_referee_draws_from_the_enumerated_subset_posterior(rounds, rate):
    past = scene(5, rounds)
    exact = enumerate_subset_posterior(past, sparsity=3, radius=2.0, eta=0.5, rate=rate)
    target = target_of(Subset(5, sparsity=3, radius=2.0, noise=1.0), past, 0.5, rate)
    assert_refereed_exact(target, exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.6), (30, 0.1)])
def test_the_referee_draws_from_the_enumerated_spike_slab_posterior(rounds, rate):
    past = scene(3, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(3, 1 / 3), slab_variance=4.0, radius=2.0, eta=0.5, rate=rate
    )
    posterior = SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, slab_variance=4.0)
    assert_refereed_exact(target_of(posterior, past, 0.5, rate), exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.2), (30, 0.1)])
def test_the_referee_draws_from_the_integrated_relaxed_posterior(rounds, rate):
    past = scene(2, rounds)
    exact = relaxed_grid(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, spike_scale=0.2, eta=0.5, rate=rate
    )
    posterior = Relaxed(2, sparsity=1, noise=1.0, slab_variance=4.0, spike_scale=0.2)
    assert_refereed_exact(target_of(posterior, past, 0.5, rate), exact, past)


def summaries(particles: Particles, menu: Floats) -> Floats:  # (M, n)
    """What is compared where nothing is known exactly."""
    thetas = particles.thetas
    best = (thetas @ menu.T).max(axis=1, keepdims=True)
    return np.hstack([thetas, thetas**2, particles.included, best])


@pytest.mark.parametrize("posterior", [
    Subset(8, sparsity=3, radius=2.0, noise=1.0),
    SpikeSlab(8, sparsity=3, radius=3.0, noise=1.0, slab_variance=1.0),
    Relaxed(8, sparsity=3, noise=1.0, slab_variance=1.0, spike_scale=0.1),
], ids=["subset", "spike_slab", "relaxed"])  # fmt: skip
def test_the_fast_engine_and_the_referee_agree_beyond_enumeration(posterior):
    past = scene(8, 20, actions=15)
    target = target_of(posterior, past, 0.5, 0.1)

    def p_values(rng, times):
        fast = chains(target, rng, times * PARTICLES).particles()
        means, variances = [], []
        for particles in (fast, refereed_chains(target, rng, times * 1500)):
            values = summaries(particles, past.menus[0])
            means.append(particles.weights @ values)
            variances.append(standard_errors(particles.weights, values, means[-1]) ** 2)
        return two_sided((means[0] - means[1]) / np.sqrt(variances[0] + variances[1]))

    assert_plausible(p_values)


@pytest.mark.parametrize(("posterior", "menus", "words"), [
    (Subset(2, sparsity=1, radius=2.0), 1, "known noise"),
    (Subset(2, sparsity=1, noise=1.0), 1, "known radius"),
    (SpikeSlab(2, sparsity=1, radius=2.0, noise=1.0, spread=0.5), 1, "slabs about zero only"),
    (Subset(2, sparsity=1, radius=2.0, noise=1.0), 2, "one action set"),
    (Subset(2, sparsity=1, radius=2.0, noise=1.0), 1, "1..1 features"),
])  # fmt: skip
def test_the_referee_refuses_what_it_cannot_judge(posterior, menus, words):
    target = target_of(posterior, scene(2, 6, menus=menus), 0.5, 0.1)
    everything = np.ones((1, 2), dtype=bool)
    with pytest.raises(ValueError, match=words):
        refereed(target, np.zeros((1, 2)), everything, sweeps=1, rng=np.random.default_rng(0))
