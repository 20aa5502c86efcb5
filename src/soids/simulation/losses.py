"""Where the regret of a trial lies: in which rounds, on which actions, exploring or committed.

A round *explores* if the action played is not one of the highest posterior mean reward: it costs
some expected reward for what it teaches. Else the policy is *committed*: to the best action, or by
mistake to a worse one.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from soids.simulation.diagnosis import Diagnosis

COSTLIEST = 5  # actions shown


class Stretch(NamedTuple):
    """Some rounds in a row, and the regret of what was played in them."""

    first: int
    last: int
    regret: float
    exploring: int | None  # rounds; None without a posterior
    regret_exploring: float | None


class CostlyAction(NamedTuple):
    """An action that was played, and the regret of all times together."""

    action: int
    gap: float
    played: int
    regret: float


class Part(NamedTuple):
    """Some of the rounds, with their regret and surrogate information gain (nats)."""

    rounds: int
    regret: float
    gain: float


class Losses(NamedTuple):
    """Where the regret of a trial lies."""

    regret: float
    stretches: list[Stretch]
    actions: list[CostlyAction]  # the costliest ones first
    others: int  # further actions with regret that were played
    best_played: int  # rounds in which the best action was played
    exploring: Part | None  # None without a posterior
    mistaken: Part | None  # committed to an action that is not the best
    right: Part | None  # committed to the best action


def locate(seen: Diagnosis, costliest: int = COSTLIEST) -> Losses:
    """Where the regret of a trial lies."""
    chosen, regret, gaps = seen.trace.chosen, seen.trace.regret, seen.bandit.gaps
    counts = np.bincount(chosen, minlength=len(gaps))
    costs = gaps * counts
    order = [int(k) for k in np.argsort(-costs, kind="stable") if costs[k] > 0.0]
    actions = [
        CostlyAction(k, float(gaps[k]), int(counts[k]), float(costs[k])) for k in order[:costliest]
    ]
    parts: list[Part | None] = [None, None, None]
    if seen.beliefs is not None:
        explores, gain = seen.beliefs.exploring, seen.beliefs.surrogate_gain
        best = gaps[chosen] == 0.0
        parts = [
            Part(int(mask.sum()), float(regret[mask].sum()), float(gain[mask].sum()))
            for mask in (explores, ~explores & ~best, ~explores & best)
        ]
    return Losses(
        float(regret.sum()), [stretch(seen, *ends) for ends in stretches(len(chosen))], actions,
        max(0, len(order) - costliest), int(counts[gaps == 0.0].sum()), *parts,
    )  # fmt: skip


def stretch(seen: Diagnosis, first: int, last: int) -> Stretch:
    """The rounds from the first to the last."""
    regret = seen.trace.regret[first - 1 : last]
    if seen.beliefs is None:
        return Stretch(first, last, float(regret.sum()), None, None)
    mask = seen.beliefs.exploring[first - 1 : last]
    return Stretch(first, last, float(regret.sum()), int(mask.sum()), float(regret[mask].sum()))


def stretches(horizon: int) -> list[tuple[int, int]]:
    """The rounds up to 10, 30, 100, 300, ...: early ones apart, as most regret is early.

    >>> stretches(150)
    [(1, 10), (11, 30), (31, 100), (101, 150)]
    """
    ends = [first * 10**power for power in range(1, len(str(horizon))) for first in (1, 3)]
    ends = [0, *(end for end in ends if end < horizon), horizon]
    return [(before + 1, last) for before, last in pairwise(ends)]
