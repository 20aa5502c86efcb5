"""Fit and optimism of particles, against their formulas."""

import numpy as np
import pytest
from scipy.special import logsumexp

from compiled import plain
from soids.kernels import density
from soids.kernels.gram_rows import whole
from thread_counts import by_one_and_two_threads, needs_two_threads


def fit_arguments(rng, particles=40, dimension=7):
    """Sparse parameters, one of them zero, and the sums of a past."""
    thetas = rng.standard_normal((particles, dimension))
    thetas[rng.random(thetas.shape) < 0.5] = 0.0
    thetas[0] = 0.0
    played = rng.uniform(-1.0, 1.0, (9, dimension))
    return thetas, whole(played.T @ played), rng.standard_normal(dimension), played.sum(axis=0)


def optimism_arguments(rng, particles=40):
    """Rewards of three action sets, the second of them without tilt."""
    return rng.standard_normal((particles, 9)), np.array([0, 4, 6, 9]), np.array([1.5, 0.0, 0.9])


def test_twins_are_sums_of_two_exponentials_over_what_is_not_zero():
    thetas = fit_arguments(np.random.default_rng(3))[0]
    thetas[1, :2] = 900.0, -900.0  # whose exponentials no double holds
    expected = np.where(thetas != 0.0, np.logaddexp(1.3 * thetas, -1.3 * thetas), 0.0).sum(axis=1)
    np.testing.assert_allclose(density.twins(thetas, 1.3), expected, rtol=1e-13)


def test_fits_are_the_quadratic_form_and_the_drift():
    thetas, gram, moment, drift = fit_arguments(np.random.default_rng(0))
    squares, drifts = density.fits(thetas, gram, moment, drift)
    quadratic = np.einsum("mi,ij,mj->m", thetas, gram.rows, thetas) - 2.0 * thetas @ moment
    np.testing.assert_allclose(squares, quadratic, atol=1e-12)
    np.testing.assert_allclose(drifts, thetas @ drift, atol=1e-12)


def test_optimism_is_the_tilted_maximum_and_the_log_sum_exp():
    rewards, starts, tilts = optimism_arguments(np.random.default_rng(1))
    best, soft = density.optimism(rewards, starts, tilts)
    one, other = rewards[:, :4], rewards[:, 6:]
    np.testing.assert_allclose(best, 1.5 * one.max(axis=1) + 0.9 * other.max(axis=1), rtol=1e-13)
    bound = logsumexp(1.5 * one, axis=1) + logsumexp(0.9 * other, axis=1)
    np.testing.assert_allclose(soft, bound, rtol=1e-13)


def test_without_action_sets_there_is_no_optimism():
    best, soft = density.optimism(np.empty((3, 0)), np.array([0]), np.empty(0))
    np.testing.assert_array_equal([best, soft], np.zeros((2, 3)))


def test_optimism_survives_rewards_beyond_the_range_of_exp():
    rewards = np.array([[-2e6, 1e6, 1e6], [-3e6, -2e6, -2e6]])
    best, soft = density.optimism(rewards, np.array([0, 3]), np.array([1e3]))
    np.testing.assert_array_equal(best, [1e9, -2e9])
    np.testing.assert_allclose(soft - best, np.log(2.0), rtol=1e-6)  # the logs are 1e9 themselves


@needs_two_threads
@pytest.mark.parametrize(
    ("function", "arguments"),
    [(density.fits, fit_arguments), (density.optimism, optimism_arguments)],
)
def test_the_number_of_threads_changes_no_bit(function, arguments, monkeypatch):
    given = arguments(np.random.default_rng(2))
    values = by_one_and_two_threads(lambda: function(*given), monkeypatch)
    np.testing.assert_array_equal(*values)


@pytest.mark.parametrize(
    ("function", "kernel", "arguments"),
    [
        (density.fits, "fit_rows", fit_arguments),
        (density.optimism, "optimism_rows", optimism_arguments),
    ],
)
def test_compiled_equals_plain(function, kernel, arguments, monkeypatch):
    compiled = function(*arguments(np.random.default_rng(3)))
    monkeypatch.setattr(density, kernel, plain(getattr(density, kernel)))
    interpreted = function(*arguments(np.random.default_rng(3)))
    np.testing.assert_allclose(compiled, interpreted, atol=1e-12)
