"""Whether a log can say anything of a policy: what is needed must have been tried."""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.logs.records import ROUNDING

FLOOR = 100.0  # effective rounds below which no interval is given
UNSEEN = ROUNDING  # mass where the log never goes: a reward there may be larger than all others
LARGE = 1000.0  # a weight that is worth a word
ASTRAY = 4.0  # standard errors by which the mean weight may miss 1


class Overlap(NamedTuple):
    """How far the choices of a target are those that the log holds."""

    rounds: int
    effective: float  # rounds drawn from the target itself that would be as good
    largest: float  # weight
    largest_at: int  # its place in the log, from 0
    largest_share: float  # of all weight
    mean_weight: float  # 1, but for luck, if the log goes wherever the target does
    mean_weight_error: float
    unused: float  # share of rounds with weight 0
    unseen: float | None  # mean mass of the target where the log is known to have probability 0
    unseen_rounds: float | None  # share of rounds with such mass; None: the log does not say

    def doubts(self, floor: float = FLOOR) -> list[str]:
        """Why no importance-weighted estimate should be believed; none, if it may be."""
        found = []
        if self.effective < floor:
            found.append(
                f"effective size {self.effective:.1f} of {self.rounds} rounds is below {floor:g}"
            )
        if self.unseen is not None and self.unseen > UNSEEN:
            found.append(
                f"{100 * self.unseen:.2g}% of what it does the log never tried, in "
                f"{100 * (self.unseen_rounds or 0.0):.3g}% of the rounds"
            )
        elif abs(self.mean_weight - 1.0) > ASTRAY * self.mean_weight_error + ROUNDING:
            found.append(
                f"weights average {self.mean_weight:.3g} ± {self.mean_weight_error:.2g} and not 1: "
                "the log never tried what it does, or the propensities are wrong"
            )
        return found

    def remarks(self) -> list[str]:
        """What is worth a word, though no reason for doubt."""
        if self.largest < LARGE:
            return []
        return [f"the largest weight is {self.largest:.3g}: {self.largest_share:.0%} of all weight"]


def overlap(weights: Floats, unseen: Floats | None = None) -> Overlap:
    """The overlap that weights (n,) show, and masses (n,) on actions of probability 0.

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
