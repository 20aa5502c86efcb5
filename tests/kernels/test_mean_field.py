"""The mean-field updates, coordinate by coordinate."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm

from compiled import plain
from soids.kernels.mean_field import Problem, ascend, cheapest, cost

kernels = pytest.mark.parametrize("kernel", [cheapest, plain(cheapest)])


def assert_cheapest(found, pull, curvature):
    mean, deviation, value = found
    assert value == pytest.approx(cost(mean, deviation, pull, curvature, 1.0), rel=1e-14)

    def on_log_scale(place):
        return cost(place[0], np.exp(place[1]), pull, curvature, 1.0)

    better = minimize(on_log_scale, [mean, np.log(deviation)], method="Nelder-Mead")
    assert value <= better.fun + 1e-7


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (0.7, 0.2), (-3.0, 2.0)])
def test_the_cost_is_an_expectation_under_the_slab(mean, deviation):
    pull, curvature, slab = 0.4, 2.0, 1.5
    law = norm(mean, deviation)
    edges = mean - 12 * deviation, mean + 12 * deviation
    size = quad(lambda x: abs(x) * law.pdf(x), *edges, points=[0.0])[0]
    expected = pull * mean + 0.5 * curvature * (mean**2 + deviation**2) + slab * size
    assert cost(mean, deviation, pull, curvature, slab) == pytest.approx(
        expected - np.log(deviation), abs=1e-7
    )


@kernels
@pytest.mark.parametrize("pull", [0.0, 1.0, -30.0, 500.0])
@pytest.mark.parametrize("curvature", [0.3, 50.0, 1e6])
@pytest.mark.parametrize("guess", [(0.0, 1.0), (5.0, 1e-3), (-2.0, 30.0)])
def test_nothing_is_cheaper_than_the_cheapest(kernel, pull, curvature, guess):
    assert_cheapest(kernel(*guess, pull, curvature, 1.0), pull, curvature)


@kernels
@pytest.mark.parametrize("guess", [(0.0, 1.0), (5.0, 1e-3)])
def test_what_was_never_seen_has_the_best_gaussian_for_the_prior(kernel, guess):
    assert_cheapest(kernel(*guess, 0.0, 0.0, 1.0), 0.0, 0.0)


def test_a_sweep_updates_in_the_order_asked_for_and_says_how_many_it_took():
    gram, moment = np.array([[4.0, 1.0], [1.0, 4.0]]), np.array([8.0, 8.0])
    problem, found = Problem(gram, moment, 1.0, 1.0, 0.0), []
    for order in ([0, 1], [1, 0]):
        state = np.zeros(2), np.ones(2), np.full(2, 0.5)
        assert ascend(problem, np.array(order), state, 0.0, 1) == 1
        found.append(state[0].tolist())
    assert found[0] == found[1][::-1]
    assert found[0][0] > found[0][1]
    state = np.zeros(2), np.ones(2), np.full(2, 0.5)
    assert 1 < ascend(problem, np.arange(2), state, 1e-9, 100) < 100
