"""The lasso from sums alone is the lasso of scikit-learn on all rows."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from recorded import recorded
from soids.evidence import Evidence
from soids.regression.lasso import lasso, lasso_penalty


@pytest.mark.parametrize(("rounds", "dimension"), [(200, 6), (12, 30), (1, 3), (40, 1)])
@pytest.mark.parametrize("penalty", [0.02, 0.5])
def test_it_is_scikit_learns_with_half_the_penalty(rounds, dimension, penalty):
    rng = np.random.default_rng(rounds)
    actions = rng.uniform(-1, 1, (rounds, dimension))
    rewards = 2.0 * actions[:, 0] + 0.3 * rng.standard_normal(rounds)
    peer = Lasso(0.5 * penalty, fit_intercept=False, tol=1e-10, max_iter=1_000_000)
    theta = lasso(recorded(actions, rewards), penalty)
    assert theta == pytest.approx(peer.fit(actions, rewards).coef_, abs=1e-5)


@pytest.mark.parametrize("penalty", [0.05, 0.4])
def test_no_coordinate_can_be_improved(penalty):
    """The conditions of optimality, from the definition: no factor of two to get wrong."""
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (50, 8))
    rewards = actions[:, :2].sum(axis=1) + 0.5 * rng.standard_normal(50)
    theta = lasso(recorded(actions, rewards), penalty)
    pull = 2.0 / 50 * actions.T @ (rewards - actions @ theta)
    active = theta != 0.0
    assert 0 < active.sum() < 8
    assert pull[active] == pytest.approx(penalty * np.sign(theta[active]), abs=1e-6)
    assert (np.abs(pull[~active]) <= penalty + 1e-6).all()


def test_without_penalty_it_is_least_squares():
    rng = np.random.default_rng(0)
    actions, rewards = rng.standard_normal((9, 3)), rng.standard_normal(9)
    expected = np.linalg.lstsq(actions, rewards)[0]
    assert lasso(recorded(actions, rewards), 0.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    "evidence", [Evidence.empty(3), recorded(np.zeros((4, 3)), np.ones(4))], ids=["none", "blind"]
)
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_nothing_seen_is_nothing_known(evidence, penalty):
    assert lasso(evidence, penalty).tolist() == [0.0, 0.0, 0.0]


def test_the_penalty_by_hand():
    assert lasso_penalty(100, 20, noise=1.0) == pytest.approx(4.0 * np.sqrt(np.log(20) / 100))
    assert lasso_penalty(100, 20, noise=0.1) == pytest.approx(0.4 * np.sqrt(np.log(20) / 100))
    assert lasso_penalty(0, 1, noise=1.0) == 0.0
