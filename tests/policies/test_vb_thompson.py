"""Thompson sampling with a mean-field posterior."""

import math

import numpy as np
import pytest

from recorded import recorded, sparse_problem
from soids import VBThompson, play
from soids.bandits import FAMILIES
from soids.posteriors import Tuning
from soids.regression.spike_slab_vb import SlabPrior, mean_field

TUNING = Tuning(1.0, 0.0, 20_000, 1)


def problem(rounds=40, dimension=6, noise=0.5):
    return recorded(*sparse_problem(rounds, dimension, values=(1.0,), noise=noise))


def model(noise=0.5, restart=5):
    return VBThompson(6, noise=noise, restart=restart).rule


def test_draws_have_the_moments_of_the_fit():
    evidence = problem(rounds=6)
    draws = model().update(None, evidence, TUNING, np.random.default_rng(0))
    fit, thetas = draws.fit, draws.thetas
    error = np.sqrt(fit.variances() / len(thetas))
    assert (np.abs(thetas.mean(axis=0) - fit.expected()) < 4.5 * error + 1e-4).all()
    share = np.sqrt(fit.inclusion * (1 - fit.inclusion) / len(thetas))
    assert (np.abs(draws.included.mean(axis=0) - fit.inclusion) < 4.5 * share + 1e-4).all()
    assert np.array_equal(thetas != 0.0, draws.included)


def test_a_fit_goes_on_from_the_last_one_but_for_every_so_many_rewards():
    first, rng = problem(rounds=7), np.random.default_rng(0)
    few = Tuning(1.0, 0.0, 10, 1)
    before = model().update(None, first, few, rng)
    prior = SlabPrior(1.0, -1.001 * math.log(6))
    warm = mean_field(problem(rounds=8), 0.5, prior, before.fit)
    assert model().update(before, problem(rounds=8), few, rng).fit.means.tolist() == (
        warm.means.tolist()
    )
    cold = model().update(None, problem(rounds=10), few, rng).fit
    assert model().update(before, problem(rounds=10), few, rng).fit.means.tolist() == (
        cold.means.tolist()
    )


def test_noise_is_the_residuals_of_the_last_fit():
    evidence, rng = problem(rounds=400), np.random.default_rng(0)
    draws = model(noise=None).update(None, evidence, Tuning(1.0, 0.0, 10, 1), rng)
    assert draws.noise() == pytest.approx(0.5, rel=4 / math.sqrt(800))
    assert model(noise=0.25).update(None, evidence, TUNING, rng).noise() == 0.25


def test_noise_is_never_believed_to_vanish_beside_the_rewards():
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((3, 6))
    evidence = recorded(actions, actions[:, 0])
    draws = None
    for _ in range(20):
        draws = model(noise=None).update(draws, evidence, Tuning(1.0, 0.0, 10, 1), rng)
    assert draws.noise() >= 0.1 * math.sqrt(evidence.energy / 3) * (1 - 1e-12)


def test_the_first_choices_are_left_to_chance():
    policy, rng = VBThompson(4, uniform=3), np.random.default_rng(0)
    for _ in range(3):
        decision = policy.choose(rng.standard_normal((8, 4)), rng)
        assert decision.probability == 0.125
        policy.observe(decision, 1.0)


def test_the_propensity_is_the_share_of_draws_that_prefer_the_action():
    policy, rng = VBThompson(4, uniform=0, particles=50), np.random.default_rng(0)
    for _ in range(20):
        decision = policy.choose(actions := rng.standard_normal((3, 4)), rng)
        best = (policy.state.mind.belief.thetas @ actions.T).argmax(axis=1)
        assert decision.probability == pytest.approx(np.mean(best == decision.index))
        policy.observe(decision, float(decision.action[0] + 0.1 * rng.standard_normal()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": 0.0}, "noise must be at least 1e-12, got 0"),
        ({"slab": 0.0}, "slab must be at least 1e-12, got 0"),
        ({"complexity": -1.0}, "complexity must be at least 0, got -1"),
        ({"uniform": -1}, "uniform must be at least 0, got -1"),
        ({"restart": 0}, "restart must be at least 1, got 0"),
        ({"particles": 1}, "particles must be at least 2, got 1"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        VBThompson(4, **settings)


@pytest.mark.parametrize("given", [{}, {"noise": 1.0}], ids=["given nothing", "given the noise"])
def test_on_its_own_papers_setting_it_beats_chance_by_far(given):
    bandit = FAMILIES["chakraborty"](seed=0, dimension=100, sparsity=3)
    offers = bandit.rounds(300, np.random.default_rng(9))
    chance = np.mean([(offer.means.max() - offer.means).mean() for offer in offers])
    assert play(bandit, VBThompson(100, **given), 150, seed=0).regret.mean() < 0.25 * chance
