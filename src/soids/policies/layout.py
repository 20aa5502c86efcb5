"""What the columns of the actions are, as far as the action sets so far show it.

| column | has been | treated as |
|---|---|---|
| constant | of the same value in every action | the intercept |
| level of an arm | in one action of each set, of one value; each action has one | likely |
| common | the same in all actions of a set, but not in all sets | integrated out |
| in a block | in one action of each set; all blocks are alike | integrated out as their sum |

Contexts beside constants in blocks of their own are what ``disjoint`` and ``hybrid`` make.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from soids.arrays import LARGEST, Bools, Floats, Ints
from soids.evidence import Menu
from soids.records import check_arrays, check_numbers

NEVER = -100.0  # log prior odds of a feature whose place the intercept takes
UNSEEN, SEVERAL = -1, -2  # columns of no action so far, and columns of more than one


@dataclass(frozen=True, eq=False)
class Layout:
    """What the columns have been in all action sets with several actions so far."""

    arms: int  # number of actions in the first set
    constants: Floats  # (d,)  the value of a column that has had but one, else not a number
    levels: Floats  # (d,)  the value of a column that was that of one action a set, likewise
    settled: bool  # whether each action has exactly one of these columns
    common: Bools  # (d,)  whether all actions of a set have the same value
    owners: Ints  # (d,)  the index of the only action that has a column
    alike: bool  # whether the columns of each action hold the same context

    @classmethod
    def after(cls, before: Self | None, menu: Menu) -> Self | None:
        """The layout after one more action set; a set of one action says nothing."""
        actions = menu.actions
        if len(actions) == 1 or (before is not None and before.is_plain()):
            return before
        low, high, counts = actions.min(axis=0), actions.max(axis=0), (actions != 0.0).sum(axis=0)
        common, constants = low == high, np.where(low == high, low, np.nan)
        levels = np.where(counts == 1, low + high, np.where(counts == 0, 0.0, np.nan))
        owners = np.where(counts == 1, (actions != 0.0).argmax(axis=0), SEVERAL)
        owners[counts == 0] = UNSEEN
        count, settled, alike = len(actions), False, True
        if before is not None:
            count, settled, alike = before.arms, before.settled, before.alike
            common &= before.common
            constants[constants != before.constants] = np.nan
            levels = np.where((levels == before.levels) | (levels == 0.0), before.levels, np.nan)
            if len(actions) < count:
                owners = before.owners
            else:
                is_same = (owners == before.owners) | (owners == UNSEEN)
                known = np.where(is_same, before.owners, SEVERAL)
                owners = np.where(before.owners == UNSEEN, owners, known)
        if not settled:
            levels[counts == 0] = np.nan
        if ((actions[:, ~np.isnan(levels)] != 0.0).sum(axis=1) == 1).all():
            settled = True
        elif settled:
            levels[:] = np.nan
        if len(actions) == count:
            alike = alike and hold_the_same(actions, owners)
        elif len(actions) > count:  # the first set had not all arms: no block is known for certain
            owners, alike = np.full_like(owners, SEVERAL), False
        return cls(count, constants, levels, settled, common, owners, alike)

    def validate(self) -> None:
        """Refuse what no action sets show; NaN stands for columns of several values."""
        check_numbers(self, "arms", 2)
        check_numbers(self, "owners", SEVERAL, self.arms - 1)
        known = check_arrays(self, owners="d", common="d")
        for values in (self.constants, self.levels):
            if (
                values.shape != (known["d"],)
                or np.abs(values[~np.isnan(values)]).max(initial=0) > LARGEST
            ):
                raise ValueError("constants and levels must be values of columns")
        widths = np.bincount(self.owners[self.owners >= 0], minlength=self.arms)
        if self.alike and widths.any() and (widths != widths[0]).any():
            raise ValueError("blocks that are alike must be of one size")

    def is_plain(self) -> bool:
        """Whether no column is anything in particular, which further sets do not change."""
        alone = np.isnan(self.constants) & np.isnan(self.levels) & (self.owners == SEVERAL)
        return bool((alone & ~self.common).all())

    def is_constant(self) -> Bools:  # (d,)
        """Whether each column has had one value in all actions, other than zero."""
        constant: Bools = ~np.isnan(self.constants) & (self.constants != 0.0)
        return constant

    def is_level(self) -> Bools:  # (d,)
        """Whether each column is the level of an arm."""
        level: Bools = ~np.isnan(self.levels) & self.settled & ~self.is_constant()
        return level

    @cached_property
    def own_odds(self) -> Floats | None:  # (d,)
        """Log prior odds of each feature beside those of its size, or None if all are alike.

        Each level of an arm has the odds of all other features together. Columns that cancel in
        every comparison of actions are left to the intercept and to what is integrated out.
        """
        cancels, levels = self.common & (self.constants != 0.0), self.is_level()
        others = int((~(cancels | levels)).sum())
        if others + int(levels.sum()) == 0:
            return None
        odds = np.where(cancels, NEVER, 0.0)
        if others > 0:
            odds[levels] = math.log(others)
        return odds if odds.any() else None

    @cached_property
    def directions(self) -> Floats:  # (p, d)
        """Directions in which a parameter changes the rewards of all actions of a set alike, by
        what is the same for all of them in a round but differs between rounds.
        """
        groups = np.flatnonzero(self.common & np.isnan(self.constants))[:, None].tolist()
        if self.alike and (self.owners >= 0).any():
            blocks = np.array([np.flatnonzero(self.owners == arm) for arm in range(self.arms)])
            groups += blocks[:, ~self.is_level()[blocks[0]]].T.tolist()
        rows = np.zeros((len(groups), len(self.owners)))
        for row, group in zip(rows, groups, strict=True):
            row[group] = 1.0
        return rows


def hold_the_same(actions: Floats, owners: Ints) -> bool:
    """Whether the columns of each action hold the same values in the same order."""
    parts = [row[owners == arm] for arm, row in enumerate(actions)]
    return all(np.array_equal(part, parts[0]) for part in parts)
