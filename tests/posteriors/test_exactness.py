"""The samplers against exact answers: supports enumerated, parameters integrated on nodes."""

import math

import numpy as np
import pytest
from numba import config

from judging import PARTICLES, assert_chains_exact, assert_exact, evidence_of, scene, target_of
from oracles import (
    Past,
    binomial_sizes,
    enumerate_spike_slab,
    enumerate_subset_posterior,
    relaxed_grid,
)
from soids.evidence import Menu
from soids.features import disjoint
from soids.policies.layout import Layout
from soids.posteriors import Ample, Broad, Relaxed, SpikeSlab, Subset, Tuning, smc
from soids.posteriors.target import Target
from soids.regression.common import separated

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")

ETAS = pytest.mark.parametrize("eta", [0.25, 0.5, 1.0])
# Few rounds leave the posterior wide and touching the ball; the rates make optimism worth 2 nats.
ROUNDS_AND_RATES = pytest.mark.parametrize(
    ("rounds", "rate"), [(3, 0.0), (3, 0.6), (30, 0.0), (30, 0.1)]
)


@ETAS
@ROUNDS_AND_RATES
def test_subset_draws_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(5, rounds)
    exact = enumerate_subset_posterior(past, sparsity=3, radius=2.0, eta=eta, rate=rate)
    target = target_of(Subset(5, sparsity=3, radius=2.0, noise=1.0), past, eta, rate)
    assert_chains_exact(target, exact, past)


@ETAS
@ROUNDS_AND_RATES
def test_spike_slab_draws_in_a_ball_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(3, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(3, 1 / 3), slab_variance=4.0, radius=2.0, eta=eta, rate=rate
    )
    posterior = SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, eta, rate)
    assert_chains_exact(target, exact, past)


@ETAS
@ROUNDS_AND_RATES
def test_draws_of_values_with_a_spread_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(3, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(3, 2 / 3), slab_variance=0.35**2, slab_centre=1.0, radius=2.0,
        eta=eta, rate=rate,
    )  # fmt: skip
    target = target_of(SpikeSlab(3, 2, 2.0, 1.0, spread=0.35), past, eta, rate)
    assert_chains_exact(target, exact, past)


@ETAS
@ROUNDS_AND_RATES
def test_an_intercept_is_integrated_out(eta, rounds, rate):
    past = scene(3, rounds)
    past = past._replace(rewards=past.rewards + 7.0, intercept=True)
    sizes = binomial_sizes(3, 1 / 3)
    exact = enumerate_spike_slab(
        past, sizes=sizes, slab_variance=4.0, radius=2.0, eta=eta, rate=rate
    )
    posterior = SpikeSlab(3, sparsity=1, radius=2.0, noise=1.0, slab_variance=4.0)
    assert_chains_exact(target_of(posterior, past, eta, rate), exact, past)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=eta, rate=rate)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=1.0), past, eta, rate)
    assert_chains_exact(target, exact, past)


OWN_ODDS = np.array([2.0, 0.0, -1.0, 0.7])


@ETAS
@ROUNDS_AND_RATES
def test_draws_of_features_with_odds_of_their_own_have_the_enumerated_posterior(eta, rounds, rate):
    past = scene(4, rounds)
    exact = enumerate_subset_posterior(
        past, sparsity=2, radius=2.0, eta=eta, rate=rate, own_odds=OWN_ODDS
    )
    posterior = Subset(4, sparsity=2, radius=2.0, noise=1.0)
    assert_chains_exact(target_of(posterior, past, eta, rate, OWN_ODDS), exact, past)


def test_the_prior_of_features_with_odds_of_their_own_is_drawn_from_exactly():
    past = scene(4, 5)
    exact = enumerate_subset_posterior(
        past, sparsity=2, radius=2.0, eta=0.0, rate=0.0, own_odds=OWN_ODDS
    )
    tuning = Tuning(eta=0.0, rate=0.0, particles=PARTICLES, sweeps=1, own_odds=OWN_ODDS)
    posterior = Subset(4, sparsity=2, radius=2.0, noise=1.0)
    system = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(0))
    assert_exact(system.particles(), exact, past)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("eta", "rate"), [(0.5, 0.0), (1.0, 0.1)])
def test_levels_of_arms_are_exact_beside_contexts_that_are_integrated_out(intercept, eta, rate):
    """Two arms, each with a level and a covariate in its block."""
    rng = np.random.default_rng(8)
    contexts = np.column_stack([np.ones(12), rng.standard_normal((12, 1))])
    menus = tuple(disjoint(context, 2) for context in contexts)
    played = np.array(
        [menu[arm] for menu, arm in zip(menus, rng.integers(2, size=12), strict=True)]
    )
    rewards = 5.0 * intercept + contexts[:, 1] + played[:, 0] + rng.standard_normal(12)
    past = Past(menus, tuple(range(12)), played, rewards, intercept)
    layout = None
    for menu in menus:
        layout = Layout.after(layout, Menu(np.asfortranarray(menu)))
    assert layout.is_level().tolist() == [True, False, True, False]
    rest, common = separated(evidence_of(past), layout.directions)
    assert common.directions.tolist() == [[0.0, 1.0, 0.0, 1.0]]
    posterior, odds = Subset(4, sparsity=2, radius=2.0, noise=1.0), layout.own_odds
    target = Target.of(rest, posterior.prior(rest)._replace(own_odds=odds), eta, rate)
    covariate = contexts[:, 1:] - contexts[:, 1:].mean() * intercept
    ridge = np.mean(covariate**2, axis=0)
    if intercept:  # flat, as a column with hardly any precision
        covariate, ridge = np.column_stack([covariate, np.ones(12)]), np.append(ridge, 1e-9)
    past = past._replace(intercept=False, contexts=covariate, ridge=ridge)
    exact = enumerate_subset_posterior(
        past, sparsity=2, radius=2.0, eta=eta, rate=rate, own_odds=odds
    )
    assert_chains_exact(target, exact, past)


def test_a_given_sparsity_bounds_the_room_that_supports_need():
    evidence = evidence_of(scene(100, 3))
    prior = SpikeSlab(100, sparsity=1).prior(evidence)
    assert (len(prior.log_odds), prior.largest) == (60, 60)
    assert SpikeSlab(100).prior(evidence).largest == 100
    thetas, _ = prior.draw(np.full(500, np.inf), 100, np.random.default_rng(0))
    error = 4.0 * (0.99 / 500) ** 0.5
    assert np.count_nonzero(thetas, axis=1).mean() == pytest.approx(1.0, abs=error)


@ETAS
@pytest.mark.parametrize("rounds", [3, 30])
def test_spike_slab_draws_without_optimism_have_the_conjugate_posterior(eta, rounds):
    past = scene(6, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(6, 1 / 3), slab_variance=4.0, eta=eta, rate=0.0
    )
    posterior = SpikeSlab(6, sparsity=2, radius=math.inf, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, eta, 0.0)
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.2), (30, 0.1)])
def test_spike_slab_draws_without_a_ball_have_the_integrated_posterior(rounds, rate):
    past = scene(2, rounds)
    exact = enumerate_spike_slab(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, eta=0.5, rate=rate
    )
    posterior = SpikeSlab(2, sparsity=1, radius=math.inf, noise=1.0, slab_variance=4.0)
    target = target_of(posterior, past, 0.5, rate)
    assert_chains_exact(target, exact, past)


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
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize("posterior", [
    Subset(3, sparsity=2, radius=1.5, noise=1.0),
    SpikeSlab(3, sparsity=1, radius=1.5, noise=1.0, slab_variance=4.0),
    SpikeSlab(3, sparsity=1, radius=1.5, noise=1.0, spread=0.5),
], ids=["subset", "spike_slab", "spread"])  # fmt: skip
@pytest.mark.parametrize("redrawn", [0, smc.REDRAWN])  # without, moves alone bring draws in
def test_without_power_and_optimism_the_posterior_is_the_prior(monkeypatch, posterior, redrawn):
    monkeypatch.setattr(smc, "REDRAWN", redrawn)
    past = scene(3, 5)
    if isinstance(posterior, Subset):
        exact = enumerate_subset_posterior(past, sparsity=2, radius=1.5, eta=0.0, rate=0.0)
    else:
        variance, centre = (4.0, 0.0) if posterior.spread is None else (0.75**2, 1.5)
        exact = enumerate_spike_slab(
            past, sizes=binomial_sizes(3, 1 / 3), slab_variance=variance, slab_centre=centre,
            radius=1.5, eta=0.0, rate=0.0,
        )  # fmt: skip
    tuning = Tuning(eta=0.0, rate=0.0, particles=PARTICLES, sweeps=1)
    system = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(0))
    assert_exact(system.particles(), exact, past)


def test_without_power_and_optimism_the_relaxed_posterior_is_its_prior():
    past = scene(2, 5)
    exact = relaxed_grid(
        past, sizes=binomial_sizes(2, 0.5), slab_variance=4.0, spike_scale=0.2, eta=0.0, rate=0.0
    )
    posterior = Relaxed(2, sparsity=1, noise=1.0, slab_variance=4.0, spike_scale=0.2)
    tuning = Tuning(eta=0.0, rate=0.0, particles=PARTICLES, sweeps=1)
    system = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(0))
    assert_exact(system.particles(), exact, past)


@pytest.mark.parametrize("rounds", [1, 4])
def test_an_unknown_sparsity_is_at_most_half_the_dimension(rounds):
    past = scene(4, rounds)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.1)
    target = target_of(Subset(4, radius=2.0, noise=1.0), past, 0.5, 0.1)
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize("rounds", [2, 12])
@pytest.mark.parametrize(
    ("family", "weigh"), [(Broad, lambda k: 1.0 / (k * (k + 1))), (Ample, lambda k: 2.0**k)]
)
def test_a_broad_prior_falls_with_the_square_of_the_size_and_an_ample_one_doubles(
    family, weigh, rounds
):
    past = scene(4, rounds)
    exact = enumerate_subset_posterior(past, sparsity=3, radius=2.0, eta=0.5, rate=0.1, weigh=weigh)
    target = target_of(family(4, sparsity=3, radius=2.0, noise=1.0), past, 0.5, 0.1)
    assert_chains_exact(target, exact, past)


def test_an_ample_prior_without_a_given_sparsity_expects_a_tenth_of_the_features():
    np.testing.assert_allclose(Ample(30).sizes.ratios, [1.0] * 3 + [0.25] * 13)
    np.testing.assert_allclose(Ample(4).sizes.ratios, [1.0, 0.25, 0.25])


@pytest.mark.parametrize("radius", [0.3, 20.0])
def test_draws_are_exact_in_a_ball_that_binds_and_in_one_that_does_not(radius):
    past = scene(3, 30)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=radius, eta=0.5, rate=0.1)
    target = target_of(Subset(3, sparsity=2, radius=radius, noise=1.0), past, 0.5, 0.1)
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_draws_are_exact_for_any_noise(noise):
    past = scene(3, 3, noise=noise)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.3, noise=noise)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=noise), past, 0.5, 0.3)
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize("noise", [0.2, 3.0])
def test_slab_and_spike_scale_with_the_noise_unless_given(noise):
    past = scene(2, 8, noise=noise)
    sizes, variance, rate = binomial_sizes(2, 0.5), 10.0 * noise**2, 0.1 / noise
    exact = enumerate_spike_slab(
        past, sizes=sizes, slab_variance=variance, eta=0.5, rate=rate, noise=noise
    )
    target = target_of(SpikeSlab(2, sparsity=1, radius=math.inf, noise=noise), past, 0.5, rate)
    assert_chains_exact(target, exact, past)
    exact = relaxed_grid(
        past, sizes=sizes, slab_variance=variance, spike_scale=0.1 * noise, eta=0.5, rate=rate,
        noise=noise,
    )  # fmt: skip
    target = target_of(Relaxed(2, sparsity=1, noise=noise), past, 0.5, rate)
    assert_chains_exact(target, exact, past)


def test_an_unknown_sparsity_makes_every_number_of_features_equally_likely():
    sizes = np.array([1.0 / math.comb(3, k) for k in range(4)]) / 4.0
    past = scene(3, 8)
    exact = enumerate_spike_slab(
        past, sizes=sizes, slab_variance=4.0, radius=2.0, eta=0.5, rate=0.2
    )
    target = target_of(SpikeSlab(3, radius=2.0, noise=1.0, slab_variance=4.0), past, 0.5, 0.2)
    assert_chains_exact(target, exact, past)


@pytest.mark.parametrize("difference", [0.0, 1e-5, 1e-2])
def test_draws_are_exact_for_features_that_are_nearly_the_same(difference):
    """At 1e-5 rounding decides whether the data tell them apart, and must do so both ways alike."""
    past = scene(2, 20)
    blend = np.array([[1.0, 1.0], [0.0, difference]])
    past = past._replace(menus=(past.menus[0] @ blend,), played=past.played @ blend)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=1.0, rate=0.05)
    target = target_of(Subset(2, sparsity=2, radius=2.0, noise=1.0), past, 1.0, 0.05)
    assert_chains_exact(target, exact, past)


@ETAS
def test_every_set_on_offer_adds_its_own_optimism(eta):
    past = scene(2, 9, menus=3)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=eta, rate=0.5)
    target = target_of(Subset(2, sparsity=2, radius=2.0, noise=1.0), past, eta, 0.5)
    assert_chains_exact(target, exact, past)
