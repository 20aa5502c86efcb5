"""The weighted lasso, its concave cousin and its thresholds, from sums alone."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from recorded import recorded
from soids.evidence import Evidence
from soids.regression.mcp import two_step_mcp
from soids.regression.thresholded import large, least_squares_on
from soids.regression.weighted_lasso import Inner, leap, weighted_lasso

EXACT = 1e-11


def problem(rounds, dimension, seed=0):
    rng = np.random.default_rng(seed)
    actions = rng.standard_normal((rounds, dimension))
    theta = np.zeros(dimension)
    theta[:3] = 2.0, -1.0, 0.5
    return actions, actions @ theta + 0.3 * rng.standard_normal(rounds)


@pytest.mark.parametrize(("rounds", "dimension"), [(200, 6), (20, 60), (1, 3), (30, 600)])
@pytest.mark.parametrize("alpha", [0.03, 0.4])
@pytest.mark.parametrize("start", ["zero", "elsewhere"])
def test_it_is_scikit_learns_without_intercept(rounds, dimension, alpha, start):
    actions, rewards = problem(rounds, dimension)
    evidence = recorded(actions, rewards)
    begin = np.zeros(dimension)
    if start == "elsewhere":
        begin[1::7] = 1.0
    weights = np.full(dimension, rounds * alpha)
    theta = weighted_lasso(evidence.played, evidence.moment, weights, begin, EXACT)
    peer = Lasso(alpha, fit_intercept=False, tol=1e-12, max_iter=1_000_000).fit(actions, rewards)
    assert theta == pytest.approx(peer.coef_, abs=1e-5)


def test_weights_are_heeded_one_by_one():
    actions, rewards = problem(40, 60)
    weights = np.random.default_rng(1).uniform(0.0, 20.0, 60)
    weights[2] = 0.0
    evidence = recorded(actions, rewards)
    theta = weighted_lasso(evidence.played, evidence.moment, weights, np.zeros(60), EXACT)
    slope = actions.T @ (rewards - actions @ theta)
    active = theta != 0.0
    assert 3 < active.sum() < 40
    assert slope[active] == pytest.approx((weights * np.sign(theta))[active], abs=1e-6)
    assert (np.abs(slope[~active]) <= weights[~active] + 1e-6).all()


def test_a_leap_is_downhill_and_changes_no_sign():
    actions, rewards = problem(30, 12)
    gram, moment = actions.T @ actions, actions.T @ rewards
    weights, rng = np.full(12, 2.0), np.random.default_rng(2)

    def height(theta):
        return 0.5 * theta @ gram @ theta - moment @ theta + weights @ np.abs(theta)

    for _ in range(50):
        before = rng.standard_normal(12) * (rng.random(12) < 0.8)
        after = before.copy()
        leap(gram, moment, weights, after)
        assert height(after) <= height(before) + 1e-9
        assert (after * before >= 0.0).all()
        assert not after[before == 0.0].any()


def test_from_zero_there_is_nowhere_to_leap():
    theta = np.zeros(2)
    assert not leap(np.eye(2), np.ones(2), np.zeros(2), theta)
    assert theta.tolist() == [0.0, 0.0]


def test_features_that_nearly_depend_on_each_other_are_no_obstacle():
    rng = np.random.default_rng(0)
    actions = rng.standard_normal((40, 1)) + 0.01 * rng.standard_normal((40, 60))
    rewards = actions[:, 0] - actions[:, 1] + 0.001 * rng.standard_normal(40)
    evidence, weights = recorded(actions, rewards), np.full(60, 1e-3)
    theta = weighted_lasso(evidence.played, evidence.moment, weights, np.zeros(60))
    slope = actions.T @ (rewards - actions @ theta)
    assert np.abs(slope).max() <= 1.001 * 1e-3


def test_wide_rows_are_as_good_as_their_gram():
    actions, rewards = problem(15, 80)
    weights = np.full(80, 3.0)
    evidence = recorded(actions, rewards)
    inner = Inner(actions)
    theta = weighted_lasso(inner, actions.T @ rewards, weights, np.zeros(80), EXACT)
    expected = weighted_lasso(evidence.played, evidence.moment, weights, np.zeros(80), EXACT)
    assert theta == pytest.approx(expected, abs=1e-8)
    assert inner.diagonal == pytest.approx(np.diagonal(evidence.gram))


def test_the_default_tolerance_costs_a_thousandth():
    actions, rewards = problem(60, 300)
    evidence, weights = recorded(actions, rewards), np.full(300, 2.0)
    zeros = np.zeros(300)
    near = weighted_lasso(evidence.played, evidence.moment, weights, zeros)
    exact = weighted_lasso(evidence.played, evidence.moment, weights, zeros, EXACT)
    assert np.abs(near - exact).max() < 1e-3 * np.abs(exact).max()


@pytest.mark.parametrize(
    "evidence", [Evidence.empty(3), recorded(np.zeros((4, 3)), np.ones(4))], ids=["none", "blind"]
)
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_nothing_seen_is_nothing_known(evidence, weight):
    theta = weighted_lasso(evidence.played, evidence.moment, np.full(3, weight), np.zeros(3))
    assert theta.tolist() == [0.0, 0.0, 0.0]


def test_two_steps_of_mcp_by_hand():
    """Orthogonal features of length 2, so that each coefficient is its own problem."""
    gram = Inner(2.0 * np.eye(4))
    moment, rounds, penalty, concavity = np.array([12.0, -6.0, 4.8, 1.0]), 4, 1.0, 2.0
    first = np.array([2.0, -0.5, 0.2, 0.0])  # (|b| - 4) / 4
    weights = 4.0 * np.array([0.0, 0.75, 0.9, 1.0])  # 4 max(0, 1 - |first| / 2)
    second = np.sign(moment) * np.maximum(0.0, np.abs(moment) - weights) / 4.0
    theta = two_step_mcp(gram, moment, rounds, penalty, concavity, np.zeros(4), EXACT)
    assert theta == pytest.approx(second)
    assert (np.abs(second) >= np.abs(first)).all()


def test_with_little_concavity_it_is_the_lasso_and_with_much_least_squares_on_its_features():
    actions, rewards = problem(50, 20)
    evidence = recorded(actions, rewards)
    sums, zeros = (evidence.played, evidence.moment, 50, 0.2), np.zeros(20)
    lasso = weighted_lasso(*sums[:2], np.full(20, 10.0), zeros, EXACT)
    assert two_step_mcp(*sums, 1e9, zeros, EXACT) == pytest.approx(lasso, abs=1e-6)
    free = two_step_mcp(*sums, 1e-9, zeros, EXACT)
    assert free == pytest.approx(least_squares_on(evidence, np.flatnonzero(lasso)), abs=1e-6)


def test_both_thresholds_by_hand():
    """Four exceed 4, so that the second threshold is 8; those below 4 cannot come back."""
    lasso = np.array([4.5, -8.5, 8.0, 20.0, 3.9, 0.0])
    assert large(lasso, penalty=1.0).tolist() == [1, 3]
    assert large(0.1 * lasso, penalty=1.0).tolist() == []


def test_least_squares_on_features_is_that_of_their_columns():
    actions, rewards = problem(9, 30)
    found = np.array([0, 4, 7])
    theta = least_squares_on(recorded(actions, rewards), found)
    assert theta[found] == pytest.approx(np.linalg.lstsq(actions[:, found], rewards)[0])
    assert np.count_nonzero(theta) == 3
    assert not least_squares_on(recorded(actions, rewards), found[:0]).any()
