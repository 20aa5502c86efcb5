"""The tally of rewards that are 0 or 1."""

import numpy as np
import pytest

from soids import SOIDS
from soids.tally import Tally

ROWS = np.array([[1.0, 0.0], [0.0, 1.0]])


def gathered(played, rewards):
    tally = Tally.empty(2)
    for arm, reward in zip(played, rewards, strict=True):
        tally = tally.add(ROWS[arm], reward)
    return tally


def test_a_tally_counts_trials_and_successes_of_each_action_in_any_order():
    played, rewards = [0, 1, 0, 0], [1.0, 0.0, 0.0, 1.0]
    for tally in (gathered(played, rewards), gathered(played[::-1], rewards[::-1])):
        order = np.argsort(-tally.actions[:, 0])
        assert tally.actions[order].tolist() == ROWS.tolist()
        assert (tally.trials[order].tolist(), tally.successes[order].tolist()) == ([3, 1], [2, 0])
        assert tally.centre.tolist() == [0.75, 0.25]
        assert tally.rate == 2.5 / 5.0


def test_an_earlier_tally_stays_as_it_was():
    before = gathered([0], [1.0])
    before.add(ROWS[0], 0.0)
    assert (before.trials.tolist(), before.successes.tolist()) == ([1.0], [1.0])


@pytest.mark.parametrize("reward", [-1.0, 0.5, 2.0])
def test_other_rewards_are_refused(reward):
    with pytest.raises(ValueError, match=f"reward must be 0 or 1 .* got {reward}"):
        Tally.empty(2).add(ROWS[0], reward)


def test_many_rewards_at_once_are_counted_as_one_by_one():
    rng = np.random.default_rng(0)
    actions, rewards = rng.integers(0, 2, (60, 3)).astype(float), rng.integers(0, 2, 60) * 1.0
    once = Tally.empty(3).add(actions[0], rewards[0]).scaled(0.5)
    one_by_one = once
    for action, reward in zip(actions[1:], rewards[1:], strict=True):
        one_by_one = one_by_one.add(action, reward)
    together = once.add_all(actions[1:], rewards[1:])
    assert all(map(np.array_equal, one_by_one, together))
    with pytest.raises(ValueError, match="reward must be 0 or 1"):
        once.add_all(actions[:2], np.array([1.0, 2.0]))


def test_a_table_of_clicks_teaches_what_single_rounds_do():
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (6, 3))
    index, reward = rng.integers(0, 6, 50), rng.integers(0, 2, 50) * 1.0
    together, single = SOIDS(3, rewards="binary"), SOIDS(3, rewards="binary")
    together.learn(actions, index, reward)
    for one, earned in zip(index, reward, strict=True):
        single.learn(actions, one, earned)
    assert all(map(np.array_equal, together.evidence.tally, single.evidence.tally))
    with pytest.raises(ValueError, match="reward must be 0 or 1"):
        together.learn(actions, [0, 1], [0.0, 3.0])
