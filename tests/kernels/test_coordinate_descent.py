"""Coordinate descent on a gram."""

import numpy as np
import pytest

from compiled import plain
from soids.kernels.coordinate_descent import descend


@pytest.mark.parametrize("kernel", [descend, plain(descend)])
@pytest.mark.parametrize("start", [0.0, 5.0])
def test_it_ends_where_no_coordinate_can_be_improved(kernel, start):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 5))
    gram, moment = rows.T @ rows, rows.T @ rng.standard_normal(12)
    weights = np.array([0.0, 0.5, 1.0, 2.0, 100.0])
    theta = np.full(5, start)
    assert kernel(gram, moment, weights, theta, 1e-12, 10_000) < 10_000
    slope = moment - gram @ theta
    active = theta != 0.0
    assert active.tolist()[-1] is False
    assert slope[active] == pytest.approx((weights * np.sign(theta))[active], abs=1e-9)
    assert (np.abs(slope[~active]) <= weights[~active] + 1e-9).all()


@pytest.mark.parametrize("kernel", [descend, plain(descend)])
def test_what_was_never_seen_stays_zero(kernel):
    theta = np.array([3.0, 0.0])
    kernel(np.diag([0.0, 1.0]), np.array([0.0, 2.0]), np.array([0.1, 0.5]), theta, 1e-12, 100)
    assert theta.tolist() == [0.0, 1.5]


def test_it_gives_up_after_the_sweeps_it_is_allowed():
    gram = np.array([[1.0, 0.999], [0.999, 1.0]])
    theta = np.zeros(2)
    assert descend(gram, np.array([1.0, 0.5]), np.zeros(2), theta, 0.0, 3) == 3
