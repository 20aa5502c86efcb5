"""The lasso, the minimax concave penalty and thresholds, from sums alone."""

from functools import partial

import numpy as np
import pytest

from recorded import recorded, sparse_problem
from scikit_lasso import scikit_lasso
from soids.evidence import Evidence
from soids.gram import Gram
from soids.regression.lasso import Inner, hao_lasso, lasso, solve_for_signs
from soids.regression.mcp import two_step_mcp
from soids.regression.thresholded import large, least_squares_on

problem = partial(sparse_problem, values=(2.0, -1.0, 0.5), noise=0.3)


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
    theta = lasso(evidence.played, evidence.moment, weights, begin)
    assert theta == pytest.approx(scikit_lasso(actions, rewards, alpha), abs=1e-5)


def test_weights_are_heeded_one_by_one():
    actions, rewards = problem(40, 60)
    weights = np.random.default_rng(1).uniform(0.0, 20.0, 60)
    weights[2] = 0.0
    evidence = recorded(actions, rewards)
    theta = lasso(evidence.played, evidence.moment, weights)
    slope = actions.T @ (rewards - actions @ theta)
    active = theta != 0.0
    assert 3 < active.sum() < 40
    assert slope[active] == pytest.approx((weights * np.sign(theta))[active], abs=1e-6)
    assert (np.abs(slope[~active]) <= weights[~active] + 1e-6).all()


def test_solving_for_signs_lowers_the_objective_and_changes_no_sign():
    actions, rewards = problem(30, 12)
    gram, moment = actions.T @ actions, actions.T @ rewards
    weights, rng = np.full(12, 2.0), np.random.default_rng(2)

    def objective(theta):
        return 0.5 * theta @ gram @ theta - moment @ theta + weights @ np.abs(theta)

    for _ in range(50):
        before = rng.standard_normal(12) * (rng.random(12) < 0.8)
        after = before.copy()
        solve_for_signs(gram, moment, weights, after)
        assert objective(after) <= objective(before) + 1e-9
        assert (after * before >= 0.0).all()
        assert not after[before == 0.0].any()


def test_from_zero_there_are_no_signs_to_solve_for():
    theta = np.zeros(2)
    assert not solve_for_signs(np.eye(2), np.ones(2), np.zeros(2), theta)
    assert theta.tolist() == [0.0, 0.0]


def hard_actions(kind, rng):
    if kind == "nearly equal columns":
        return rng.standard_normal((40, 1)) + 0.01 * rng.standard_normal((40, 60))
    if kind == "equal columns":
        return np.tile(rng.standard_normal((60, 50)), 2)
    if kind == "units of many sizes":
        return rng.standard_normal((100, 50)) * 10.0 ** rng.uniform(-4, 4, 50)
    return rng.standard_normal({"few rounds": (20, 400), "many rounds": (900, 300)}[kind])


@pytest.mark.parametrize("share", [1e-5, 0.01, 0.3, 1.1])
@pytest.mark.parametrize(
    "kind",
    ["nearly equal columns", "equal columns", "units of many sizes", "few rounds", "many rounds"],
)
def test_hard_problems_are_solved_to_the_conditions_of_optimality(kind, share):
    actions = hard_actions(kind, rng := np.random.default_rng(0))
    rewards = actions[:, 0] - actions[:, 1] + 0.1 * rng.standard_normal(len(actions))
    moment = actions.T @ rewards
    weight = share * np.abs(moment).max()
    theta = lasso(Gram.of(actions.T @ actions), moment, np.full(len(moment), weight))
    slope = actions.T @ (rewards - actions @ theta)
    active = theta != 0.0
    assert slope[active] == pytest.approx(weight * np.sign(theta[active]), rel=1e-6)
    assert np.abs(slope).max() <= (1.0 + 1e-6) * weight
    assert active.any() == (share < 1.0)


def test_wide_rows_are_as_good_as_their_gram():
    actions, rewards = problem(15, 80)
    weights = np.full(80, 3.0)
    evidence = recorded(actions, rewards)
    inner = Inner(actions)
    theta = lasso(inner, actions.T @ rewards, weights)
    expected = lasso(evidence.played, evidence.moment, weights)
    assert theta == pytest.approx(expected, abs=1e-8)
    assert inner.diagonal == pytest.approx(np.diagonal(evidence.gram))


@pytest.mark.parametrize("noise", [0.05, 0.4])
def test_haos_convention_does_not_halve_the_squares(noise):
    actions, rewards = problem(50, 8)
    theta = hao_lasso(recorded(actions, rewards), noise, size=1.0)
    pull = 2.0 / 50 * actions.T @ (rewards - actions @ theta)
    penalty, active = 4.0 * noise * np.sqrt(np.log(8) / 50), theta != 0.0
    assert 0 < active.sum() < 8
    assert pull[active] == pytest.approx(penalty * np.sign(theta[active]))
    assert (np.abs(pull[~active]) <= penalty).all()


def test_haos_penalty_grows_with_the_entries_of_actions_and_spares_a_single_feature():
    actions, rewards = problem(50, 8)
    wide = recorded(actions, rewards)
    assert hao_lasso(wide, 0.1, size=3.0) == pytest.approx(hao_lasso(wide, 0.3, size=1.0))
    expected = np.linalg.lstsq(actions[:, :1], rewards)[0]
    narrow = recorded(actions[:, :1], rewards)
    assert hao_lasso(narrow, noise=1.0, size=1.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    "evidence", [Evidence.empty(3), recorded(np.zeros((4, 3)), np.ones(4))], ids=["none", "blind"]
)
@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_nothing_seen_is_nothing_known(evidence, weight):
    theta = lasso(evidence.played, evidence.moment, np.full(3, weight))
    assert theta.tolist() == [0.0, 0.0, 0.0]


def test_two_steps_of_mcp_by_hand():
    """Orthogonal features of length 2, so that each coefficient is its own problem."""
    gram = Inner(2.0 * np.eye(4))
    moment, rounds, penalty, concavity = np.array([12.0, -6.0, 4.8, 1.0]), 4, 1.0, 2.0
    first = np.array([2.0, -0.5, 0.2, 0.0])  # (|b| - 4) / 4
    weights = 4.0 * np.array([0.0, 0.75, 0.9, 1.0])  # 4 max(0, 1 - |first| / 2)
    second = np.sign(moment) * np.maximum(0.0, np.abs(moment) - weights) / 4.0
    theta = two_step_mcp(gram, moment, rounds, penalty, concavity, np.zeros(4))
    assert theta == pytest.approx(second)
    assert (np.abs(second) >= np.abs(first)).all()


def test_with_little_concavity_it_is_the_lasso_and_with_much_least_squares_on_its_features():
    actions, rewards = problem(50, 20)
    evidence = recorded(actions, rewards)
    sums, zeros = (evidence.played, evidence.moment, 50, 0.2), np.zeros(20)
    theta = lasso(*sums[:2], np.full(20, 10.0))
    assert two_step_mcp(*sums, 1e9, zeros) == pytest.approx(theta, abs=1e-6)
    free = two_step_mcp(*sums, 1e-9, zeros)
    assert free == pytest.approx(least_squares_on(evidence, np.flatnonzero(theta)), abs=1e-6)


def test_both_thresholds_by_hand():
    """Four exceed 4, so that the second threshold is 8; those below 4 cannot come back."""
    theta = np.array([4.5, -8.5, 8.0, 20.0, 3.9, 0.0])
    assert large(theta, penalty=1.0).tolist() == [1, 3]
    assert large(0.1 * theta, penalty=1.0).tolist() == []


def test_least_squares_on_features_is_that_of_their_columns():
    actions, rewards = problem(9, 30)
    found = np.array([0, 4, 7])
    theta = least_squares_on(recorded(actions, rewards), found)
    assert theta[found] == pytest.approx(np.linalg.lstsq(actions[:, found], rewards)[0])
    assert np.count_nonzero(theta) == 3
    assert not least_squares_on(recorded(actions, rewards), found[:0]).any()
