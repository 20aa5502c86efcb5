"""Replaying a log to a policy that goes on learning (Li, Chu, Langford, Wang 2011).

The policy chooses in every round of the log. Where it chooses what was logged it learns from the
reward and the round counts; all others are passed over, as if they had never been. If the log
chose uniformly, the rounds that count are a sample of what the policy would have lived through. If
not, a round that agrees counts with probability smallest propensity / its own propensity, which
makes up for it and costs rounds.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from soids.logs import Log, rewarded
from soids.offpolicy.estimators import Estimate, mean_of
from soids.offpolicy.overlap import FLOOR
from soids.policies.ledger import Ledger


class Replayed(NamedTuple):
    """What became of a policy that learned from the rounds in which it agreed with the log."""

    label: str
    rounds: int  # in the log, with a reward
    accepted: int
    smallest: float  # propensity
    estimate: Estimate

    @property
    def reliable(self) -> bool:
        """Whether there is an interval."""
        return self.estimate.low is not None


def replay(
    log: Log,
    label: str,
    make: Callable[[int], Any],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    floor: float = FLOOR,
    on_round: Callable[[str], None] = lambda stage: None,
) -> Replayed:
    """The mean reward of a policy, made for a dimension, while it learns."""
    smallest = 1.0
    for entry, _ in rewarded(log):
        smallest = min(smallest, entry.propensity)
        on_round("checking the log")
    rewards, rounds = list[float](), 0
    policy: Any = None
    for entry, reward in rewarded(log):
        actions = entry.features
        policy = make(actions.shape[1]) if policy is None else policy
        rounds += 1
        on_round(f"replaying to {label}")
        if consider(policy, actions, entry.chosen, smallest / entry.propensity, reward, rng):
            rewards.append(reward)
    if not rewards:
        nothing = Estimate("replay", float("nan"), float("nan"), doubt="no round was accepted")
        return Replayed(label, rounds, 0, smallest, nothing)
    estimate = mean_of("replay", np.array(rewards), confidence)
    if len(rewards) < floor:
        estimate = estimate.without_interval(
            f"{len(rewards)} of {rounds} rounds were accepted, below {floor:g}"
        )
    return Replayed(label, rounds, len(rewards), smallest, estimate)


def consider(
    policy: Any,
    actions: Any,
    logged: int,
    share: float,
    reward: float,
    rng: np.random.Generator,
) -> bool:
    """Let a policy choose, and learn if that counts; if not it forgets that it was asked.

    A policy that keeps no ledger of ours cannot forget: it made a choice without a reward.
    """
    ledger = getattr(policy, "ledger", None)
    before = (policy.memory, ledger.decisions) if isinstance(ledger, Ledger) else None
    decision = policy.choose(actions, rng)
    index = getattr(decision, "index", decision)
    lot = rng.random()
    if index == logged and lot < share:
        policy.observe(decision, reward)
        return True
    if isinstance(ledger, Ledger) and before is not None:
        del ledger.pending[decision.round]
        policy.memory, ledger.decisions = before
    return False
