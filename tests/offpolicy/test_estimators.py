"""Estimators of what another policy earns: exact where they can be, with honest intervals."""

import itertools
import math

import numpy as np
import pytest

from soids.offpolicy import (
    direct,
    doubly_robust,
    ips,
    snips,
)
from soids.offpolicy.estimators import mean_of, unskewed

# The estimators, by enumeration of everything that can happen

PLACES = np.array([0.3, 0.7])  # of two contexts
LOGGING = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
TARGET = np.array([[0.1, 0.1, 0.8], [0.6, 0.4, 0.0]])
PAY = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, 7.0]])  # certain
TRUTH = float(PLACES @ (TARGET * PAY).sum(axis=1))


def expectation(estimator):
    """The mean of an estimator over all logs of two rounds, each as probable as it is."""
    outcomes = list(itertools.product(range(2), range(3)))
    total = 0.0
    for log in itertools.product(outcomes, repeat=2):
        x, a = np.array(log).T
        chance = np.prod(PLACES[x] * LOGGING[x, a])
        total += chance * estimator(x, a, TARGET[x, a] / LOGGING[x, a], PAY[x, a])
    return total


def test_ips_is_unbiased():
    mean = expectation(lambda x, a, weights, rewards: ips(weights, rewards).value)
    assert mean == pytest.approx(TRUTH, rel=1e-13)


def test_doubly_robust_is_unbiased_whatever_the_model():
    wrong = np.array([[5.0, 0.0, -1.0], [2.0, 2.0, 9.0]])

    def estimator(x, a, weights, rewards):
        expected = (TARGET * wrong).sum(axis=1)[x]
        return doubly_robust(weights, rewards, wrong[x, a], expected).value

    assert expectation(estimator) == pytest.approx(TRUTH, rel=1e-13)


def test_doubly_robust_with_a_perfect_model_depends_on_contexts_only():
    rng = np.random.default_rng(0)
    x = np.zeros(50, dtype=int)
    a = rng.choice(3, 50, p=LOGGING[0])
    weights, expected = TARGET[x, a] / LOGGING[x, a], (TARGET * PAY).sum(axis=1)[x]
    estimate = doubly_robust(weights, PAY[x, a], PAY[x, a], expected)
    assert estimate.error == pytest.approx(0.0, abs=1e-15)
    assert estimate.value == pytest.approx(float(TARGET[0] @ PAY[0]))
    assert ips(weights, PAY[x, a]).error > 0.1


def test_snips_is_translation_invariant_and_ips_is_not():
    rng = np.random.default_rng(0)
    weights, rewards = rng.exponential(size=40), rng.standard_normal(40)
    one, other = snips(weights, rewards), snips(weights, rewards + 1000.0)
    assert other.value - 1000.0 == pytest.approx(one.value, abs=1e-10)
    assert other.low - 1000.0 == pytest.approx(one.low, abs=1e-9)
    assert other.error == pytest.approx(one.error, rel=1e-9)
    assert abs(ips(weights, rewards + 1000.0).value - 1000.0 - ips(weights, rewards).value) > 1.0


def test_small_examples_come_out_by_hand():
    weights, rewards = np.array([2.0, 0.5, 0.0]), np.array([1.0, 4.0, 9.0])
    assert ips(weights, rewards).value == pytest.approx(4.0 / 3.0)
    assert snips(weights, rewards).value == pytest.approx(4.0 / 2.5)
    assert direct(np.array([1.0, 2.0, 6.0])).value == 3.0
    robust = doubly_robust(weights, rewards, np.array([0.0, 2.0, 1.0]), np.array([1.0, 2.0, 6.0]))
    assert robust.value == pytest.approx(((1 + 2.0) + (2 + 1.0) + 6) / 3)
    terms = weights * rewards
    assert ips(weights, rewards).error == pytest.approx(terms.std(ddof=1) / math.sqrt(3))


def test_the_direct_method_gives_no_interval():
    estimate = direct(np.arange(10.0))
    assert estimate.low is None
    assert "model" in estimate.doubt


@pytest.mark.parametrize(
    ("weights", "rewards", "message"),
    [
        ([-1.0, 1.0], [0.0, 0.0], "weights must be at least 0"),
        ([1.0], [0.0, 0.0], "rewards must have shape"),
        ([np.nan], [0.0], "weights"),
        ([1.0], [np.nan], "rewards"),
        ([], [], "weights must have shape"),
        ([1e13], [0.0], "weights"),
    ],
)
def test_bad_arrays_are_refused(weights, rewards, message):
    with pytest.raises(ValueError, match=message):
        ips(np.array(weights), np.array(rewards))


def test_confidence_lies_between_zero_and_one():
    with pytest.raises(ValueError, match="confidence"):
        ips(np.ones(3), np.arange(3.0), confidence=95)


# Intervals


def test_halls_transformation_is_undone():
    for quantile, skewness in itertools.product((-3.0, -1.96, 0.0, 1.96), (-0.5, 1e-6, 0.1, 0.7)):
        t = unskewed(quantile, skewness)
        bent = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
        assert bent == pytest.approx(quantile, abs=1e-6)


def test_without_skewness_the_interval_is_students():
    terms = np.array([-1.0, 1.0] * 5)
    estimate = mean_of("mean", terms)
    reach = 2.262157 * terms.std(ddof=1) / math.sqrt(10)
    assert [estimate.low, estimate.high] == pytest.approx([-reach, reach], rel=1e-6)


def clicks(rounds, rng):
    """Clicks on twenty items, weights from 0.2 to 5, and the true value."""
    law = np.linspace(1.0, 5.0, 20)
    law /= law.sum()
    rates, target = np.linspace(0.01, 0.03, 20), law[::-1]
    chosen = rng.choice(20, rounds, p=law)
    clicked = (rng.random(rounds) < rates[chosen]).astype(float)
    return target[chosen] / law[chosen], clicked, float(target @ rates)


def corrected(weights, rewards):
    """Doubly robust, with a model that says the same of everything."""
    same = np.full(len(rewards), 0.015)
    return doubly_robust(weights, rewards, same, same)


@pytest.mark.parametrize("estimator", [ips, snips, corrected])
def test_intervals_have_their_nominal_coverage(estimator):
    """1000 logs of 1000 rounds, some 22 clicks each: the usual interval fails one time in ten.

    The error of a coverage is 0.8 % with the 800 intervals that are given, and with another seed
    93.4 to 93.9 % of them hold the true value, so 0.91 is 3 errors away; the usual ones have
    89.5 %.
    """
    rng = np.random.default_rng(0)
    held, given, usual = 0, 0, 0
    for _ in range(1000):
        weights, rewards, truth = clicks(1000, rng)
        estimate = estimator(weights, rewards)
        usual += abs(estimate.value - truth) <= 1.96 * estimate.error
        if estimate.low is not None:
            given += 1
            held += estimate.low <= truth <= estimate.high
    assert given > 700
    assert held / given > 0.91
    assert usual / 1000 < 0.92


def test_no_interval_rests_on_a_single_round():
    estimate = ips(np.ones(1000), np.eye(1000)[0])
    assert estimate.low is None
    assert "single round" in estimate.doubt


def test_equal_rewards_give_no_interval():
    estimate = ips(np.ones(1000), np.zeros(1000))
    assert estimate.value == 0.0
    assert estimate.low is None
    assert "equal" in estimate.doubt


def test_a_model_does_not_replace_unobserved_rewards():
    """No click in 160 rounds that count: the rate may still be 2 %."""
    weights = np.where(np.arange(5000) < 160, 31.25, 0.0)
    rewards = (np.arange(5000) >= 4900) * 1.0
    rng = np.random.default_rng(0)
    predicted, expected = 0.02 * rng.random(5000), 0.02 * rng.random(5000)
    estimate = doubly_robust(weights, rewards, predicted, expected)
    assert estimate.low is None
    assert "too few rounds" in estimate.doubt
