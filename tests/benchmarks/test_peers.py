"""Learners of other libraries as policies; those that are not installed are skipped."""

import importlib

import numpy as np
import pytest

import soids
from absent import hide
from benchmarks.decisions.command import EXPERIMENTS
from benchmarks.peers.numpy_linucb import LinUCB as NumPyLinUCB
from soids import paper_instance, play
from soids.simulation.experiment import read_experiment
from soids.simulation.trial import Player, policy_called
from soids.simulation.user_policies import modules_in

PLAYERS = read_experiment(EXPERIMENTS["peers"]).players[0]
PEERS = {player.label: player for player in PLAYERS if "from_" in player.policy}
FIXED = ("LinUCB", "RegCB", "river regression")  # they draw nothing
RANDOM = [label for label in PEERS if not any(word in label for word in FIXED)]
RANDOM.append("river LinUCBDisjoint")  # but for ties
UNFIT = [  # settings, or knowledge, that do not suit this instance
    "coba LinUCB", "river LinUCBDisjoint", "river regression, LinUCB",
    "VW SquareCB", "VW RegCB", "VW RegCB, tuned",
]  # fmt: skip
BANDIT = paper_instance(dimension=20, seed=0)
LIBRARIES = ("bayesianbandits", "coba", "river", "vowpalwabbit")


@pytest.fixture(autouse=True)
def imports():
    """Peers are code outside of soids."""
    with modules_in(""):
        yield


def peer(label: str) -> Player:
    """A peer of the shipped experiment, if its library is here."""
    module = PEERS[label].policy.partition(":")[0]
    pytest.importorskip(module.rpartition("from_")[2])
    return PEERS[label]


def regret(player: Player, horizon: int) -> float:
    return play(BANDIT, player.make(BANDIT, horizon), horizon, seed=0).regret.sum()


@pytest.mark.parametrize("label", PEERS)
def test_same_seed_same_run(label):
    player = peer(label)
    first, second = (play(BANDIT, player.make(BANDIT, 60), 60, seed=3) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("label", RANDOM)
def test_the_generator_decides(label):
    peers = [peer(label).make(BANDIT, 5) for _ in range(5)]
    minds = [np.random.default_rng(seed) for seed in range(5)]
    chosen = [p.choose(BANDIT.actions, rng).index for p, rng in zip(peers, minds, strict=True)]
    assert len(set(chosen)) > 1


@pytest.mark.parametrize("label", PEERS)
def test_beats_uniform(label):
    uniform = BANDIT.gaps.mean() * 300
    assert regret(peer(label), 300) < uniform / (1.05 if label in UNFIT else 5.0)


@pytest.mark.parametrize("label", [label for label in PEERS if "Disjoint" not in label])
def test_rewards_may_come_late_and_actions_may_change(label):
    late_one, rng = peer(label).make(BANDIT, 3), np.random.default_rng(0)
    early = late_one.choose(BANDIT.actions, rng)
    late = late_one.choose(BANDIT.actions[:7], rng)
    late_one.observe([late, early], [1.0, -2.0])
    assert late_one.choose(BANDIT.actions[:3], rng).index in range(3)


@pytest.mark.parametrize("alpha", [1.0, 3.0])
@pytest.mark.parametrize(
    ("library", "policy"), [("coba", "LinUCB"), ("river", "SharedLinUCB")], ids=["coba", "river"]
)
def test_linucb_of_others_is_ours(library, policy, alpha):
    pytest.importorskip(library)
    make = policy_called(f"benchmarks.peers.from_{library}:{policy}")
    theirs = play(BANDIT, make(20, alpha=alpha), 300, seed=1)
    ours = play(BANDIT, soids.LinUCB(20, alpha=alpha), 300, seed=1)
    np.testing.assert_array_equal(theirs.chosen, ours.chosen)


@pytest.mark.parametrize(
    ("told", "same"),
    [({"radius": 2.0}, {"alpha": 2.0}), ({"noise": 1.0, "norm": 7.1}, {"noise": 1.0, "norm": 7.1})],
    ids=["a radius", "the theorem's"],
)
def test_linucb_in_numpy_is_ours(told, same):
    theirs = play(BANDIT, NumPyLinUCB(20, **told), 300, seed=1)
    ours = play(BANDIT, soids.LinUCB(20, intercept=False, **same), 300, seed=1)
    np.testing.assert_array_equal(theirs.chosen, ours.chosen)


def test_elimination_of_vowpal_wabbit_is_refused():
    pytest.importorskip("vowpalwabbit")
    explorer = policy_called("benchmarks.peers.from_vowpalwabbit:Explorer")
    with pytest.raises(ValueError, match="without --elim"):
        explorer(20, reward_bound=10.0, options="--squarecb --elim")


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_peer_that_is_not_installed_names_the_remedy(library, monkeypatch):
    module = f"benchmarks.peers.from_{library}"
    hide(library, monkeypatch)
    with pytest.raises(ImportError, match=f"^{library} is not installed: `make peers`"):
        importlib.import_module(module)
    with pytest.raises(ValueError, match=f"{library} is not installed: `make peers`") as caught:
        policy_called(f"{module}:LinUCB")
    assert "\n" not in str(caught.value)
