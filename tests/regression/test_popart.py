"""PopArt: its robust means, its thresholds, its own bound, and the two cases of its paper."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from recorded import recorded
from soids.designs import exploratory_design, popart_design
from soids.regression.lasso import hao_lasso
from soids.regression.popart import Samples, catoni, influence, popart, thresholds, warm_popart


def hard_actions(dimension):
    """Case 1: the first feature is expensive to tell from the others."""
    actions = np.eye(dimension) / math.sqrt(dimension)
    actions[1:, 0] = 1.0
    return actions


def sphere(dimension, count=150):
    """Case 2: directions at random."""
    rows = np.random.default_rng(7).standard_normal((count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def sampled(actions, theta, rounds, noise, rng):
    weights = popart_design(actions).weights
    inverse = np.linalg.inv(actions.T @ (weights[:, None] * actions))
    rows = actions[rng.choice(len(actions), rounds, p=weights)]
    rewards = rows @ theta + noise * rng.standard_normal(rounds)
    return Samples(rows, rewards, rows @ inverse, np.tile(np.diag(inverse), (rounds, 1)))


CASES = pytest.mark.parametrize("actions", [hard_actions(10), sphere(10)], ids=["case 1", "case 2"])
THETA = np.zeros(10)
THETA[[0, 4]] = [-1.0, 1.0]  # as in the experiments of the paper: d = 10, s = 2, noise 0.1


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
def test_catonis_mean_is_the_root_of_its_equation(scale):
    values = np.random.default_rng(0).standard_t(2, (200, 3))
    found = catoni(values, np.full(3, scale))
    for column, root in zip(values.T, found, strict=True):
        expected = brentq(
            lambda y, z=column: influence(scale * (z - y)).sum(), column.min(), column.max()
        )
        assert root == pytest.approx(expected, abs=1e-8)
    if scale == 1e-3:
        assert found == pytest.approx(values.mean(axis=0), abs=0.05)  # nothing is an outlier


def test_catonis_mean_is_robust_to_outliers():
    values = np.random.default_rng(0).standard_normal((400, 1))
    values[0] = 1e6
    assert abs(values.mean()) > 1000.0
    assert abs(catoni(values, np.array([0.2]))[0]) < 0.3


def test_thresholds_by_hand():
    certainty = math.log(2 * 2 / 0.1)
    found = thresholds(np.array([1.0, 4.0]), 100, reach=2.0, noise=1.0, delta=0.1)
    expected = math.sqrt(2.0 * 5.0 * certainty / (100 - 2 * certainty))
    assert found == pytest.approx([expected, 2.0 * expected])
    assert np.isinf(thresholds(np.ones(2), 7, 2.0, 1.0, 0.1)).all()


def is_wrong(found, bound):
    """Whether a coefficient is off by more than the bound, or a zero was not found."""
    return (np.abs(found - THETA) > bound).any() or found[THETA == 0.0].any()


@CASES
def test_errors_are_at_most_twice_the_threshold_and_true_zeros_are_zero(actions):
    """50 runs at delta = 0.1: 5 failures on average allowed, 13 is four standard errors more."""
    reach = float(np.abs(actions @ THETA).max())
    failures = 0
    for seed in range(50):
        samples = sampled(actions, THETA, 2000, 0.1, np.random.default_rng(seed))
        bound = 2.0 * thresholds(samples.variances[0], 2000, reach, 0.1, 0.1)
        failures += is_wrong(popart(samples, reach, 0.1, 0.1), bound)
    assert failures <= 13


def test_a_good_pilot_makes_thresholds_as_small_as_the_noise():
    """In case 2, where 8000 rounds give a pilot that errs by less than the noise."""
    actions, failures = sphere(10), 0
    for seed in range(30):
        samples = sampled(actions, THETA, 8000, 0.1, np.random.default_rng(seed))
        pilot = popart(samples.part(slice(4000)), 1.0, 0.1, 0.05)
        assert np.abs(actions @ (THETA - pilot)).max() < 0.1
        bound = 2.0 * thresholds(samples.variances[0], 4000, 0.1, 0.1, 0.05)
        failures += is_wrong(warm_popart(samples, 1.0, 0.1, 0.1), bound)
    assert failures <= 10  # 3 on average allowed, four standard errors more


@CASES
def test_the_l1_error_is_below_the_papers_bound(actions):
    """8 s sigma sqrt(H_*^2 log(2 d / delta) / n) for Warm-PopArt with n = 10 000."""
    design = popart_design(actions)
    bound = 8 * 2 * 0.1 * math.sqrt(design.value * math.log(2 * 10 / 0.05) / 10_000)
    for seed in range(10):
        samples = sampled(actions, THETA, 10_000, 0.1, np.random.default_rng(seed))
        reach = float(np.abs(actions @ THETA).max())
        assert np.abs(warm_popart(samples, reach, 0.1, 0.05) - THETA).sum() < bound


def test_in_case_1_popart_beats_the_lasso_on_its_own_design():
    """As in figure 1 of Jang et al.: d = 10, noise 0.1, ten repetitions, the lasso on C_min's."""
    actions = hard_actions(10)
    reach = float(np.abs(actions @ THETA).max())
    rivals = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        own = warm_popart(sampled(actions, THETA, 10_000, 0.1, rng), reach, 0.1, 0.05)
        rows = actions[rng.choice(10, 10_000, p=exploratory_design(actions).weights)]
        evidence = recorded(rows, rows @ THETA + 0.1 * rng.standard_normal(10_000))
        theirs = hao_lasso(evidence, noise=0.1, size=1.0)
        rivals.append((np.abs(own - THETA).sum(), np.abs(theirs - THETA).sum()))
    ours, lassos = np.mean(rivals, axis=0)
    assert ours < 0.5 * lassos


def test_each_half_has_the_variances_of_its_own_action_sets():
    first, second = sampled(sphere(10), THETA, 5, 0.1, rng := np.random.default_rng(0)), None
    second = sampled(0.1 * sphere(10), THETA, 5, 0.1, rng)
    both = Samples(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))
    assert both.part(slice(5)).variances.tolist() == first.variances.tolist()
    assert both.part(slice(5, None)).variances == pytest.approx(100.0 * first.variances)


def test_with_too_few_rounds_all_coefficients_are_zero():
    samples = sampled(sphere(10), THETA, 9, 0.1, np.random.default_rng(0))
    assert not popart(samples, 1.0, 0.1, 0.05).any()
    assert not warm_popart(samples.part(slice(0)), 1.0, 0.1, 0.05).any()
