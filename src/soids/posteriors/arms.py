"""The arms that make optimism linear: all actions, or the most promising of very many.

The relaxed target may sum over any arms, because weights correct for the choice. The actions that
are nearly best under some particle are enough.
"""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.kernels.rewards import closeness
from soids.posteriors.target import Target
from soids.records import are_alike, check_arrays, check_numbers

MOST = 1000  # arms of one action set


class Arms(NamedTuple):
    """Actions over which the relaxed target sums, set by set."""

    columns: Floats  # (d, C)
    starts: Ints  # (B + 1,)  where each set begins
    indices: Ints | None  # (C,)  among all actions; None: all of them

    def validate(self) -> None:
        check_arrays(self, columns="d C", starts="b", indices="C")

    def check_among(self, target: Target) -> None:
        """Refuse arms that are not actions of a target, set by set."""
        columns, starts = target.columns, target.starts
        if self.indices is not None:
            check_numbers(self, "indices", 0, columns.shape[1] - 1)
            columns = columns[:, self.indices]
            starts = np.searchsorted(self.indices, starts)
        in_order = self.indices is None or (np.diff(self.indices) > 0).all()
        if not (in_order and are_alike((self.columns, self.starts), (columns, starts))):
            raise ValueError("arms must be actions of the target")

    def of(self, rewards: Floats) -> Floats:  # (M, C)
        """The rewards of the arms among those of all actions, (M, N)."""
        return rewards if self.indices is None else rewards.take(self.indices, axis=1)


def promising(target: Target, rewards: Floats) -> Arms:
    """The actions nearest to the best one under some particle; all, if there are few."""
    sizes = np.diff(target.starts)
    if not (sizes > MOST).any():
        return Arms(target.columns, target.starts, None)
    kept = []
    for first, size in zip(target.starts, sizes, strict=False):
        chosen = np.arange(size)
        if size > MOST:
            near = closeness(rewards, first, first + size)
            chosen = np.sort(np.argpartition(near, -MOST)[-MOST:])
        kept.append(first + chosen)
    indices, starts = np.concatenate(kept), np.cumsum([0, *map(len, kept)])
    return Arms(np.ascontiguousarray(target.columns[:, indices]), starts, indices)
