"""The logistic posterior against quadrature, and its calibration when rewards come one by one."""

import itertools

import numpy as np
import pytest
from scipy.special import expit, logit, logsumexp
from scipy.stats import kstest

from p_values import assert_plausible, two_sided
from soids.evidence import Evidence, Menu
from soids.kernels.logistic import draw_levels, level_rows
from soids.posteriors import Logistic, Tuning
from soids.posteriors.logistic import EFFECT, spread_of
from soids.tally import Tally

ACTIONS = np.array([[1.0, 0.5], [-1.0, 0.3], [0.2, -1.0], [0.0, 0.8]])
SUPPORTS = {(): 1 / 3, (0,): 1 / 6, (1,): 1 / 6, (0, 1): 1 / 3}  # every size is as likely

pytestmark = pytest.mark.usefixtures("one_thread")


def evidence_of(played, rewards, actions=ACTIONS):
    menu = Menu(actions)
    evidence = Evidence.empty(actions.shape[1])._replace(tally=Tally.empty(actions.shape[1]))
    for arm, reward in zip(played, rewards, strict=True):
        evidence = evidence.add(menu, menu.actions[arm], float(reward))
    return evidence


def quadrature(evidence, rate, radius, eta):
    """Inclusion of both features, their means and second moments, and the mean rates: (10,)."""
    tally, half = evidence.tally, 32
    slab = EFFECT / spread_of(evidence)
    grid = (np.arange(-half, half) + 0.5) * radius / half  # no point is zero
    levels = np.linspace(-14.0, 10.0, 150)
    terms, masses = [], []
    for support, prior in SUPPORTS.items():
        points = np.array(list(itertools.product(*[grid] * len(support))))
        thetas = np.zeros((len(points), 2))
        thetas[:, list(support)] = points
        log = np.log(prior) + len(support) * np.log(grid[1] - grid[0])
        log += np.zeros(len(thetas)) - len(support) * np.log(slab * np.sqrt(2.0 * np.pi))
        log -= 0.5 * (thetas**2).sum(axis=1) / slab**2
        log[np.abs(thetas).sum(axis=1) > radius] = -np.inf
        share = tally.rate * (1.0 - tally.rate) * rate
        gaps = evidence.counts[0] * (thetas @ ACTIONS.T).max(axis=1) - thetas @ evidence.total
        log += share * gaps
        odds = (thetas @ (tally.actions - tally.centre).T)[:, :, None] + levels  # (n, N, L)
        fit = np.einsum("i,nil->nl", tally.successes, odds)
        fit = eta * (fit - np.einsum("i,nil->nl", tally.trials, np.logaddexp(0.0, odds)))
        fit += 0.5 * levels - np.logaddexp(0.0, levels)
        log_masses = log + logsumexp(fit, axis=1)
        at = np.exp(fit - logsumexp(fit, axis=1, keepdims=True))
        shift = thetas @ (ACTIONS - tally.centre).T
        rates = np.stack([(at * expit(s[:, None] + levels)).sum(axis=1) for s in shift.T], -1)
        terms.append(np.hstack([thetas != 0.0, thetas, thetas**2, rates]))
        masses.append(log_masses)
    weights = np.exp(np.concatenate(masses) - logsumexp(np.concatenate(masses)))
    return weights @ np.vstack(terms)


@pytest.mark.parametrize(
    ("clicks", "rate", "eta"),
    [(0.5, 0.0, 1.0), (0.1, 0.0, 1.0), (0.1, 0.6, 1.0), (0.0, 0.0, 1.0), (0.5, 0.3, 0.5)],
)
def test_particles_agree_with_quadrature(clicks, rate, eta):
    """At frequent, rare and no rewards of 1, with and without optimism, for a tempered likelihood.

    Particles of a single update from the prior are as good as independent, weighted draws: their
    standard errors are those of importance sampling.
    """
    rng = np.random.default_rng(3)
    played = rng.integers(4, size=40)
    truth = expit(logit(max(clicks, 1e-9)) + ACTIONS @ np.array([1.5, 0.0]))
    evidence = evidence_of(played, rng.random(40) < truth[played])
    radius = 4.0
    exact = quadrature(evidence, rate, radius, eta)

    def scene(rng, times):
        model = Logistic(2, radius=radius)
        belief = model.update(None, evidence, Tuning(eta, rate, 3000 * times, 20), rng)
        thetas, included, weights = belief.particles()
        rates = belief.rewards_on(Menu(ACTIONS))
        drawn = np.hstack([included, thetas, thetas**2, rates])
        errors = np.sqrt(weights**2 @ (drawn - exact) ** 2)
        return two_sided((weights @ drawn - exact) / errors)

    assert_plausible(scene)


def test_the_mean_weight_of_a_drawn_level_is_the_integrated_likelihood():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((1, 3)) * np.ones((20_000, 1))
    trials, successes = np.array([9.0, 4.0, 1.0]), np.array([2.0, 0.0, 0.5])
    _, logs = draw_levels(scores, trials, successes, 0.0, rng.standard_normal(len(scores)))
    levels = np.linspace(-30.0, 30.0, 20_001)
    odds = scores[0, :, None] + levels
    exact = np.exp(successes @ odds - trials @ np.logaddexp(0.0, odds)).sum() * 0.003
    weights = np.exp(logs) * np.sqrt(2.0 * np.pi)
    error = weights.std() / np.sqrt(len(weights))
    assert error < 0.01 * exact
    assert abs(weights.mean() - exact) < 4.5 * error


def test_levels_are_the_same_compiled_and_plain():
    rng = np.random.default_rng(1)
    scores, normals = rng.standard_normal((4, 3)), rng.standard_normal(4)
    trials, successes = np.array([9.0, 4.0, 1.0]), np.array([2.0, 0.0, 0.5])
    plain = np.empty((2, 4))
    python = getattr(level_rows, "py_func", level_rows)
    python(0, 4, scores, trials, successes, 3.0, normals, *plain)
    compiled = draw_levels(scores, trials, successes, 3.0, normals)
    assert np.allclose(compiled, plain, rtol=1e-12)


def test_true_parameters_rank_anywhere_among_particles_that_follow_the_rewards():
    """Simulation-based calibration: ranks of a true value are uniform (Talts et al. 2018)."""
    played = np.resize([0, 1, 2, 3, 0, 0], 24)
    centre = ACTIONS[played].mean(axis=0)
    model = Logistic(2, radius=50.0)
    slab = EFFECT / spread_of(evidence_of(played, np.zeros(24)))

    def scene(rng, times):
        places = []
        for _ in range(120 * times):
            support = list(SUPPORTS)[rng.choice(4, p=list(SUPPORTS.values()))]
            theta = np.zeros(2)
            theta[list(support)] = slab * rng.standard_normal(len(support))
            level = logit(np.clip(rng.beta(0.5, 0.5), 1e-12, 1.0 - 1e-12))
            rates = expit(level + (ACTIONS - centre) @ theta)
            belief = None
            rewards = rng.random(24) < rates[played]
            for t in range(4, 25, 4):
                evidence = evidence_of(played[:t], rewards[:t])
                belief = model.update(belief, evidence, Tuning(1.0, 0.0, 60, 2), rng)
            thetas, _, weights = belief.particles()
            drawn = np.column_stack([thetas[:, 0], belief.rewards_on(Menu(ACTIONS))[:, :2]])
            size = 1.0 / (weights**2).sum()
            for true, values in zip((theta[0], *rates[:2]), drawn.T, strict=True):
                below, ties = (size * weights[at].sum() for at in (values < true, values == true))
                places.append((below + rng.random() * (ties + 1.0)) / (size + 1.0))
        return np.array([kstest(places[i::3], "uniform").pvalue for i in range(3)])

    assert_plausible(scene)


def test_evidence_without_a_tally_is_refused():
    with pytest.raises(ValueError, match="evidence must have a tally"):
        Logistic(2).update(
            None, Evidence.empty(2), Tuning(1.0, 0.0, 10, 1), np.random.default_rng()
        )


def test_a_noise_level_is_refused():
    with pytest.raises(ValueError, match="noise must be left out"):
        Logistic(2, noise=1.0)
