"""A worker plays what the recipe says: nothing more, nothing less."""

import numpy as np
import pytest

from soids import LinUCB, paper_instance, play
from soids.simulation.board import Board
from soids.simulation.trial import Player, Problem, Trial
from soids.simulation.worker import Failure, Post, perform

PROBLEM = Problem("paper", {"dimension": 20}, 40)
PLAYER = Player("linucb", ("norm",), {"delta": 0.1})


@pytest.mark.parametrize("seed", [0, 5])
def test_a_trial_is_what_play_makes_of_the_bandit_and_the_policy_of_its_seed(seed):
    bandit = paper_instance(20, seed)
    policy = LinUCB(20, norm=float(np.linalg.norm(bandit.theta)), delta=0.1)
    expected = play(bandit, policy, 40, seed)
    outcome = perform(Trial(PROBLEM, PLAYER, seed), Post(), 0)
    for ours, theirs in zip(outcome.trace, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_board_shows_how_far_a_trial_is(tmp_path):
    board = Board(tmp_path / "board", 3)
    outcome = perform(Trial(PROBLEM, PLAYER, 0), Post(board=board), 1)
    again = Board(tmp_path / "board", 3)
    assert again.numbers[1].tolist() == [40.0, pytest.approx(outcome.trace.regret.sum())]
    assert not again.numbers[[0, 2]].any()


def test_a_failure_is_shown_without_its_traceback():
    assert repr(Failure("it broke", "a long traceback")) == "Failure(reason='it broke')"
    problem = Problem("paper", {"dimension": 20}, 10, "d = 20")
    player = Player("soids", (), {}, "S")
    assert repr(Trial(problem, player, 3)) == "Trial('S', 'd = 20', seed=3)"
