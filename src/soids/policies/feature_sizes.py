"""How large the features are, in all action sets so far: one radius does not suit all sizes.

Only values other than zero count: a feature in the block of one arm is zero for all others.
"""

import warnings
from typing import NamedTuple, Self

import numpy as np

from soids.arrays import Floats
from soids.evidence import Menu
from soids.records import check_arrays, check_numbers

FEW = 10  # fewer values of a feature say little of its size
ENOUGH = 1000  # actions after which sizes are known
RATIO = 10.0  # of sizes that are too different


class FeatureSizes(NamedTuple):
    """Sums over the values of each feature, other than zero."""

    actions: int  # that were looked at
    counts: Floats  # (d,)
    largest: Floats  # (d,)
    squares: Floats  # (d,)
    warned: bool = False

    def validate(self) -> None:
        check_arrays(self, counts="d", largest="d", squares="d")
        check_numbers(self, "actions counts largest squares", 0)

    @classmethod
    def after(cls, before: Self | None, menu: Menu) -> Self:
        """The sizes after one more action set, with a warning when they first differ much."""
        if before is not None and (before.warned or before.actions >= ENOUGH):
            return before
        actions = menu.actions
        known = before or cls(0, *np.zeros((3, actions.shape[1])))
        sizes = cls(
            known.actions + len(actions), known.counts + (actions != 0.0).sum(axis=0),
            np.maximum(known.largest, np.abs(actions).max(axis=0)),
            known.squares + (actions**2).sum(axis=0),
        )  # fmt: skip
        if sizes.differ():
            text = "features differ more than ten times in size: rescale them to comparable sizes, "
            warnings.warn(f"{text}or give the radius", RuntimeWarning, stacklevel=5)
            return sizes._replace(warned=True)
        return sizes

    def differ(self) -> bool:
        """Whether the largest values and their mean squares both say that sizes differ much."""
        enough = self.counts >= FEW
        if not enough.any():
            return False
        largest, squares = self.largest[enough], self.squares[enough] / self.counts[enough]
        # One of the two may differ by chance.
        both = largest.max() / largest.min(), np.sqrt(squares.max() / squares.min())
        return bool(min(both) > RATIO)
