"""The samplers against exact answers: supports enumerated, parameters integrated on nodes.

Every chain starts far away and moves alone, so last states are independent draws, and weighted
averages of them have the standard errors of plain importance sampling. All comparisons are made at
4 of these, with fixed seeds: a correct sampler fails one in 16 000, and the file makes some 2 000.
The oracles' own errors are below 1e-3 of a posterior standard deviation, a tenth of a standard
error.
"""

import math

import numpy as np
import pytest
from numba import config

from oracles import (
    Exact,
    Past,
    binomial_sizes,
    enumerate_spike_slab,
    enumerate_subset_posterior,
    mixed,
    relaxed_grid,
)
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.particles import Particles
from soids.posteriors import Relaxed, SpikeSlab, Subset, Tuning
from soids.posteriors.prior import Noise
from soids.posteriors.referee import refereed
from soids.posteriors.smc import Cloud, aimed, draw_variances, moved, normalised, placed, start
from soids.posteriors.target import Target

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")

Z = 4.0
PARTICLES, SWEEPS = 3000, 20
COMMON = 0.01  # rarer supports are compared together: single ones are too few to be Gaussian

ETAS = pytest.mark.parametrize("eta", [0.25, 0.5, 1.0])
# Few rounds leave the posterior wide and touching the ball; the rates make optimism worth 2 nats.
ROUNDS_AND_RATES = pytest.mark.parametrize(
    ("rounds", "rate"), [(3, 0.0), (3, 0.6), (30, 0.0), (30, 0.1)]
)

KNOWN_OR_NOT = pytest.mark.parametrize("noise", [1.0, None], ids=["known_noise", "unknown_noise"])


def scene(
    dimension: int, rounds: int, *, noise: float = 1.0, menus: int = 1, actions: int = 7
) -> Past:
    """A past in which a sparse parameter earned the rewards of actions played at random."""
    rng = np.random.default_rng([dimension, rounds])
    theta = np.array([0.8, -0.6, *[0.0] * dimension])[:dimension]
    offers = tuple(rng.uniform(-1, 1, (actions, dimension)) for _ in range(menus))
    offered = tuple(int(n) for n in rng.integers(menus, size=rounds))
    played = np.array([offers[n][rng.integers(actions)] for n in offered])
    return Past(offers, offered, played, played @ theta + noise * rng.standard_normal(rounds))


def evidence_of(past: Past) -> Evidence:
    menus = [Menu(actions) for actions in past.menus]
    evidence = Evidence.empty(past.played.shape[1])
    for offer, action, reward in zip(past.offered, past.played, past.rewards, strict=True):
        evidence = evidence.add(menus[offer], action, float(reward))
    return evidence


def target_of(posterior, past: Past, eta: float, rate: float) -> Target:
    evidence = evidence_of(past)
    return Target.of(evidence, posterior.prior(evidence), eta, rate)


def first_states(target: Target, particles: int, rng: np.random.Generator) -> Cloud:
    """Independent states far from the posterior: zero, or one feature at random if one must be."""
    prior = target.prior
    thetas = np.zeros((particles, len(target.moment)))
    if prior.smallest == 1:
        thetas[range(particles), rng.integers(thetas.shape[1], size=particles)] = prior.radius.low
    variances = draw_variances(prior, np.zeros(particles), 0.0, rng)
    radii = np.full(particles, prior.radius.high)
    return placed(target, thetas, thetas != 0.0, radii, variances)


def chains(target: Target, particles: int = PARTICLES, sweeps: int = SWEEPS) -> Cloud:
    """The last states of the fast engine's chains."""
    rng = np.random.default_rng(1)
    cloud = first_states(target, particles, rng)
    for _ in range(sweeps):
        cloud = moved(cloud, rng)
    return cloud


def refereed_chains(target: Target, particles: int = 1500, sweeps: int = 30) -> Particles:
    """The last states of the referee's chains."""
    rng = np.random.default_rng(2)
    first = first_states(target, particles, rng)
    states = refereed(target, first.thetas, first.included, sweeps=sweeps, rng=rng)
    return Particles(*states, np.full(particles, 1.0 / particles))


def observables(particles: Particles, exact: Exact, menu: Floats) -> tuple[Floats, Floats]:
    """What is compared: values (M, n) under each particle, and their exact means (n,)."""
    thetas, included, _ = particles
    upper = np.triu_indices(thetas.shape[1])
    size = sum(p * len(support) for support, p in exact.supports.items())
    values = [thetas, (thetas[:, :, None] * thetas[:, None, :])[:, *upper], included.sum(axis=1)]
    means = [exact.mean, exact.second[upper], [size]]
    if not math.isnan(exact.best):
        values.append((thetas @ menu.T).max(axis=1))
        means.append([exact.best])
    found = [tuple(np.flatnonzero(label).tolist()) for label in included]
    common = [support for support, p in exact.supports.items() if COMMON < p < 1.0 - COMMON]
    for support in common:
        values.append(np.array([own == support for own in found]))
        means.append([exact.supports[support]])
    rare = 1.0 - sum(exact.supports[support] for support in common)
    if COMMON < rare < 1.0 - COMMON:
        values.append(np.array([own not in common for own in found]))
        means.append([rare])
    return np.column_stack(values), np.concatenate(means)


def standard_errors(weights: Floats, values: Floats, means: Floats) -> Floats:
    """Of weighted averages of independent draws: values (M, n) spread around their means (n,)."""
    return np.sqrt(weights**2 @ (values - means) ** 2)


def assert_exact(particles: Particles, exact: Exact, past: Past) -> None:
    values, means = observables(particles, exact, past.menus[0])
    errors = particles.weights @ values - means
    worst = np.abs(errors / standard_errors(particles.weights, values, means)).max()
    assert worst < Z


def assert_mean(cloud: Cloud, values: Floats, mean: float) -> None:
    weights = cloud.particles().weights
    error = standard_errors(weights, values[:, None], np.array([mean]))[0]
    assert abs(weights @ values - mean) <= Z * error  # both are zero if the values are known


@ETAS
@ROUNDS_AND_RATES
def test_subset_draws_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(5, rounds)
    exact = enumerate_subset_posterior(past, sparsity=3, radius=2.0, eta=eta, rate=rate)
    target = target_of(Subset(5, sparsity=3, radius=2.0, noise=1.0), past, eta, rate)
    assert_exact(chains(target).particles(), exact, past)


@ETAS
@ROUNDS_AND_RATES
def test_spike_slab_draws_in_a_ball_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(3, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(3, 1 / 3), slab_variance=4.0, radius=2.0, eta=eta, rate=rate
    )
    posterior = SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, eta, rate)
    assert_exact(chains(target).particles(), exact, past)


@ETAS
@pytest.mark.parametrize("rounds", [3, 30])
def test_spike_slab_draws_without_optimism_have_the_conjugate_posterior(eta, rounds):
    past = scene(6, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(6, 1 / 3), slab_variance=4.0, eta=eta, rate=0.0
    )
    posterior = SpikeSlab(6, sparsity=2, radius=math.inf, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, eta, 0.0)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.2), (30, 0.1)])
def test_spike_slab_draws_without_a_ball_have_the_integrated_posterior(rounds, rate):
    past = scene(2, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, eta=0.5, rate=rate
    )
    posterior = SpikeSlab(2, sparsity=1, radius=math.inf, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, 0.5, rate)
    assert_exact(chains(target).particles(), exact, past)


@ETAS
@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.0), (3, 0.2), (30, 0.0), (30, 0.1)])
def test_relaxed_draws_have_the_integrated_posterior(eta, rounds, rate):
    past = scene(2, rounds)
    exact = relaxed_grid(
        past,
        sizes=binomial_sizes(2, 0.5),
        slab_variance=4.0,
        spike_scale=0.2,
        eta=eta,
        rate=rate,
    )
    posterior = Relaxed(2, sparsity=1, noise=1.0, slab_variance=4.0, spike_scale=0.2)
    target = target_of(posterior, past, eta, rate)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize("posterior", [
    Subset(3, sparsity=2, radius=1.5, noise=1.0),
    SpikeSlab(3, sparsity=1, radius=1.5, noise=1.0, slab_variance=4.0),
], ids=["subset", "spike_slab"])  # fmt: skip
def test_without_power_and_optimism_the_posterior_is_the_prior(posterior):
    past = scene(3, 5)
    if isinstance(posterior, Subset):
        exact = enumerate_subset_posterior(past, sparsity=2, radius=1.5, eta=0.0, rate=0.0)
    else:
        exact = enumerate_spike_slab(
            past, sizes=binomial_sizes(3, 1 / 3), slab_variance=4.0, radius=1.5, eta=0.0, rate=0.0
        )
    tuning = Tuning(eta=0.0, rate=0.0, particles=PARTICLES, sweeps=1)
    cloud = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(0))
    assert_exact(cloud.particles(), exact, past)


def test_without_power_and_optimism_the_relaxed_posterior_is_its_prior():
    past = scene(2, 5)
    exact = relaxed_grid(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, spike_scale=0.2, eta=0.0, rate=0.0
    )
    posterior = Relaxed(2, sparsity=1, noise=1.0, slab_variance=4.0, spike_scale=0.2)
    tuning = Tuning(eta=0.0, rate=0.0, particles=PARTICLES, sweeps=1)
    cloud = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(0))
    assert_exact(cloud.particles(), exact, past)


@pytest.mark.parametrize("rounds", [1, 4])
def test_an_unknown_sparsity_is_at_most_half_the_dimension(rounds):
    past = scene(4, rounds)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.1)
    target = target_of(Subset(4, radius=2.0, noise=1.0), past, 0.5, 0.1)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize("radius", [0.3, 20.0])
def test_draws_are_exact_in_a_ball_that_binds_and_in_one_that_does_not(radius):
    past = scene(3, 30)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=radius, eta=0.5, rate=0.1)
    target = target_of(Subset(3, sparsity=2, radius=radius, noise=1.0), past, 0.5, 0.1)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_draws_are_exact_for_any_noise(noise):
    past = scene(3, 3, noise=noise)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.3, noise=noise)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=noise), past, 0.5, 0.3)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_slab_and_spike_scale_with_the_noise_unless_told(noise):
    past = scene(2, 8, noise=noise)
    sizes, variance, rate = binomial_sizes(2, 0.5), 10.0 * noise**2, 0.1 / noise
    exact = enumerate_spike_slab(
        past, sizes=sizes, slab_variance=variance, eta=0.5, rate=rate, noise=noise
    )
    target = target_of(SpikeSlab(2, sparsity=1, radius=math.inf, noise=noise), past, 0.5, rate)
    assert_exact(chains(target).particles(), exact, past)
    exact = relaxed_grid(
        past, sizes=sizes, slab_variance=variance, spike_scale=0.1 * noise, eta=0.5, rate=rate,
        noise=noise,
    )  # fmt: skip
    target = target_of(Relaxed(2, sparsity=1, noise=noise), past, 0.5, rate)
    assert_exact(chains(target).particles(), exact, past)


def test_an_unknown_sparsity_makes_every_number_of_features_equally_likely():
    sizes = np.array([1.0 / math.comb(3, k) for k in range(4)]) / 4.0
    past = scene(3, 8)
    exact = enumerate_spike_slab(
        past, sizes=sizes, slab_variance=4.0, radius=2.0, eta=0.5, rate=0.2
    )
    target = target_of(SpikeSlab(3, radius=2.0, noise=1.0, slab_variance=4.0), past, 0.5, 0.2)
    assert_exact(chains(target).particles(), exact, past)


@pytest.mark.parametrize("difference", [0.0, 1e-5, 1e-2])
def test_draws_are_exact_for_features_that_are_nearly_the_same(difference):
    """At 1e-5 rounding decides whether the data tell them apart, and must do so both ways alike."""
    past = scene(2, 20)
    blend = np.array([[1.0, 1.0], [0.0, difference]])
    past = past._replace(menus=(past.menus[0] @ blend,), played=past.played @ blend)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=1.0, rate=0.05)
    target = target_of(Subset(2, sparsity=2, radius=2.0, noise=1.0), past, 1.0, 0.05)
    assert_exact(chains(target).particles(), exact, past)


@ETAS
def test_every_menu_on_offer_adds_its_own_optimism(eta):
    past = scene(2, 6, menus=2)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=eta, rate=0.5)
    target = target_of(Subset(2, sparsity=2, radius=2.0, noise=1.0), past, eta, 0.5)
    assert_exact(chains(target).particles(), exact, past)


def log_nodes(low: float, high: float, count: int = 40) -> tuple[Floats, Floats]:
    """Values between two positive ones, and the log weights of an integral over their logarithm."""
    x, weights = np.polynomial.legendre.leggauss(count)
    span = math.log(high / low)
    return low * np.exp(0.5 * (x + 1.0) * span), np.log(0.5 * weights * span)


def noise_nodes(noise: Noise) -> tuple[Floats, Floats]:
    """Noise variances, and their log prior masses: an inverse gamma integrated over logarithms."""
    shape, scale = noise
    if noise.known:
        return np.array([scale]), np.zeros(1)
    variances, log_weights = log_nodes(0.02 * scale, 1000.0 * scale)
    log_density = shape * np.log(scale / variances) - scale / variances - math.lgamma(shape)
    return variances, log_weights + log_density


def mean_of(values: Floats, given: list[Exact], log_priors: Floats) -> float:
    """The posterior mean of what the parts of a mixture were given."""
    return float(normalised(log_priors + [part.log_evidence for part in given]) @ values)


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
    cloud = chains(target)
    assert_exact(cloud.particles(), mixed(given, log_priors), past)
    assert_mean(cloud, np.log(cloud.variances), mean_of(np.log(variances), given, log_priors))


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
    assert_exact(chains(target).particles(), mixed(given, log_priors), past)


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
    assert_exact(chains(target).particles(), mixed(given, log_priors), past)


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_an_unknown_radius_is_integrated_out(rate):
    past = scene(2, 12)
    target = target_of(Subset(2, sparsity=2, noise=1.0), past, 0.5, rate)
    radii, log_priors = log_nodes(*target.prior.radius)
    given = [
        enumerate_subset_posterior(past, sparsity=2, radius=radius, eta=0.5, rate=rate)
        for radius in radii
    ]
    cloud = chains(target)
    assert_exact(cloud.particles(), mixed(given, log_priors), past)
    assert_mean(cloud, np.log(cloud.radii), mean_of(np.log(radii), given, log_priors))


@KNOWN_OR_NOT
def test_weights_alone_turn_the_prior_into_the_posterior(noise):
    past = scene(3, 3)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=noise), past, 0.25, 0.3)
    variances, log_priors = noise_nodes(target.prior.noise)
    given = [
        enumerate_subset_posterior(
            past, sparsity=2, radius=2.0, eta=0.25, rate=0.3, noise=math.sqrt(variance)
        )
        for variance in variances
    ]
    cloud = aimed(start(target, 10_000, np.random.default_rng(0)), target)
    assert_exact(cloud.particles(), mixed(given, log_priors), past)
    assert_mean(cloud, np.log(cloud.variances), mean_of(np.log(variances), given, log_priors))


def test_weights_alone_carry_a_spike_slab_cloud_to_other_scales():
    past = scene(2, 3)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=2.0, radius=2.0, eta=0.25, rate=0.2
    )
    wide, narrow = (
        target_of(
            SpikeSlab(2, sparsity=s, radius=radius, noise=1.0, slab_variance=v), past, 0.25, 0.2
        )
        for s, radius, v in [(2, 4.0, 4.0), (1, 2.0, 2.0)]
    )
    cloud = start(wide, 10_000, np.random.default_rng(0))
    assert_exact(aimed(cloud, narrow).particles(), exact, past)


def test_weights_alone_carry_a_relaxed_cloud_to_other_scales():
    past = scene(2, 3)
    exact = relaxed_grid(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=2.0, spike_scale=0.2, eta=0.25, rate=0.2
    )
    wide, narrow = (
        target_of(
            Relaxed(2, sparsity=s, noise=1.0, slab_variance=v, spike_scale=b), past, 0.25, 0.2
        )
        for s, v, b in [(2, 4.0, 0.4), (1, 2.0, 0.2)]
    )
    cloud = start(wide, 10_000, np.random.default_rng(0))
    assert_exact(aimed(cloud, narrow).particles(), exact, past)


# Estimates of separate clouds are independent whatever their particles share, so the spread between
# clouds is the honest error; with 40 of them it is known to a tenth.
CLOUDS = 40


def assert_clouds_are_exact(clouds: list[Cloud], exact: Exact, past: Past) -> None:
    estimates = []
    for cloud in clouds:
        particles = cloud.particles()
        values, means = observables(particles, exact, past.menus[0])
        estimates.append(particles.weights @ values - means)
    errors = np.std(estimates, axis=0, ddof=1) / math.sqrt(len(clouds))
    assert np.abs(np.mean(estimates, axis=0) / errors).max() < Z


def history(past: Past) -> list[Past]:
    """The past as it was after each round."""
    return [
        past._replace(offered=past.offered[:t], played=past.played[:t], rewards=past.rewards[:t])
        for t in range(1, len(past.rewards) + 1)
    ]


@KNOWN_OR_NOT
def test_clouds_carried_from_round_to_round_stay_exact(noise):
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
    clouds = []
    for rng in np.random.default_rng(3).spawn(CLOUDS):
        cloud = None
        for evidence, rate in zip(rounds, rates, strict=True):
            cloud = posterior.update(cloud, evidence, Tuning(0.5, rate, 200, 1), rng)
        clouds.append(cloud)
    assert_clouds_are_exact(clouds, mixed(given, log_priors), past)


@pytest.mark.parametrize("posterior", [
    SpikeSlab(2, sparsity=1, radius=math.inf, noise=0.6, slab_variance=4.0),
    Relaxed(2, sparsity=1, noise=0.6, slab_variance=4.0, spike_scale=0.2),
], ids=["spike_slab", "relaxed"])  # fmt: skip
def test_clouds_that_meet_all_evidence_at_once_are_exact(posterior):
    past = scene(2, 30, noise=0.6)
    sizes = binomial_sizes(2, 0.5)
    if isinstance(posterior, SpikeSlab):
        exact = enumerate_spike_slab(
            past, sizes=sizes, slab_variance=4.0, eta=1.0, rate=0.1, noise=0.6
        )
    else:
        exact = relaxed_grid(
            past, sizes=sizes, slab_variance=4.0, spike_scale=0.2, eta=1.0, rate=0.1, noise=0.6
        )
    evidence = evidence_of(past)
    clouds = [
        posterior.update(None, evidence, Tuning(1.0, 0.1, 200, 2), rng)
        for rng in np.random.default_rng(4).spawn(CLOUDS)
    ]
    assert_clouds_are_exact(clouds, exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.6), (30, 0.1)])
def test_the_referee_draws_from_the_enumerated_subset_posterior(rounds, rate):
    past = scene(5, rounds)
    exact = enumerate_subset_posterior(past, sparsity=3, radius=2.0, eta=0.5, rate=rate)
    target = target_of(Subset(5, sparsity=3, radius=2.0, noise=1.0), past, 0.5, rate)
    assert_exact(refereed_chains(target), exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.6), (30, 0.1)])
def test_the_referee_draws_from_the_enumerated_spike_slab_posterior(rounds, rate):
    past = scene(3, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(3, 1 / 3), slab_variance=4.0, radius=2.0, eta=0.5, rate=rate
    )
    posterior = SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, slab_variance=4.0)
    assert_exact(refereed_chains(target_of(posterior, past, 0.5, rate)), exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.2), (30, 0.1)])
def test_the_referee_draws_from_the_integrated_relaxed_posterior(rounds, rate):
    past = scene(2, rounds)
    exact = relaxed_grid(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, spike_scale=0.2, eta=0.5, rate=rate
    )
    posterior = Relaxed(2, sparsity=1, noise=1.0, slab_variance=4.0, spike_scale=0.2)
    assert_exact(refereed_chains(target_of(posterior, past, 0.5, rate)), exact, past)


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
    fast, slow = chains(target).particles(), refereed_chains(target)
    means, variances = [], []
    for particles in (fast, slow):
        values = summaries(particles, past.menus[0])
        means.append(particles.weights @ values)
        variances.append(standard_errors(particles.weights, values, means[-1]) ** 2)
    assert np.abs((means[0] - means[1]) / np.sqrt(variances[0] + variances[1])).max() < Z


@pytest.mark.parametrize(("posterior", "menus", "words"), [
    (Subset(2, sparsity=1, radius=2.0), 1, "known noise"),
    (Subset(2, sparsity=1, noise=1.0), 1, "known radius"),
    (Subset(2, sparsity=1, radius=2.0, noise=1.0), 2, "one menu"),
    (Subset(2, sparsity=1, radius=2.0, noise=1.0), 1, "1..1 features"),
])  # fmt: skip
def test_the_referee_refuses_what_it_cannot_judge(posterior, menus, words):
    target = target_of(posterior, scene(2, 6, menus=menus), 0.5, 0.1)
    everything = np.ones((1, 2), dtype=bool)
    with pytest.raises(ValueError, match=words):
        refereed(target, np.zeros((1, 2)), everything, sweeps=1, rng=np.random.default_rng(0))
