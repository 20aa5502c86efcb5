"""One policy against one bandit: the loop, and what it leaves behind."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints, as_count
from soids.bandits import SparseLinearBandit
from soids.policies.policy import Policy


class Trace(NamedTuple):
    """What happened, round by round, (T,) each."""

    chosen: Ints  # index of the action
    reward: Floats
    regret: Floats  # true, of the action played
    probability: Floats
    ratio: Floats  # information ratio of the policy played
    rate: Floats  # its learning rate


def play(
    bandit: SparseLinearBandit,
    policy: Policy,
    horizon: int,
    seed: int,
    on_round: Callable[[int, float], None] | None = None,
) -> Trace:
    """Let the policy act for the horizon; ``on_round`` is told the round and its regret.

    Two streams come from the seed: the world's noise in round t is the same whatever the policy
    does, so that policies are compared on the same luck, and the policy's own mind.

    >>> from soids import SOIDS, paper_instance
    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> trace = play(bandit, SOIDS(dimension=20, sparsity=2, radius=10.0), horizon=30, seed=0)
    >>> trace.regret.shape
    (30,)
    """
    if not isinstance(bandit, SparseLinearBandit):
        raise ValueError(f"bandit must be a SparseLinearBandit, got {bandit!r}")
    if isinstance(policy, type) or not callable(getattr(policy, "choose", None)):
        raise ValueError(f"policy must be an object such as SOIDS(dimension=20), got {policy!r}")
    horizon = as_count(horizon, "horizon")
    streams = np.random.SeedSequence(as_count(seed, "seed", 0)).spawn(2)
    world, mind = (np.random.default_rng(stream) for stream in streams)
    noise = bandit.draw_noise(horizon, world)
    rounds = []
    for t in range(horizon):
        decision = policy.choose(bandit.actions, mind)
        reward = float(bandit.means[decision.index] + noise[t])
        policy.observe(decision, reward)
        regret = float(bandit.gaps[decision.index])
        rounds.append((decision.index, reward, regret, decision.probability, *decision.info[2:]))
        if on_round is not None:
            on_round(t, regret)
    return Trace(*(np.array(column) for column in zip(*rounds, strict=True)))
