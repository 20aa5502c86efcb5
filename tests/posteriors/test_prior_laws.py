"""Laws of sizes and of values defined outside of the package: one class each, nothing else."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numba import config
from scipy.stats import chisquare, kstest

from judging import assert_chains_exact, assert_exact, evidence_of, scene, target_of
from oracles import enumerate_spike_slab, enumerate_subset_posterior
from soids import SOIDS, paper_instance, play
from soids.posteriors import Tuning
from soids.posteriors.posterior import SparsePosterior
from soids.posteriors.prior import Prior
from soids.posteriors.size_laws import SizeLaw
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import UniformInBall, ValueLaw

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")

VARIANCE, RADIUS = 0.5, 2.0


def power_law(dimension: int, largest: int):  # (largest + 1,)
    """``P(k)`` proportional to ``(k + 1)**-2``."""
    law = np.arange(1.0, largest + 2) ** -2
    return law / law.sum()


class PowerLaw(SizeLaw):
    """Sizes with a heavy tail, none included."""

    def log_odds(self, growth):
        k = np.arange(1, self.largest + 1)
        ratios = (k / (k + 1.0)) ** 2
        return np.log(ratios * k / (self.dimension + 1 - k) * growth(k))


class OwnGaussian(ValueLaw):
    """Gaussian values, written anew."""

    @property
    def log_scale(self):
        return 0.5 * math.log(self.slab_precision / (2.0 * math.pi))

    def log_terms(self, thetas, included, radius):
        yield -0.5 * self.slab_precision * (thetas**2).sum(axis=1)
        yield np.where(np.abs(thetas).sum(axis=1) > radius.high, -np.inf, 0.0)

    def draw(self, sizes, radii, dimension, rng):
        thetas = np.zeros((len(sizes), dimension))
        for theta, size in zip(thetas, sizes, strict=True):
            chosen = rng.permutation(dimension)[:size]
            theta[chosen] = rng.standard_normal(size) / math.sqrt(self.slab_precision)
        return thetas, thetas != 0.0


@dataclass(frozen=True)
class Toy(SparsePosterior):
    """Both laws, or the first one beside values uniform in a ball."""

    gaussian: bool = True

    def prior(self, evidence):
        values = OwnGaussian(1.0 / VARIANCE) if self.gaussian else UniformInBall()
        sizes = PowerLaw(self.dimension, 3)
        return Prior.of(sizes, values, Span(RADIUS, RADIUS), Noise(math.inf, 1.0))


def exact_posterior(past, gaussian, eta, rate):
    law = power_law(3, 3)
    if gaussian:
        sizes = law / [math.comb(3, k) for k in range(4)]
        return enumerate_spike_slab(
            past, sizes=sizes, slab_variance=VARIANCE, radius=RADIUS, eta=eta, rate=rate
        )
    return enumerate_subset_posterior(
        past, sparsity=3, radius=RADIUS, eta=eta, rate=rate, weigh=lambda k: law[k], smallest=0
    )


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(("rounds", "rate"), [(3, 0.6), (30, 0.1)])
def test_moves_under_laws_of_others_have_the_enumerated_posterior(gaussian, rounds, rate):
    past = scene(3, rounds)
    exact = exact_posterior(past, gaussian, 0.5, rate)
    assert_chains_exact(target_of(Toy(3, gaussian=gaussian), past, 0.5, rate), exact, past)


@pytest.mark.parametrize("gaussian", [True, False])
def test_particles_carried_over_rounds_have_the_enumerated_posterior(gaussian):
    past, rng = scene(3, 8), np.random.default_rng(1)
    exact = exact_posterior(past, gaussian, 0.5, 0.2)
    system = None
    for rounds in (0, 3, 8):
        offered, played, rewards = (part[:rounds] for part in past[1:4])
        seen = past._replace(offered=offered, played=played, rewards=rewards)
        system = Toy(3, gaussian=gaussian).update(
            system, evidence_of(seen), Tuning(0.5, 0.2, 4_000, 10), rng
        )
    assert_exact(system.particles(), exact, past)


@pytest.mark.parametrize("gaussian", [True, False])
def test_draws_of_the_prior_have_the_sizes_and_the_values_of_the_laws(gaussian):
    prior = Toy(9, gaussian=gaussian).prior(evidence_of(scene(9, 1)))
    thetas, included = prior.draw(np.full(20_000, RADIUS), 9, np.random.default_rng(0))
    counts = np.bincount(included.sum(axis=1), minlength=4)
    # Right draws fail with probability 1e-4.
    assert chisquare(counts, 20_000 * power_law(9, 3)).pvalue > 1e-4
    values = thetas[included.sum(axis=1) == 1].sum(axis=1)
    law = ("norm", (0.0, VARIANCE**0.5)) if gaussian else ("uniform", (-RADIUS, 2.0 * RADIUS))
    assert kstest(values, *law).pvalue > 1e-4


def test_a_policy_takes_the_posterior_of_others():
    policy = SOIDS(6, posterior=Toy(6), radius=None)
    trace = play(paper_instance(dimension=10, seed=0), SOIDS(10, posterior=Toy(10)), 20, seed=0)
    assert policy.rule.model == Toy(6)
    assert np.isfinite(trace.regret).all()
