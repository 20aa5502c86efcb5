"""Rewards block by block, against the product of matrices and one parameter at a time."""

import numpy as np
import pytest

from compiled import plain
from soids.kernels import rewards
from thread_counts import by_one_and_two_threads, needs_two_threads


def drawn(count, size=11, dimension=9, seed=0):
    """Parameters with 0, 1, ... non-zero coordinates, and columns (d, K)."""
    rng = np.random.default_rng(seed)
    thetas = np.zeros((size, dimension))
    for m in range(size):
        support = rng.choice(dimension, min(m, dimension), replace=False)
        thetas[m, support] = rng.standard_normal(len(support))
    return thetas, rng.standard_normal((dimension, count))


@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 1300])
def test_rewards_are_parameters_times_actions(count):
    thetas, columns = drawn(count)
    found = rewards.all_rewards(thetas, columns)
    np.testing.assert_allclose(found, thetas @ columns, atol=1e-13)


def test_blocks_change_no_bit():
    thetas, columns = drawn(1300)
    found = rewards.all_rewards(thetas, columns)
    for theta, reward in zip(thetas, found, strict=True):
        alone = np.empty(1300)
        rewards.write_rewards(theta, columns, alone)
        np.testing.assert_array_equal(reward, alone)


@needs_two_threads
def test_the_number_of_threads_changes_no_bit(monkeypatch):
    drawing = drawn(1300)
    answers = by_one_and_two_threads(lambda: rewards.all_rewards(*drawing), monkeypatch)
    np.testing.assert_array_equal(*answers)


def test_compiled_equals_plain(monkeypatch):
    thetas, columns = drawn(600)
    compiled = rewards.all_rewards(thetas, columns)
    for name in ("reward_rows", "support", "add_shares"):
        monkeypatch.setattr(rewards, name, plain(getattr(rewards, name)))
    np.testing.assert_allclose(rewards.all_rewards(thetas, columns), compiled, rtol=1e-13)


def test_every_set_has_a_best_reward_under_every_parameter():
    every, starts = np.random.default_rng(2).standard_normal((5, 1300)), np.array([0, 1, 700, 1300])
    expected = np.column_stack([part.max(axis=1) for part in np.split(every, [1, 700], axis=1)])
    np.testing.assert_array_equal(rewards.best_rewards(every, starts), expected)
