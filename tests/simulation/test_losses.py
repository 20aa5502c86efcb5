"""Where the regret lies: every part of it is counted once."""

import numpy as np
import pytest

from soids import FGTS, SOIDS, LinUCB, SparseLinearBandit
from soids.policies.linucb import LinUCBRule
from soids.simulation.diagnosis import diagnose
from soids.simulation.losses import Part, Stretch, locate, stretches

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (12, 4))
BANDIT = SparseLinearBandit(ACTIONS, [2.0, 0.0, 0.0, 0.0], 0.5)


@pytest.mark.parametrize("horizon", [1, 9, 10, 11, 30, 31, 1000, 12_345])
def test_stretches_hold_every_round_once(horizon):
    found = stretches(horizon)
    assert [t for first, last in found for t in range(first, last + 1)] == [*range(1, horizon + 1)]


@pytest.mark.parametrize("policy", [SOIDS(4), FGTS(4), LinUCB(4, alpha=1.0)], ids=repr)
def test_all_ways_of_counting_come_to_the_regret(policy):
    losses = locate(diagnose(BANDIT, policy, 120, seed=0), costliest=12)
    assert sum(one.regret for one in losses.stretches) == pytest.approx(losses.regret)
    assert sum(one.regret for one in losses.actions) == pytest.approx(losses.regret)
    assert losses.others == 0
    assert sum(one.played for one in losses.actions) + losses.best_played == 120
    assert [one.regret for one in losses.actions] == sorted(
        (one.regret for one in losses.actions), reverse=True
    )
    if isinstance(policy.rule, LinUCBRule):
        assert losses.exploring is losses.mistaken is losses.right is None
        assert losses.stretches[0].exploring is None
        return
    parts = losses.exploring, losses.mistaken, losses.right
    assert sum(one.regret for one in parts) == pytest.approx(losses.regret)
    assert sum(one.rounds for one in parts) == 120
    assert sum(one.exploring for one in losses.stretches) == losses.exploring.rounds
    assert losses.right.regret == 0.0


def test_the_parts_as_counted_by_hand():
    seen = diagnose(BANDIT, SOIDS(4), 5, seed=0)
    best, bad = int(BANDIT.gaps.argmin()), int(BANDIT.gaps.argmax())
    chosen = np.array([bad, bad, best, best, bad])
    exploring = np.array([True, False, True, False, False])
    gains = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    seen = seen._replace(
        trace=seen.trace._replace(chosen=chosen, regret=BANDIT.gaps[chosen]),
        beliefs=seen.beliefs._replace(exploring=exploring, surrogate_gain=gains),
    )
    losses, gap = locate(seen), float(BANDIT.gaps[bad])
    assert losses.exploring == Part(2, pytest.approx(gap), 5.0)
    assert losses.mistaken == Part(2, pytest.approx(2 * gap), 18.0)
    assert losses.right == Part(1, 0.0, 8.0)
    assert losses.stretches == [Stretch(1, 5, pytest.approx(3 * gap), 2, pytest.approx(gap))]
    assert losses.actions == [(bad, gap, 3, pytest.approx(3 * gap))]
    assert (losses.others, losses.best_played) == (0, 2)


def test_a_round_explores_if_another_action_seemed_better():
    explored = []
    for horizon in range(1, 31):  # shorter trials are the beginnings of longer ones
        policy = FGTS(4, noise=4.0)
        seen = diagnose(BANDIT, policy, horizon, seed=1)
        belief = policy.state.mind.belief
        means = belief.particles().weights @ belief.rewards_on(policy.state.past.menu)
        explored.append(bool(seen.trace.chosen[-1] != means.argmax()))
        assert seen.beliefs.exploring[-1] == explored[-1]
    assert 0 < sum(explored) < len(explored)
