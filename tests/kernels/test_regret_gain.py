"""Regret, gain and winners in one pass, against the formulas in NumPy."""

import itertools

import numpy as np
import pytest

from compiled import plain
from soids.information import half_variance, shortfall
from soids.kernels import regret_gain
from thread_counts import by_one_and_two_threads, needs_two_threads

COUNTS = [1, 7, 512, 513, 1500]


def drawn(count, size=9, seed=0):
    """Rewards (M, K) and weights (M,), one of which is zero."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size))
    weights[2] = 0.0
    return rng.standard_normal((size, count)), weights / weights.sum()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_regret_and_gain_are_those_of_the_formulas(count, offset):
    rewards, weights = drawn(count)
    rewards += offset
    regret, gain = regret_gain.regret_and_gain(rewards, weights)
    np.testing.assert_allclose(regret, shortfall(rewards, weights), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(gain, half_variance(rewards, weights), rtol=1e-12, atol=1e-15)


def test_sets_are_appraised_each_by_itself():
    rewards, weights = drawn(sum(COUNTS))
    starts = np.cumsum([0, *COUNTS])
    regret, gain = regret_gain.regrets_and_gains(rewards, starts, weights)
    for first, last in itertools.pairwise(starts):
        alone = regret_gain.regret_and_gain(rewards[:, first:last].copy(), weights)
        np.testing.assert_array_equal((regret[first:last], gain[first:last]), alone)


@pytest.mark.parametrize("count", COUNTS)
def test_an_action_that_is_best_everywhere_has_no_regret_at_all(count):
    rewards, weights = drawn(count)
    rewards[:, -1] = rewards.max(axis=1)
    regret, _ = regret_gain.regret_and_gain(rewards, weights)
    assert regret[-1] == 0.0
    assert regret.min() == 0.0


def test_no_regret_is_below_zero():
    for seed in range(50):
        rewards, weights = drawn(1100, seed=seed)
        best = rewards.max(axis=1)
        rewards[:, 600:] = np.nextafter(best, -np.inf)[:, None]  # all but best
        assert regret_gain.regret_and_gain(rewards, weights)[0].min() >= 0.0


def test_a_block_alone_says_the_same_to_the_last_bit():
    rewards, weights = drawn(1500)
    rewards[:, 3] = 9.0  # the best is in the first block: the pivots are the best rewards
    whole = regret_gain.regret_and_gain(rewards, weights)
    first = regret_gain.regret_and_gain(np.ascontiguousarray(rewards[:, :512]), weights)
    for long, short in zip(whole, first, strict=True):
        np.testing.assert_array_equal(long[:512], short)


@needs_two_threads
def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rewards, weights = drawn(5000)
    actions = np.random.default_rng(1).standard_normal((5000, 3))

    def everything():
        found = regret_gain.regret_and_gain(rewards, weights)
        apart = regret_gain.regrets_and_gains(rewards, np.array([0, 700, 703, 5000]), weights)
        return *found, *apart, regret_gain.winners(rewards, actions)

    for one, other in zip(*by_one_and_two_threads(everything, monkeypatch), strict=True):
        np.testing.assert_array_equal(one, other)


def test_ties_go_to_the_fewest_features_then_to_the_first():
    actions = np.array([[1.0, 1.0], [0.0, 1.0], [2.0, 0.0], [3.0, 3.0]])
    rewards = np.array(
        [[5.0, 5.0, 5.0, 1.0], [5.0, 1.0, 1.0, 5.0], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]]
    )
    assert regret_gain.winners(rewards, actions).tolist() == [1, 0, 3, 1]


def test_compiled_equals_plain(monkeypatch):
    rewards, weights = drawn(700)
    actions = np.random.default_rng(1).integers(0, 2, (700, 3)).astype(float)
    ties = np.round(rewards)

    def answers():
        yield from regret_gain.regret_and_gain(rewards, weights)
        yield from regret_gain.regrets_and_gains(rewards, np.array([0, 3, 700]), weights)
        yield regret_gain.winners(ties, actions)

    compiled = list(answers())
    for name in ("appraise_blocks", "appraise_menus", "lead", "winner_rows"):
        monkeypatch.setattr(regret_gain, name, plain(getattr(regret_gain, name)))
    interpreted = list(answers())
    for one, other in zip(compiled, interpreted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
