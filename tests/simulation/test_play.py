"""The loop: the same luck for all, the same run for the same seed, and an honest trace."""

import numpy as np
import pytest

from soids import SOIDS, SparseLinearBandit, Thompson, paper_instance, play
from soids.evidence import Menu
from soids.information import Spread
from soids.policies.decision import Decision, Information, Offered

BANDIT = SparseLinearBandit(np.random.default_rng(0).uniform(-1, 1, (8, 3)), [1.0, 0.0, 0.0], 0.5)


class Stubborn:
    """Always plays one action, after wasting some of its randomness."""

    def __init__(self, index, waste):
        self.index, self.waste, self.rewards = index, waste, []

    def choose(self, actions, rng):
        rng.random(self.waste)
        info = Information(0.1, 0.2, 0.3, 0.4)
        law = Spread(np.full(len(actions), 1.0 / len(actions)))
        return Decision(self.index, 0.9, 1, info, Offered(Menu(actions)), law)

    def observe(self, decision, reward):
        self.rewards.append(reward)


def test_the_noise_is_the_same_whatever_the_policy_does():
    idle, busy = Stubborn(2, waste=0), Stubborn(5, waste=1000)
    noise = [
        play(BANDIT, policy, 50, seed=3).reward - BANDIT.means[policy.index]
        for policy in (idle, busy)
    ]
    assert noise[0] == pytest.approx(noise[1], abs=1e-15)
    world = np.random.default_rng(np.random.SeedSequence(3).spawn(2)[0])
    assert noise[0] == pytest.approx(0.5 * world.standard_normal(50), abs=1e-15)


def test_a_longer_run_begins_like_a_shorter_one():
    short, long = (play(BANDIT, Thompson(3), horizon, seed=0) for horizon in (15, 30))
    for one, other in zip(short, long, strict=True):
        assert np.array_equal(one, other[:15])


def test_the_trace_tells_what_happened():
    policy = Stubborn(4, waste=1)
    trace = play(BANDIT, policy, 7, seed=0)
    assert all(column.shape == (7,) for column in trace)
    assert trace.chosen.tolist() == [4] * 7
    assert trace.reward.tolist() == policy.rewards
    assert trace.regret == pytest.approx(BANDIT.gaps[4])
    assert (trace.probability == 0.9).all()
    assert (trace.ratio == 0.3).all()
    assert (trace.rate == 0.4).all()


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    bandit = paper_instance(10, seed=0)
    once, again, other = (play(bandit, SOIDS(10), 20, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(*pair) for pair in zip(once, again, strict=True))
    assert not np.array_equal(once.reward, other.reward)


def test_whoever_watches_is_told_each_round_and_its_regret():
    seen = []
    trace = play(BANDIT, SOIDS(3), 5, seed=0, on_round=lambda *told: seen.append(told))
    assert seen == list(enumerate(trace.regret.tolist()))


@pytest.mark.parametrize(
    ("horizon", "seed", "message"),
    [
        (0, 0, "horizon must be at least 1, got 0"),
        (2.0, 0, "horizon must be a whole number, got 2.0"),
        (True, 0, "horizon must be a whole number, got True"),
        (5, -1, "seed must be at least 0, got -1"),
        (5, None, "seed must be a whole number, got None"),
        (5, np.random.default_rng(0), "seed must be a whole number, got Generator"),
    ],
)
def test_a_horizon_and_a_seed_are_whole_numbers(horizon, seed, message):
    with pytest.raises(ValueError, match=message):
        play(BANDIT, SOIDS(3), horizon, seed)


def test_a_policy_for_another_dimension_is_refused():
    with pytest.raises(ValueError, match=r"actions must have shape \(K, 4\), .* got \(8, 3\)"):
        play(BANDIT, SOIDS(4), 5, seed=0)


@pytest.mark.parametrize(
    ("bandit", "policy", "message"),
    [
        (BANDIT, "soids", r"policy must be an object with choose, str has no such method"),
        (BANDIT, SOIDS, "policy must be an object such as SOIDS"),
        (SOIDS(3), BANDIT, "bandit must be a SparseLinearBandit .* got SOIDS"),
    ],
)
def test_who_plays_whom_must_be_told(bandit, policy, message):
    with pytest.raises(ValueError, match=message):
        play(bandit, policy, 5, seed=0)
