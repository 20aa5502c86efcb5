"""ParticleSystems weighted and carried from target to target, against exact answers."""

import itertools
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from numba import config

from judging import assert_exact, evidence_of, mean_p_value, observables, scene, target_of
from oracles import (
    Exact,
    Past,
    binomial_sizes,
    enumerate_spike_slab,
    enumerate_subset_posterior,
    mean_of,
    mixed,
    noise_nodes,
    relaxed_grid,
)
from p_values import assert_plausible, of_zero_means
from soids.arrays import Floats
from soids.evidence import Evidence
from soids.posteriors import Relaxed, SpikeSlab, Subset, Tuning
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.smc import aimed, start

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")

KNOWN_OR_NOT = pytest.mark.parametrize("noise", [1.0, None], ids=["known_noise", "unknown_noise"])


@KNOWN_OR_NOT
@pytest.mark.parametrize("intercept", [False, True])
def test_weights_alone_turn_the_prior_into_the_posterior(noise, intercept):
    past = scene(3, 3)._replace(intercept=intercept)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=noise), past, 0.25, 0.3)
    variances, log_priors = noise_nodes(target.prior.noise)
    given = [
        enumerate_subset_posterior(
            past, sparsity=2, radius=2.0, eta=0.25, rate=0.3, noise=math.sqrt(variance)
        )
        for variance in variances
    ]
    system = aimed(start(target, 10_000, np.random.default_rng(0)), target)
    mean = mean_of(np.log(variances), given, log_priors)
    noise = mean_p_value(system, np.log(system.variances), mean)
    assert_exact(system.particles(), mixed(given, log_priors), past, noise)


@pytest.mark.parametrize(("oracle", "wide", "narrow"), [
    (
        partial(enumerate_spike_slab, radius=2.0),
        SpikeSlab(2, sparsity=2, radius=4.0, noise=1.0, slab_variance=4.0),
        SpikeSlab(2, sparsity=1, radius=2.0, noise=1.0, slab_variance=2.0),
    ),
    (
        partial(relaxed_grid, spike_scale=0.2),
        Relaxed(2, sparsity=2, noise=1.0, slab_variance=4.0, spike_scale=0.4),
        Relaxed(2, sparsity=1, noise=1.0, slab_variance=2.0, spike_scale=0.2),
    ),
], ids=["spike_slab", "relaxed"])  # fmt: skip
def test_weights_alone_carry_particles_to_other_scales(oracle, wide, narrow):
    past = scene(2, 3)
    exact = oracle(past, sizes=binomial_sizes(2, 0.5), slab_variance=2.0, eta=0.25, rate=0.2)
    system = start(target_of(wide, past, 0.25, 0.2), 10_000, np.random.default_rng(0))
    assert_exact(aimed(system, target_of(narrow, past, 0.25, 0.2)).particles(), exact, past)


# Estimates of separate systems are independent whatever their particles share, so their standard
# deviation is the honest error; with 40 of them it is known to a tenth.
SYSTEMS = 40


def assert_clouds_are_exact(
    system: Callable[[np.random.Generator], ParticleSystem], exact: Exact, past: Past
) -> None:
    def p_values(rng: np.random.Generator, times: int) -> Floats:
        estimates = []
        for particles in (system(own).particles() for own in rng.spawn(times * SYSTEMS)):
            values, means = observables(particles, exact, past.menus[0])
            estimates.append(particles.weights @ values - means)
        return of_zero_means(np.array(estimates))

    assert_plausible(p_values)


def history(past: Past) -> list[Past]:
    """The past as it was after each round."""
    return [
        past._replace(offered=past.offered[:t], played=past.played[:t], rewards=past.rewards[:t])
        for t in range(1, len(past.rewards) + 1)
    ]


@KNOWN_OR_NOT
def test_particles_carried_from_round_to_round_stay_exact(noise):
    past = scene(3, 12, menus=2)
    posterior = Subset(3, sparsity=2, radius=2.0, noise=noise)
    rounds = [evidence_of(earlier) for earlier in history(past)]
    variances, log_priors = noise_nodes(posterior.prior(rounds[-1]).noise)
    given = [
        enumerate_subset_posterior(
            past, sparsity=2, radius=2.0, eta=0.5, rate=0.2, noise=math.sqrt(variance)
        )
        for variance in variances
    ]
    rates = np.linspace(0.6, 0.2, len(rounds))  # optimism changes too

    def carried(rng: np.random.Generator) -> ParticleSystem:
        system = None
        for evidence, rate in zip(rounds, rates, strict=True):
            system = posterior.update(system, evidence, Tuning(0.5, rate, 200, 1), rng)
        return system

    assert_clouds_are_exact(carried, mixed(given, log_priors), past)


@pytest.mark.parametrize(("oracle", "posterior"), [
    (
        enumerate_spike_slab,
        SpikeSlab(2, sparsity=1, radius=math.inf, noise=0.6, slab_variance=4.0),
    ),
    (
        partial(relaxed_grid, spike_scale=0.2),
        Relaxed(2, sparsity=1, noise=0.6, slab_variance=4.0, spike_scale=0.2),
    ),
], ids=["spike_slab", "relaxed"])  # fmt: skip
def test_particles_that_meet_all_evidence_at_once_are_exact(oracle, posterior):
    past = scene(2, 30, noise=0.6)
    exact = oracle(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, eta=1.0, rate=0.1, noise=0.6
    )
    evidence = evidence_of(past)
    assert_clouds_are_exact(
        lambda rng: posterior.update(None, evidence, Tuning(1.0, 0.1, 200, 2), rng), exact, past
    )


@pytest.mark.parametrize("eta", [1.0, 0.5])
def test_the_evidence_is_the_average_likelihood_over_the_prior(eta):
    """Against integrals over a segment and a square of the l1 ball of radius 2, d = 3, s = 2."""
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (12, 3))
    rewards = actions @ [1.2, -0.5, 0.0] + 0.7 * rng.standard_normal(12)
    line = np.linspace(-2.0, 2.0, 801)
    masses = {1: 0.5 / 3, 2: 0.25 / 3}  # 2^-k / C(3, k)
    total = 0.0
    for size, mass in masses.items():
        for support in itertools.combinations(range(3), size):
            points = np.array(list(itertools.product(line, repeat=size)))
            points = points[np.abs(points).sum(axis=1) <= 2.0]
            misfits = ((points @ actions[:, support].T - rewards) ** 2).sum(axis=1)
            total += mass / 0.75 * np.exp(-0.5 * eta * misfits / 0.49).mean()
    posterior = Subset(3, sparsity=2, radius=2.0, noise=0.7)

    def estimate(rng):
        system, evidence = None, Evidence.empty(3)
        for action, reward in zip(actions, rewards, strict=True):
            evidence = evidence.note(action, reward)
            system = posterior.update(system, evidence, Tuning(eta, 0.0, 200, 1), rng)
        return system.log_evidence()

    def p_values(rng, times):
        ratios = np.exp([estimate(own) - np.log(total) for own in rng.spawn(times * SYSTEMS)])
        assert ratios.std() < 0.5
        return of_zero_means(ratios[:, None] - 1.0)  # unbiased

    assert_plausible(p_values)
