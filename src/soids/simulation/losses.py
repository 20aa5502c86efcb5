"""Where the regret of a trial lies: in which rounds, on which actions, exploring or committed.

A round *explores* if the action played is not one of the highest posterior mean reward: it costs
some expected reward for what it teaches. Else the policy is *committed*: to the best action, or by
mistake to a worse one.
"""

from typing import NamedTuple

import numpy as np

from soids.arrays import Bools
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
    trace, gaps = seen.trace, seen.bandit.gaps
    exploring = None if seen.beliefs is None else seen.beliefs.exploring
    counts = np.bincount(trace.chosen, minlength=len(gaps))
    costs = gaps * counts
    order = [int(k) for k in np.argsort(-costs, kind="stable") if costs[k] > 0.0]
    parts: tuple[Part | None, Part | None, Part | None] = (None, None, None)
    if exploring is not None:
        best = gaps[trace.chosen] == 0.0
        masks = exploring, ~exploring & ~best, ~exploring & best
        parts = (part(seen, masks[0]), part(seen, masks[1]), part(seen, masks[2]))
    return Losses(
        float(trace.regret.sum()),
        [stretch(seen, first, last) for first, last in stretches(len(trace.chosen))],
        [
            CostlyAction(k, float(gaps[k]), int(counts[k]), float(costs[k]))
            for k in order[:costliest]
        ],
        max(0, len(order) - costliest),
        int(counts[gaps == 0.0].sum()),
        *parts,
    )


def part(seen: Diagnosis, mask: Bools) -> Part:
    """The rounds of a mask."""
    assert seen.beliefs is not None
    gain = float(seen.beliefs.surrogate_gain[mask].sum())
    return Part(int(mask.sum()), float(seen.trace.regret[mask].sum()), gain)


def stretch(seen: Diagnosis, first: int, last: int) -> Stretch:
    """The rounds from the first to the last."""
    rounds = slice(first - 1, last)
    regret = seen.trace.regret[rounds]
    if seen.beliefs is None:
        return Stretch(first, last, float(regret.sum()), None, None)
    mask = seen.beliefs.exploring[rounds]
    return Stretch(first, last, float(regret.sum()), int(mask.sum()), float(regret[mask].sum()))


def stretches(horizon: int) -> list[tuple[int, int]]:
    """The rounds up to 10, 30, 100, 300, ...: early ones apart, as most regret is early.

    >>> stretches(150)
    [(1, 10), (11, 30), (31, 100), (101, 150)]
    """
    ends = [10]
    while ends[-1] < horizon:
        ends.append(ends[-1] * 3 if str(ends[-1])[0] == "1" else ends[-1] // 3 * 10)
    ends[-1] = horizon
    return list(zip([1, *(end + 1 for end in ends[:-1])], ends, strict=True))
