"""What the harness needs of peers, run where they are installed: pytest benchmarks/peers."""

from pathlib import Path

import numpy as np
import pytest
from from_coba import LinUCB
from from_vowpalwabbit import Explorer

import soids
from soids import paper_instance, play
from soids.simulation.experiment import read_experiment
from soids.simulation.trial import Player

(PLAYERS,) = read_experiment(Path(__file__).with_name("peers.toml")).players
PEERS = {player.label: player for player in PLAYERS if ":" in player.policy}
RANDOM = [label for label in PEERS if "LinUCB" not in label and "RegCB" not in label]
UNFIT = ["coba LinUCB, alpha = 1", "VW SquareCB", "VW RegCB", "VW RegCB, tuned"]  # settings, here
BANDIT = paper_instance(dimension=20, seed=0)


def regret(player: Player, horizon: int) -> float:
    return play(BANDIT, player.make(BANDIT, horizon), horizon, seed=0).regret.sum()


@pytest.mark.parametrize("label", PEERS)
def test_same_seed_same_run(label):
    first, second = (play(BANDIT, PEERS[label].make(BANDIT, 60), 60, seed=3) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("label", RANDOM)
def test_the_generator_decides(label):
    peers = [PEERS[label].make(BANDIT, 5) for _ in range(5)]
    minds = [np.random.default_rng(seed) for seed in range(5)]
    chosen = [p.choose(BANDIT.actions, rng).index for p, rng in zip(peers, minds, strict=True)]
    assert len(set(chosen)) > 1


@pytest.mark.parametrize("label", PEERS)
def test_beats_uniform(label):
    uniform = BANDIT.gaps.mean() * 300
    assert regret(PEERS[label], 300) < uniform / (1.05 if label in UNFIT else 5.0)


@pytest.mark.parametrize("label", PEERS)
def test_rewards_may_come_late_and_actions_may_change(label):
    peer, rng = PEERS[label].make(BANDIT, 3), np.random.default_rng(0)
    early = peer.choose(BANDIT.actions, rng)
    late = peer.choose(BANDIT.actions[:7], rng)
    peer.observe([late, early], [1.0, -2.0])
    assert peer.choose(BANDIT.actions[:3], rng).index in range(3)


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_linucb_of_coba_is_ours(alpha):
    theirs = play(BANDIT, LinUCB(20, alpha=alpha), 300, seed=1)
    ours = play(BANDIT, soids.LinUCB(20, alpha=alpha), 300, seed=1)
    np.testing.assert_array_equal(theirs.chosen, ours.chosen)


def test_elimination_of_vowpal_wabbit_is_refused():
    with pytest.raises(ValueError, match="without --elim"):
        Explorer(20, reward_bound=10.0, options="--squarecb --elim")
