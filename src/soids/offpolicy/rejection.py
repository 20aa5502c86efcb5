"""Replaying a log to a policy that goes on learning (Li, Chu, Langford, Wang 2011).

The policy chooses in every round of the log. If it chooses the logged action, it learns from the
reward and the round counts; all other rounds leave no trace. If the log chose uniformly, the
rounds that count are a sample of those that the policy would have had. If not, a round that agrees
counts with probability smallest propensity / its own propensity, which corrects for the log's
choices and costs rounds.

Actions that the log never tries are never agreed with, and the rounds that count would then be
those of a policy that does not want them. Whole distributions in the log show this round by round;
without them only the weights show it, agreement over propensity, whose mean is then not 1.
"""

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_count
from soids.logs import KeptLog, Log, rewarded
from soids.offpolicy.estimators import Estimate, mean_of
from soids.offpolicy.overlap import FLOOR, overlap
from soids.policies.policy import Policy

UNCHECKED = (
    "the log has no whole distributions, so that it tried all that the policy does is unchecked "
    "but for the mean weight"
)


class Replayed(NamedTuple):
    """The mean reward of a policy that learned from the rounds in which it agreed with the log."""

    label: str
    rounds: int  # in the log, with a reward
    unrewarded: int  # decisions without a reward, which are left out
    accepted: int
    smallest: float  # propensity
    estimate: Estimate
    unseen: int | None = None  # rounds in which it chose what the log never tries, if it says so
    remarks: tuple[str, ...] = ()

    @property
    def reliable(self) -> bool:
        """Whether there is an interval."""
        return self.estimate.low is not None


def replay(
    log: Log, label: str, make: Callable[[int], Any], rng: np.random.Generator, *,
    confidence: float = 0.95, floor: float = FLOOR,
    on_round: Callable[[str], None] = lambda stage: None,
) -> Replayed:  # fmt: skip
    """The mean reward of a policy, made for a dimension, while it learns."""
    log, smallest, unrewarded = KeptLog(log), 1.0, 0
    for entry in log:
        if entry.reward is None:
            unrewarded += 1
        else:
            smallest = min(smallest, entry.propensity)
        on_round("checking the log")
    rewards, weights, unseen = array("d"), array("d"), array("d")
    policy: Any = None
    for entry, reward in rewarded(log):
        actions = entry.features
        policy = make(actions.shape[1]) if policy is None else policy
        on_round(f"replaying to {label}")
        share = smallest / entry.propensity
        index, counts = consider(policy, actions, entry.chosen, share, reward, rng)
        weights.append((index == entry.chosen) / entry.propensity)
        if entry.probabilities is not None:
            unseen.append(entry.probabilities[index] == 0.0)
        if counts:
            rewards.append(reward)
    rounds, accepted, is_whole = len(weights), len(rewards), len(unseen) == len(weights)
    estimate = Estimate("replay", float("nan"), float("nan"), doubt="no round was accepted")
    if rewards:
        estimate = mean_of("replay", np.frombuffer(rewards), confidence)
        seen = overlap(np.frombuffer(weights), np.frombuffer(unseen) if is_whole else None)
        doubts = seen.doubts(floor=0.0)  # the floor is on the rounds accepted
        if accepted < floor:
            doubts.append(f"{accepted} of {rounds} rounds were accepted, below {floor:g}")
        if doubts:
            estimate = estimate.without_interval("; ".join(doubts))
    return Replayed(
        label, rounds, unrewarded, accepted, smallest, estimate,
        int(sum(unseen)) if is_whole else None, () if is_whole else (UNCHECKED,),
    )  # fmt: skip


def consider(
    policy: Any, actions: Floats, logged: int, share: float, reward: float, rng: np.random.Generator
) -> tuple[int, bool]:
    """Let a policy choose, and learn if it agrees; returns its choice and whether that counts.

    A choice that does not count leaves no trace: the state before it, a value, is assigned again.
    To a policy of others, which has no such state, it is a choice without a reward.
    """
    before = None
    if isinstance(policy, Policy):
        policy.refresh(rng)  # beliefs about the rewards so far stay, whatever becomes of the choice
        before = policy.state
    decision = policy.choose(actions, rng)
    chosen = getattr(decision, "index", decision)
    index = as_count(chosen, "what the policy chooses", 0, len(actions) - 1)
    counts = index == logged and rng.random() < share
    if counts:
        policy.observe(decision, reward)
    elif before is not None:
        policy.state = before
    return index, counts
