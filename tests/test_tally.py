"""The tally of rewards that are 0 or 1."""

import numpy as np
import pytest

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
