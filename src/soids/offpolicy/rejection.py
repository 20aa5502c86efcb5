"""Replaying a log to a policy that goes on learning (Li, Chu, Langford, Wang 2011).

The policy chooses in every round of the log. Where it chooses what was logged it learns from the
reward and the round counts; all others are passed over, as if they had never been. If the log
chose uniformly, the rounds that count are a sample of what the policy would have lived through. If
not, a round that agrees counts with probability smallest propensity / its own propensity, which
makes up for it and costs rounds.

What the log never does is never agreed with, and the rounds that count would then be those of a
policy that does not want it. Whole distributions in the log show this round by round; without them
it shows only in the weights, agreement over propensity, which then do not average 1.
"""

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import as_count
from soids.logs import Log, rewarded
from soids.offpolicy.estimators import Estimate, mean_of
from soids.offpolicy.overlap import FLOOR, overlap
from soids.policies.policy import Policy

UNCHECKED = (
    "the log has no whole distributions, so that it tried all that the policy does is unchecked "
    "but for the mean weight"
)


class Replayed(NamedTuple):
    """What became of a policy that learned from the rounds in which it agreed with the log."""

    label: str
    rounds: int  # in the log, with a reward
    accepted: int
    smallest: float  # propensity
    estimate: Estimate
    unseen: int | None = None  # rounds in which it wanted what the log never does, if it says so
    remarks: tuple[str, ...] = ()

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
    rewards, weights, unseen = list[float](), array("d"), array("d")
    policy: Any = None
    for entry, reward in rewarded(log):
        actions = entry.features
        policy = make(actions.shape[1]) if policy is None else policy
        on_round(f"replaying to {label}")
        wanted, counts = consider(
            policy, actions, entry.chosen, smallest / entry.propensity, reward, rng
        )
        weights.append((wanted == entry.chosen) / entry.propensity)
        if entry.probabilities is not None:
            unseen.append(entry.probabilities[wanted] == 0.0)
        if counts:
            rewards.append(reward)
    rounds, whole = len(weights), len(unseen) == len(weights)
    found = Replayed(
        label, rounds, len(rewards), smallest, mean_so_far(rewards, confidence),
        int(sum(unseen)) if whole else None,
        () if whole else (UNCHECKED,),
    )  # fmt: skip
    if not rewards:
        return found
    seen = overlap(np.frombuffer(weights), np.frombuffer(unseen) if whole else None)
    doubts = seen.doubts(floor=0.0)  # the floor is on the rounds accepted
    if len(rewards) < floor:
        doubts.append(f"{len(rewards)} of {rounds} rounds were accepted, below {floor:g}")
    if doubts:
        found = found._replace(estimate=found.estimate.without_interval("; ".join(doubts)))
    return found


def mean_so_far(rewards: list[float], confidence: float) -> Estimate:
    """The mean of the rewards that count, if any does."""
    if not rewards:
        return Estimate("replay", float("nan"), float("nan"), doubt="no round was accepted")
    return mean_of("replay", np.array(rewards), confidence)


def consider(
    policy: Any,
    actions: Any,
    logged: int,
    share: float,
    reward: float,
    rng: np.random.Generator,
) -> tuple[int, bool]:
    """Let a policy choose, and learn if that counts; if not, it is as if it had not been asked.

    Returns what it chose, and whether it counts. A policy of others cannot forget: to it, it made
    a choice without a reward.
    """
    before = None
    if isinstance(policy, Policy):
        policy.refresh(rng)  # what it thinks of the rewards so far stays, if it is not counted
        before = policy.state
    decision = policy.choose(actions, rng)
    given = getattr(decision, "index", decision)
    index = as_count(given, "what the policy chooses", 0, len(actions) - 1)
    counts = index == logged and rng.random() < share
    if counts:
        policy.observe(decision, reward)
    elif before is not None:
        policy.state = before
    return index, counts
