"""Frequentist IDS: its gains are falls of entropy, and its ratio is the least there is."""

import numpy as np
import pytest

from soids import FrequentistIDS, SparseLinearBandit, play
from soids.evidence import Menu
from soids.policies.frequentist_ids import directed_gain
from soids.policies.linucb import Bounds
from soids.regression.ridge import Ellipsoid

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (12, 4))


def test_gains_are_falls_of_entropy():
    """Half the log of how much one more observation shrinks a Gaussian's volume, or a variance."""
    rng = np.random.default_rng(2)
    root = np.tril(rng.standard_normal((4, 4))) + 2.0 * np.eye(4)
    ellipsoid, menu = Ellipsoid(rng.standard_normal(4), root, 1.0), Menu(ACTIONS)
    bounds = Bounds.on(ellipsoid, menu)
    precision = root @ root.T
    hopeful = ACTIONS[bounds.upper.argmax()]
    for action, full, directed in zip(
        ACTIONS, bounds.gain, directed_gain(ellipsoid, bounds, menu), strict=True
    ):
        after = precision + np.outer(action, action)
        volumes = np.linalg.slogdet(after)[1] - np.linalg.slogdet(precision)[1]
        assert full == pytest.approx(0.5 * volumes)
        shrunk = (hopeful @ np.linalg.solve(precision, hopeful)) / (
            hopeful @ np.linalg.solve(after, hopeful)
        )
        assert directed == pytest.approx(0.5 * np.log(shrunk))


def test_an_action_that_teaches_nothing_of_the_best_gains_nothing_directed():
    menu = Menu(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    ellipsoid = Ellipsoid(np.zeros(2), np.eye(2), 1.0)
    gain = directed_gain(ellipsoid, Bounds.on(ellipsoid, menu), menu)
    assert gain[0] > 0.0
    assert gain[1:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("gain", ["full", "directed"])
def test_frequentist_ids_pays_no_more_per_nat_than_linucb(gain):
    """Its ratio is the least there is, LinUCB's action among the candidates."""
    policy, rng = FrequentistIDS(4, norm=1.0, gain=gain), np.random.default_rng(0)
    for _ in range(15):
        decision = policy.choose(ACTIONS, rng)
        ellipsoid = policy.rule.ellipsoid(policy.evidence)
        bounds = Bounds.on(ellipsoid, Menu(ACTIONS))
        nats = bounds.gain
        if gain == "directed":
            nats = directed_gain(ellipsoid, bounds, Menu(ACTIONS))
        assert decision.info.ratio <= (bounds.regret**2 / nats).min() * (1.0 + 1e-9)
        policy.observe(decision, decision.action[0] + rng.standard_normal())


def test_directed_information_finds_the_best_action():
    bandit = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0, 0.0], noise=0.5)
    policy = FrequentistIDS(4, norm=2.0, noise=0.5, gain="directed")
    assert play(bandit, policy, 400, seed=0).regret[300:].mean() < 0.1 * bandit.gaps.mean()


def test_a_gain_must_exist():
    with pytest.raises(ValueError, match="gain must be one of full, directed, got 'half'"):
        FrequentistIDS(3, alpha=1.0, gain="half")
