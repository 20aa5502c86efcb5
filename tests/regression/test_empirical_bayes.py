"""Empirical Bayes from sums alone is that of scikit-learn on all rows, and it maximises."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import BayesianRidge

from recorded import recorded
from soids.evidence import Evidence
from soids.regression.empirical_bayes import empirical_bayes

RNG = np.random.default_rng(0)
ACTIONS = RNG.uniform(-1, 1, (60, 8))
REWARDS = ACTIONS @ RNG.normal(0, 2.0, 8) + 0.5 * RNG.standard_normal(60)


@pytest.mark.parametrize("rounds", [60, 5])
def test_it_equals_scikit_learns_on_all_rows(rounds):
    shape, scale = 2.0, 0.3
    peer = BayesianRidge(fit_intercept=False, alpha_1=shape, alpha_2=scale, max_iter=10_000)
    peer.set_params(tol=1e-9).fit(ACTIONS[:rounds], REWARDS[:rounds])
    found = empirical_bayes(recorded(ACTIONS[:rounds], REWARDS[:rounds]), shape, scale)
    assert found == pytest.approx((1.0 / peer.alpha_, 1.0 / peer.lambda_), rel=1e-4)


def test_with_known_noise_no_other_variance_is_more_likely():
    noise, variance = empirical_bayes(recorded(ACTIONS, REWARDS), math.inf, 0.25)
    assert noise == pytest.approx(0.25, rel=1e-6)

    def log_likelihood(tried):
        covariance = 0.25 * np.eye(60) + tried * ACTIONS @ ACTIONS.T
        return multivariate_normal(np.zeros(60), covariance).logpdf(REWARDS)

    best = log_likelihood(variance)
    assert best > log_likelihood(0.97 * variance)
    assert best > log_likelihood(1.03 * variance)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e4, 1e8])
@pytest.mark.parametrize("noise", [(2.0, 0.3), (math.inf, 0.25)], ids=["unknown", "known"])
def test_units_of_rewards_and_actions_do_not_matter(scale, noise):
    shape, own = noise
    usual = empirical_bayes(recorded(ACTIONS, REWARDS), shape, own)
    found = empirical_bayes(recorded(ACTIONS, scale * REWARDS), shape, scale**2 * own)
    assert found == pytest.approx((scale**2 * usual[0], scale**2 * usual[1]), rel=1e-3)
    found = empirical_bayes(recorded(scale * ACTIONS, REWARDS), shape, own)
    assert found == pytest.approx((usual[0], usual[1] / scale**2), rel=1e-3)


def test_without_rewards_it_returns_the_prior_guess():
    assert empirical_bayes(Evidence.empty(3), 2.0, 0.5) == (0.25, 1.0)
    assert empirical_bayes(recorded(np.zeros((2, 3)), np.ones(2)), math.inf, 0.5) == (0.5, 1.0)
