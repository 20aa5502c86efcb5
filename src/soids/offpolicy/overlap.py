"""Overlap: whether the logging policy tried the actions that a target chooses."""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.logs.records import ROUNDING

FLOOR = 100.0  # effective rounds below which no interval is given
UNSEEN = ROUNDING  # mass on actions that were never tried: their rewards may exceed all others
LARGE = 1000.0  # a weight that is remarked on
ASTRAY = 4.0  # standard errors between the mean weight and 1 that are tolerated


class Overlap(NamedTuple):
    """The importance weights of a target, in summary."""

    rounds: int
    effective: float  # rounds of the target itself that would be as informative
    largest: float  # weight
    largest_at: int  # its place in the log, from 0
    largest_share: float  # of all weight
    mean_weight: float  # expected to be 1 if the log tried all actions of the target
    mean_weight_error: float
    unused: float  # share of rounds with weight 0
    unseen: float | None  # mean mass of the target on actions of known probability 0 in the log
    unseen_rounds: float | None  # share of rounds with such mass; None if the log has no such data

    def doubts(self, floor: float = FLOOR) -> list[str]:
        """Reasons not to believe importance-weighted estimates."""
        found = []
        if self.effective < floor:
            found.append(
                f"effective size {self.effective:.1f} of {self.rounds} rounds is below {floor:g}"
            )
        if self.unseen is not None and self.unseen > UNSEEN:
            found.append(
                f"{100 * self.unseen:.2g}% of its probability is on actions that the log never "
                f"tried, in {100 * (self.unseen_rounds or 0.0):.3g}% of the rounds"
            )
        elif abs(self.mean_weight - 1.0) > ASTRAY * self.mean_weight_error + ROUNDING:
            found.append(
                f"weights average {self.mean_weight:.3g} ± {self.mean_weight_error:.2g} and not 1: "
                "the log never tried some of its actions, or the propensities are wrong"
            )
        return found

    def remarks(self) -> list[str]:
        if self.largest < LARGE:
            return []
        return [f"the largest weight is {self.largest:.3g}: {self.largest_share:.0%} of all weight"]


def overlap(weights: Floats, unseen: Floats | None = None) -> Overlap:
    """The overlap in weights (n,), and in masses (n,) on actions of probability 0.

    >>> overlap(np.array([1.0, 1.0, 0.0, 0.0])).effective
    2.0
    """
    size, total = len(weights), float(weights.sum())
    top = int(weights.argmax())
    largest = float(weights[top])
    scaled = weights / largest if largest > 0.0 else weights  # squares of 1e12 would lose the rest
    squares = float(scaled @ scaled)
    return Overlap(
        rounds=size,
        effective=float(scaled.sum()) ** 2 / squares if squares > 0.0 else 0.0,
        largest=largest,
        largest_at=top,
        largest_share=largest / total if total > 0.0 else 0.0,
        mean_weight=total / size,
        mean_weight_error=float(weights.std(ddof=1)) / math.sqrt(size) if size > 1 else math.inf,
        unused=float(np.mean(weights == 0.0)),
        unseen=None if unseen is None else float(unseen.mean()),
        unseen_rounds=None if unseen is None else float(np.mean(unseen > 0.0)),
    )
