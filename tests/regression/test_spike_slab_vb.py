"""The mean-field spike and slab against its own definition."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import entr, expit
from scipy.stats import norm

from recorded import recorded, sparse_problem
from soids.evidence import Evidence
from soids.kernels.mean_field import CONSTANT, cost
from soids.regression import spike_slab_vb
from soids.regression.spike_slab_vb import (
    MeanField,
    SlabPrior,
    cold_start,
    mean_field,
)

PRIOR = SlabPrior(slab=1.0, odds=-2.0)
NOISE = 0.5


problem = partial(sparse_problem, values=(1.0,), noise=NOISE)


def random_fit(dimension, seed=0):
    rng = np.random.default_rng(seed)
    return MeanField(
        rng.standard_normal(dimension), rng.uniform(0.1, 2.0, dimension), rng.random(dimension)
    )


def plain_bound(actions, rewards, fit):
    """The bound from its definition: expected log likelihood, minus the divergence of the prior."""
    means, deviations, share = fit
    mean = share * means
    variance = share * (means**2 + deviations**2) - mean**2
    misfit = ((rewards - actions @ mean) ** 2).sum() + (actions**2 @ variance).sum()
    bound = -0.5 * (misfit - (rewards**2).sum()) / NOISE**2
    prior = expit(PRIOR.odds)
    for mu, sigma, p in zip(*fit, strict=True):
        law = norm(mu, sigma)
        edges = mu - 12 * sigma, mu + 12 * sigma
        size = quad(lambda x, law=law: abs(x) * law.pdf(x), *edges, points=[0.0])[0]
        slab = law.entropy() + np.log(0.5 * PRIOR.slab) - PRIOR.slab * size
        bound += p * (slab + np.log(prior / p)) + (1 - p) * np.log((1 - prior) / (1 - p))
    return bound - len(means) * np.log(1 - prior)


def evidence_bound(evidence, noise, prior, fit):
    """The evidence lower bound, up to a constant, without integrals."""
    gram, moment = evidence.gram / noise**2, evidence.moment / noise**2
    expected, curvatures = fit.expected(), np.diagonal(gram).copy()
    costs = np.vectorize(cost)(fit.means, fit.deviations, -moment, curvatures, prior.slab)
    slabs = prior.odds + CONSTANT + np.log(prior.slab) - costs
    entropies = entr(fit.inclusion) + entr(1.0 - fit.inclusion)
    between = expected @ gram @ expected - curvatures @ expected**2
    return float((fit.inclusion * slabs + entropies).sum() - 0.5 * between)


def test_the_bound_equals_its_definition():
    actions, rewards = problem(6, 3)
    evidence = recorded(actions, rewards)
    for seed in range(3):
        fit = random_fit(3, seed)
        expected = plain_bound(actions, rewards, fit)
        assert evidence_bound(evidence, NOISE, PRIOR, fit) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("rounds", "dimension"), [(4, 12), (50, 8)])
def test_the_bound_never_falls_from_sweep_to_sweep(rounds, dimension, seed, monkeypatch):
    monkeypatch.setattr(spike_slab_vb, "SWEEPS", 1)
    evidence = recorded(*problem(rounds, dimension, seed=seed))
    fit = random_fit(dimension, seed)
    bounds = [evidence_bound(evidence, NOISE, PRIOR, fit)]
    for _ in range(15):
        fit = mean_field(evidence, NOISE, PRIOR, fit)
        bounds.append(evidence_bound(evidence, NOISE, PRIOR, fit))
    assert (np.diff(bounds) >= -1e-8).all()


def test_no_numerical_search_finds_a_better_bound():
    evidence = recorded(*problem(8, 2))

    def unfolded(place):
        parts = np.reshape(place, (3, 2))
        return MeanField(parts[0], np.exp(parts[1]), expit(parts[2]))

    def loss(place):
        return -evidence_bound(evidence, NOISE, PRIOR, unfolded(place))

    starts = [random_fit(2, seed) for seed in range(4)]
    best = max(
        evidence_bound(evidence, NOISE, PRIOR, mean_field(evidence, NOISE, PRIOR, start))
        for start in starts
    )
    for start in starts:
        place = np.concatenate([start.means, np.log(start.deviations), np.zeros(2)])
        found = minimize(loss, place, method="Nelder-Mead", options={"maxiter": 20_000})
        assert best >= -found.fun - 1e-5


def test_with_orthogonal_features_it_is_the_best_gaussian_for_each():
    """Then the posterior is a product as well, and inclusion is near the exact one."""
    actions = np.diag([3.0, 4.0])
    rewards = np.array([1.5, 0.4])
    fit = mean_field(recorded(actions, rewards), NOISE, PRIOR, random_fit(2))
    for j, (length, reward) in enumerate(zip([3.0, 4.0], rewards, strict=True)):

        def tilted(x, length=length, reward=reward):
            gain = (reward**2 - (reward - length * x) ** 2) / (2 * NOISE**2)
            return 0.5 * PRIOR.slab * np.exp(gain - PRIOR.slab * abs(x))

        mass = quad(tilted, -4.0, 4.0, points=[0.0])[0]
        mean = quad(lambda x, f=tilted: x * f(x), -4.0, 4.0, points=[0.0])[0] / mass
        exact = expit(PRIOR.odds + np.log(mass))
        assert fit.inclusion[j] == pytest.approx(exact, abs=0.01)
        assert fit.means[j] == pytest.approx(mean, abs=0.01)


def test_the_relevant_feature_is_found_from_any_start():
    evidence = recorded(*problem(40, 100))
    prior = SlabPrior(1.0, -np.log(100.0))
    for start in (cold_start(evidence, NOISE), random_fit(100)):
        fit = mean_field(evidence, NOISE, prior, start)
        assert fit.inclusion[0] > 0.99
        assert fit.inclusion[1:].max() < 0.5
        assert fit.expected()[0] == pytest.approx(1.0, abs=0.3)


def test_without_rewards_it_is_the_prior():
    evidence = Evidence.empty(3)
    fit = mean_field(evidence, 1.0, PRIOR, cold_start(evidence, 1.0))
    assert fit.means == pytest.approx(np.zeros(3), abs=1e-6)
    assert fit.inclusion == pytest.approx(np.full(3, expit(PRIOR.odds)), abs=0.02)


def test_variances_are_those_of_spike_and_slab_together():
    fit = MeanField(np.array([2.0]), np.array([0.5]), np.array([0.25]))
    values, masses = np.array([0.0, 2.0]), np.array([0.75, 0.25])
    mean = values @ masses
    assert fit.expected().tolist() == [mean]
    variance = masses @ (values - mean) ** 2 + 0.25 * 0.5**2
    assert fit.variances() == pytest.approx([variance])


def test_the_start_is_never_changed():
    evidence = recorded(*problem(8, 2))
    start = random_fit(2)
    before = [part.copy() for part in start]
    mean_field(evidence, NOISE, PRIOR, start)
    for part, old in zip(start, before, strict=True):
        assert part.tolist() == old.tolist()
