"""Confidence sets from predictions: widths by hand, and the guard of the empty set."""

import math

import numpy as np
import pytest

from recorded import recorded
from soids.evidence import Evidence
from soids.regression.conversion import (
    admissible_power,
    aps_width,
    around_predictions,
    clerico_width,
    exp_concave_power,
    mixture_regret,
)


def test_the_set_is_the_one_that_its_inequality_describes():
    rng = np.random.default_rng(0)
    actions, answers = rng.standard_normal((6, 3)), rng.standard_normal(6)
    ellipsoid = around_predictions(recorded(actions, answers), penalty=0.7, budget=9.0)
    inside = 0
    for theta in rng.normal(0, 1.2, (400, 3)):
        spent = 0.7 * theta @ theta + ((answers - actions @ theta) ** 2).sum()
        assert ellipsoid.holds(theta) == (spent <= 9.0)
        inside += spent <= 9.0
    assert 20 < inside < 380


def test_an_empty_set_warns_and_shrinks_to_its_centre():
    evidence = recorded(np.eye(2), np.array([10.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="confidence set is empty"):
        ellipsoid = around_predictions(evidence, penalty=1.0, budget=1.0)
    assert ellipsoid.radius == 0.0
    assert ellipsoid.centre == pytest.approx([5.0, 0.0])


def test_a_set_without_rounds_is_the_ball():
    ellipsoid = around_predictions(Evidence.empty(2), penalty=4.0, budget=4.0 * 9.0)
    assert ellipsoid.holds(np.array([2.99, 0.0]))
    assert not ellipsoid.holds(np.array([0.0, 3.01]))


def test_powers_by_hand():
    assert admissible_power(0.3) == admissible_power(1.0) == 0.5
    for reach in (10.0, 1e6, 1e9):
        power = admissible_power(reach)
        assert power * (1.0 - power) * (2.0 * reach) ** 2 == pytest.approx(1.0)
    expected = (20.0 + math.sqrt(2.0 * math.log(2.0 * 1000 / 0.1))) ** -2
    assert exp_concave_power(10.0, 1000, 0.1) == pytest.approx(expected)


def costs_by_hand(blur, size, rounds, dimension, reach, eta, delta):
    """The bound for one comparator, term by term, as docs/baselines.md has it."""
    deviation = math.sqrt(2.0 * rounds * math.log(rounds * (rounds + 1) / delta))
    losses = rounds * (blur * reach) ** 2 + blur * reach * deviation
    return math.log(math.comb(dimension, size)) + size * np.log(2.0 / blur) + eta * losses


@pytest.mark.parametrize(("rounds", "reach"), [(1, 0.1), (1000, 1.0), (300, 10.0)])
def test_the_mixture_regret_takes_the_best_comparator_of_the_worst_size(rounds, reach):
    blurs = np.geomspace(1e-6, 1.0, 100_001)
    costs = [costs_by_hand(blurs, k, rounds, 20, reach, 0.3, 0.05).min() for k in (1, 2, 3)]
    expected = max(costs) + math.log(7 / 8)
    assert mixture_regret(rounds, 20, 3, reach, 0.3, 0.05) == pytest.approx(expected, rel=1e-6)


def test_without_rounds_the_mixture_regret_is_the_log_prior_mass_of_the_support():
    assert mixture_regret(0, 20, 1, 1.0, 0.5, 0.05) == pytest.approx(math.log(20 * 2 / 2))


def test_widths_by_hand():
    blurs = np.geomspace(1e-6, 1.0, 100_001)
    regret = costs_by_hand(blurs, 2, 1000, 20, 1.0, 0.5, 0.025).min() + math.log(3 / 4)
    width = clerico_width(1000, 20, 2, 1.0, 0.5, 0.05)
    assert width == pytest.approx(8.0 * (regret + math.log(40.0)))
    # A blur of 1 / n makes it near s log(2 e d n / s); the best blur saves a fifth.
    assert 0.75 * 198.0 < width < 0.85 * 198.0
    regret = 4.0 * mixture_regret(1000, 20, 2, 1.0, 0.5, 0.02)
    expected = 1.0 + 2.0 * regret + 32.0 * math.log((8**0.5 + (1.0 + regret) ** 0.5) / 0.02)
    assert aps_width(1000, 20, 2, 1.0, 0.5, 0.06) == pytest.approx(expected)


@pytest.mark.parametrize("width", [clerico_width, aps_width])
def test_more_rounds_features_or_certainty_never_narrow_a_set(width):
    usual = width(100, 20, 2, 3.0, 0.05, 0.05)
    assert width(1000, 20, 2, 3.0, 0.05, 0.05) > usual
    assert width(100, 40, 2, 3.0, 0.05, 0.05) > usual
    assert width(100, 20, 3, 3.0, 0.05, 0.05) > usual
    assert width(100, 20, 2, 9.0, 0.05, 0.05) > usual
    assert width(100, 20, 2, 3.0, 0.05, 0.01) > usual


def test_the_bound_exceeds_the_mixture_regret():
    """The prior average by Monte Carlo, for a true parameter on the boundary of the ball."""
    rng = np.random.default_rng(0)
    rounds, eta = 30, 0.5
    theta = np.array([1.0, 0.0, 0.0])
    sizes = rng.choice([1, 2], 40_000, p=[2 / 3, 1 / 3])
    draws = np.zeros((len(sizes), 3))
    for m, size in enumerate(sizes):
        spacings = rng.standard_exponential(size + 1)
        support = rng.choice(3, size, replace=False)
        draws[m, support] = rng.choice([-1, 1], size) * spacings[:-1] / spacings.sum()
    regrets = []
    for _ in range(20):
        actions = rng.uniform(-1, 1, (rounds, 3))
        noise = rng.standard_normal(rounds)
        losses = 0.5 * ((actions @ (theta - draws).T) + noise[:, None]) ** 2
        excess = (losses - 0.5 * noise[:, None] ** 2).sum(axis=0)
        regrets.append(-np.log(np.exp(-eta * excess).mean()))
    bound = mixture_regret(rounds, 3, 2, 1.0, eta, 0.05)
    assert max(regrets) < bound
    assert bound < 10.0 * max(regrets)
