"""Simulation-based calibration of the whole sampler: rewards arrive one by one, and in the end the
true parameter must rank anywhere among the particles.

For a fixed sequence of actions the optimistic posterior is a Bayesian posterior: its prior is
tilted by exp(rate * sum of gaps), its noise variance is divided by eta. Draw a parameter from this
prior and rewards with this noise: the posterior mass below it is uniform, for any function of the
parameter (Talts et al. 2018, Modrak et al. 2023).

That holds for infinitely many particles. The bias of fifty that move twice a round, or of a
thousand that never move, is too small to show here.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import eval_sh_legendre, logsumexp
from scipy.stats import chi2

from p_values import assert_plausible
from soids.arrays import Floats
from soids.evidence import Evidence
from soids.particles import Particles
from soids.posteriors import Tuning
from tilted_priors import (
    ACTIONS,
    DIMENSION,
    MENUS,
    NOISE,
    PLAYED,
    POSTERIORS,
    RADIUS,
    SPARSITY,
    Draws,
    Rng,
    relaxed_draws,
    spike_slab_draws,
    subset_draws,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def true_draws(name: str, rate: float, count: int, rng: Rng) -> Draws:
    """Draws from the tilted prior, chosen by their tilt among many more from the prior itself."""
    pool = 100_000
    thetas, included = {
        "subset": lambda: subset_draws(np.full(pool, RADIUS), SPARSITY, rng),
        "spike_slab": lambda: spike_slab_draws(pool, rng),
        "relaxed": lambda: relaxed_draws(pool, rng),
    }[name]()
    best = [(thetas @ menu.actions.T).max(axis=1) for menu in MENUS]
    gaps = sum(best[menu] for menu, _ in PLAYED) - (thetas @ ACTIONS.T).sum(axis=1)
    chosen = rng.choice(pool, count, p=np.exp(rate * gaps - logsumexp(rate * gaps)))
    return thetas[chosen], included[chosen]


class Case(NamedTuple):
    """A posterior, and what is asked of it."""

    name: str
    eta: float
    rate: float
    particles: int = 50
    sweeps: int = 2


def followed(case: Case, rewards: Floats, rng: Rng) -> Particles:
    """The particles after all rewards; the rate falls from round to round to its last value."""
    evidence, system = Evidence.empty(DIMENSION), None
    for played, ((menu, arm), reward) in enumerate(zip(PLAYED, rewards, strict=True), start=1):
        evidence = evidence.add(MENUS[menu], MENUS[menu].actions[arm], float(reward))
        rate = case.rate * math.sqrt(len(PLAYED) / played)
        tuning = Tuning(case.eta, rate, case.particles, case.sweeps)
        system = POSTERIORS[case.name].update(system, evidence, tuning, rng)
    return system.particles()


def aspects(draws: Draws, rewards: Floats) -> dict[str, Floats]:  # (M,) each
    """Functions of the parameter, by name."""
    thetas, included = draws
    return {
        "theta 0": thetas[:, 0],
        "size": included.sum(axis=1),
        "best reward": (thetas @ MENUS[0].actions.T).max(axis=1),
        "misfit": ((rewards - thetas @ ACTIONS.T) ** 2).sum(axis=1),
    }


def rank(true: float, values: Floats, weights: Floats, rng: Rng) -> float:
    """The share of particles below the true value, itself one of them; ties break at random."""
    size = 1.0 / (weights**2).sum()
    below, level = size * weights[values < true].sum(), size * weights[values == true].sum()
    return (below + rng.random() * (level + 1.0)) / (size + 1.0)


def ranks(case: Case, replicates: int, rng: Rng) -> dict[str, Floats]:
    """The rank of the true value in each replicate, for each aspect."""
    found: dict[str, list[float]] = {}
    for theta, included in zip(*true_draws(case.name, case.rate, replicates, rng), strict=True):
        noise = NOISE / math.sqrt(case.eta) * rng.standard_normal(len(PLAYED))
        rewards = ACTIONS @ theta + noise
        thetas, inclusions, weights = followed(case, rewards, rng)
        drawn = aspects((thetas, inclusions), rewards)
        for aspect, (true,) in aspects((theta[None], included[None]), rewards).items():
            found.setdefault(aspect, []).append(rank(true, drawn[aspect], weights, rng))
    return {aspect: np.array(places) for aspect, places in found.items()}


def smooth_test(places: Floats) -> float:
    """Neyman's smooth test: the p-value of mean, spread, skew and tails of uniform ranks.

    With few ranks it sees more than a histogram does.
    """
    z = [math.sqrt(2 * k + 1) * eval_sh_legendre(k, places).sum() for k in range(1, 5)]
    return float(chi2.sf(np.square(z).sum() / len(places), df=4))


def assert_calibrated(case: Case, replicates: int) -> None:
    """The true value ranks anywhere, in each aspect."""

    def p_values(rng: Rng, times: int) -> Floats:
        places = ranks(case, replicates * times, rng)
        return np.array([smooth_test(each) for each in places.values()])

    assert_plausible(p_values)


@pytest.mark.parametrize(("eta", "rate"), [(1.0, 0.0), (0.5, 0.4)])
@pytest.mark.parametrize("name", POSTERIORS)
def test_the_true_parameter_ranks_anywhere_among_the_particles(name, eta, rate):
    assert_calibrated(Case(name, eta, rate), 200)


def test_weights_and_resampling_are_calibrated_without_any_move():
    assert_calibrated(Case("subset", 0.5, 0.4, particles=1_000, sweeps=0), 150)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 0.4])
@pytest.mark.parametrize("eta", [0.5, 1.0])
@pytest.mark.parametrize("name", POSTERIORS)
def test_the_true_parameter_ranks_anywhere_in_a_thousand_replicates(name, eta, rate):
    assert_calibrated(Case(name, eta, rate), 1_000)
