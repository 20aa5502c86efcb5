"""The paper's sampler: near the exact posterior for small steps, and off by as much as it must."""

import numpy as np
import pytest

from judging import evidence_of, observables, scene, standard_errors
from oracles import Past, binomial_sizes, relaxed_grid
from p_values import assert_plausible, two_sided
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.posteriors import Langevin, Relaxed, Tuning

PRIOR = {"slab_variance": 4.0, "spike_scale": 0.2}
SMALL = 0.1  # step: relative errors of variances are below a twentieth
MODES = pytest.mark.parametrize(
    "settings",
    [{"adapts": a, "preconditioned": p} for a in (False, True) for p in (False, True)],
    ids=["plain", "plain preconditioned", "adaptive", "adaptive preconditioned"],
)


def beyond(differences, allowed, errors):
    """The p-values of differences of which this much is allowed to be bias."""
    return two_sided(np.maximum(np.abs(differences) - allowed, 0.0) / errors)


def regression(design, rewards):
    """Evidence of rewards for the rows of a design, which is also the action set."""
    return Evidence(
        Gram.of(design.T @ design), design.T @ rewards, design.sum(axis=0),
        float(rewards @ rewards), len(rewards), (Menu(design),), (len(rewards),),
    )  # fmt: skip


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize(("rounds", "eta", "rate"), [(3, 0.5, 0.2), (30, 0.5, 0.1), (30, 1.0, 0.0)])
def test_small_steps_are_near_the_integrated_posterior(preconditioned, rounds, eta, rate):
    past = scene(2, rounds)
    exact = relaxed_grid(past, sizes=binomial_sizes(2, 0.5), eta=eta, rate=rate, **PRIOR)
    posterior = Langevin(
        2, sparsity=1, noise=1.0, step=SMALL, preconditioned=preconditioned, **PRIOR
    )

    def p_values(rng, times):
        tuning = Tuning(eta, rate, particles=2000 * times, sweeps=40)
        particles = posterior.update(None, evidence_of(past), tuning, rng).particles()
        values, means = observables(particles, exact, past.menus[0])
        sampling = standard_errors(particles.weights, values, means)
        bias = 0.1 * SMALL * values.std(axis=0)
        return beyond(particles.weights @ values - means, bias, sampling)

    assert_plausible(p_values)


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("step", [0.1, 0.5, 1.0])
def test_the_variance_is_too_large_as_theory_predicts(step, preconditioned):
    """Steps of length h on a Gaussian of precision P have variance 1 / P / (1 - h P / 2)."""
    rounds, eta = 400, 0.5
    evidence = regression(np.ones((rounds, 1)), np.full(rounds, 3.0))  # far from the spike
    posterior = Langevin(
        1, sparsity=1, noise=1.0, step=step, steps=40, preconditioned=preconditioned, **PRIOR
    )
    precision = eta * rounds + 1.0 / PRIOR["slab_variance"]
    length = step / (eta * rounds + PRIOR["spike_scale"] ** -2)
    expected = 1.0 / precision / (1.0 - 0.5 * length * precision)
    mean = 3.0 * eta * rounds / precision

    def p_values(rng, times):
        tuning = Tuning(eta, 0.0, particles=2000 * times, sweeps=1)
        thetas = posterior.update(None, evidence, tuning, rng).thetas
        z = [(thetas.var() / expected - 1.0) / 2.0**0.5, (thetas.mean() - mean) / expected**0.5]
        return two_sided(np.array(z) * len(thetas) ** 0.5)

    assert_plausible(p_values)


def test_what_is_not_given_is_drawn_as_the_exact_sampler_draws_it():
    past = scene(3, 25)
    evidence = evidence_of(past)

    def summary(belief):
        thetas, included, weights = belief.particles()
        values = np.hstack([thetas, thetas**2, included, np.log(belief.variances)[:, None]])
        means = weights @ values
        return means, standard_errors(weights, values, means), values.std(axis=0)

    def p_values(rng, times):
        tuning = Tuning(1.0, 0.05, particles=2000 * times, sweeps=10)
        ours = Langevin(3, step=SMALL, **PRIOR).update(None, evidence, tuning, rng)
        exact = Relaxed(3, **PRIOR).update(None, evidence, tuning, rng)
        (found, error, spread), (expected, other_error, _) = map(summary, (ours, exact))
        return beyond(found - expected, 0.1 * SMALL * spread, np.hypot(error, other_error))

    assert_plausible(p_values)


def test_averages_without_memory_are_the_plain_sampler():
    evidence, tuning = evidence_of(scene(3, 10)), Tuning(0.5, 0.1, 20, 1)
    known = {"sparsity": 1, "noise": 1.0}
    plain, adaptive = (
        Langevin(3, **known, **settings).update(None, evidence, tuning, np.random.default_rng(0))
        for settings in ({}, {"adapts": True, "weight": 1.0})
    )
    for one, other in zip(plain, adaptive, strict=True):
        np.testing.assert_array_equal(one, other)


def test_averages_with_memory_are_another_distribution():
    """A feature whose label is in doubt spreads differently once the label lags behind."""
    evidence, tuning = evidence_of(scene(2, 3)), Tuning(0.5, 0.0, 2000, 20)
    spreads = [
        Langevin(2, sparsity=1, noise=1.0, step=SMALL, adapts=adapts, weight=0.01, **PRIOR)
        .update(None, evidence, tuning, np.random.default_rng(0))
        .thetas.std(axis=0)
        for adapts in (False, True)
    ]
    assert (np.abs(np.log(spreads[0] / spreads[1])) > 4.0 / np.sqrt(2000)).any()


@MODES
def test_the_published_regression_is_solved(settings):
    """Deng et al.'s example, shorter: correlated features, three of them at work, noise unknown."""
    rng = np.random.default_rng(0)
    d, rounds, theta = 60, 100, np.array([3.0, 2.0, 1.0])
    correlated = np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(range(d), range(d))))
    design = rng.standard_normal((rounds, d)) @ correlated.T
    rewards = design[:, :3] @ theta + np.sqrt(3.0) * rng.standard_normal(rounds)
    posterior = Langevin(d, slab_variance=10.0, spike_scale=0.1, **settings)
    belief = posterior.update(None, regression(design, rewards), Tuning(1.0, 0.0, 20, 60), rng)
    particles = belief.particles()
    assert particles.inclusion()[:2].min() > 0.9
    assert particles.inclusion()[3:].mean() < 0.05
    assert np.abs(particles.mean()[:3] - theta).max() < 0.7
    assert belief.noise() == pytest.approx(np.sqrt(3.0), rel=4 / np.sqrt(2 * rounds))


@MODES
@pytest.mark.parametrize("known", [{}, {"sparsity": 1, "noise": 1.0}], ids=["unknown", "known"])
@pytest.mark.parametrize(
    "past",
    [
        Past((), (), np.empty((0, 2)), np.empty(0)),
        Past((np.array([[1.0, 0.5]]),), (0,), np.array([[1.0, 0.5]]), np.array([2.0])),
        Past((np.ones((1, 1)),), (0, 0), np.ones((2, 1)), np.array([1e6, -1e6])),
        Past((np.zeros((2, 1)),), (0,), np.zeros((1, 1)), np.array([1.0])),
    ],
    ids=["no data", "one action", "one feature", "no features"],
)
def test_corners_are_finite(settings, known, past):
    posterior, rng = Langevin(past.played.shape[1], **known, **settings), np.random.default_rng(0)
    belief = posterior.update(None, evidence_of(past), Tuning(1.0, 0.1, 10, 2), rng)
    assert np.isfinite(belief.thetas).all()
    assert belief.noise() > 0.0
    assert ((belief.inclusion >= 0.0) & (belief.inclusion <= 1.0)).all()


@MODES
def test_nothing_explodes_where_the_exact_posterior_warns(settings):
    menu, evidence = Menu(np.array([[1.0, 1.0], [-1.0, -1.0]])), Evidence.empty(2)
    for t in range(60):
        evidence = evidence.add(menu, menu.actions[t % 2], float(menu.actions[t % 2, 0]))
    posterior, rng = Langevin(2, noise=1.0, **settings), np.random.default_rng(0)
    with pytest.warns(RuntimeWarning, match="rate lowered"):
        belief = posterior.update(None, evidence, Tuning(1.0, 2.0, 50, 20), rng)
    assert belief.rate < 2.0
    assert np.abs(belief.thetas).max() < 1e6


def test_a_slab_narrower_than_the_spike_is_no_reason_to_diverge():
    posterior, rng = Langevin(2, noise=1.0, slab_variance=1e-4, step=1.0), np.random.default_rng(0)
    belief = posterior.update(None, Evidence.empty(2), Tuning(1.0, 0.0, 50, 20), rng)
    assert np.abs(belief.thetas).max() < 2.0


def test_chains_go_on_until_the_scale_of_the_rewards_jumps():
    posterior, rng = Langevin(2), np.random.default_rng(0)
    tuning, past = Tuning(1.0, 0.0, 50, 1), scene(2, 30)
    belief = posterior.update(None, evidence_of(past), tuning, rng)
    more = past._replace(rewards=1.001 * past.rewards)
    near = posterior.update(belief, evidence_of(more), tuning, rng)
    assert np.corrcoef(belief.thetas[:, 0], near.thetas[:, 0])[0, 1] > 0.1
    larger = past._replace(rewards=1e4 * past.rewards)
    far = posterior.update(near, evidence_of(larger), tuning, rng)
    exact = Relaxed(2).update(None, evidence_of(larger), tuning, rng).particles()
    assert far.particles().mean() == pytest.approx(exact.mean(), abs=3e3)


def test_a_broken_chain_is_an_error():
    posterior, rng = Langevin(2, noise=1.0), np.random.default_rng(0)
    tuning, evidence = Tuning(1.0, 0.1, 10, 1), evidence_of(scene(2, 3))
    belief = posterior.update(None, evidence, tuning, rng)
    belief.thetas[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match="rescale"):
        posterior.update(belief, evidence, tuning, rng)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": 1.5}, "step must be at most 1"),
        ({"step": 0.0}, "step must be at least"),
        ({"weight": 2.0}, "weight must be at most 1"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"noise": 0.0}, "noise must be at least"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Langevin(2, **settings)
