"""What has been seen so far, as sums, so that order never matters.

Notation
    gram    (d, d)  sum of a a'            moment (d,)  sum of reward * a
    total   (d,)    sum of a               energy       sum of reward**2

Sets of actions that change with the context are remembered up to a number. Beyond it those with
the smallest fingerprints stay: a uniform sample of all different sets, whatever their order, each
with its true count, as none that stays has ever been away.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from soids.arrays import STRIP, Bools, Floats, Table, strip
from soids.gram import Gram
from soids.kernels.rows import by_rows
from soids.kernels.transposed import is_transposed

COMPARABLE = (np.float64, np.float32)  # without a copy
SETS = 128  # different menus that are remembered, unless told otherwise


@dataclass(frozen=True, eq=False)
class Menu:
    """A set of actions on offer; most worlds offer the same one again and again.

    It is held once, feature by feature: the actions are a view of the columns.
    """

    actions: Floats  # (K, d)

    def __post_init__(self) -> None:
        actions = self.columns.T
        actions.flags.writeable = False
        object.__setattr__(self, "actions", actions)

    @cached_property
    def columns(self) -> Floats:  # (d, K)
        """The actions feature by feature: a sparse parameter touches only its own features."""
        columns = self.actions.T
        if columns.flags.c_contiguous and columns.flags.writeable:
            return columns
        return np.array(columns, order="C")

    @cached_property
    def largest(self) -> float:
        """The largest entry of any action, in size."""
        return float(np.abs(self.actions).max())

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the actions, by which menus are found and sampled."""
        return hashlib.blake2b(self.columns.data, digest_size=16).hexdigest()

    def same(self, other: "Menu") -> bool:
        """Whether two menus hold the same actions."""
        return self is other or (
            self.actions.shape == other.actions.shape and self.fingerprint == other.fingerprint
        )

    def shows(self, table: Table) -> bool:
        """Whether these are the actions of a table, to the last number."""
        if table.shape != self.actions.shape:
            return False
        strips = np.zeros(-(-table.shape[0] // STRIP), dtype=np.bool_)
        self._compare(0, 1, table, strips)
        if len(strips) > 1 and strips[0]:
            by_rows(self._compare, STRIP * table.shape[1], len(strips), table, strips)
        return bool(strips.all())

    def _compare(self, start: int, stop: int, table: Table, strips: Bools) -> None:
        """Note which strips of a table are those of the menu, up to the first that is not."""
        for i in range(start, stop):
            first = i * STRIP
            rows = strip(table, first)
            if rows.dtype not in COMPARABLE or not rows.flags.c_contiguous:
                rows = rows.astype(np.float64, order="C")
            strips[i] = is_transposed(rows, self.columns[:, first : first + STRIP])
            if not strips[i]:
                return


class Evidence(NamedTuple):
    """Sufficient statistics of all rewards observed, and how often each menu was on offer."""

    played: Gram
    moment: Floats  # (d,)
    total: Floats  # (d,)
    energy: float
    rounds: float
    menus: tuple[Menu, ...]  # that are remembered
    counts: tuple[float, ...]
    sets: int = SETS  # how many menus are remembered at most

    @classmethod
    def empty(cls, dimension: int, sets: int = SETS) -> "Evidence":
        zeros = np.zeros(dimension)
        return cls(Gram.empty(dimension), zeros, zeros, 0.0, 0, (), (), sets)

    @property
    def gram(self) -> Floats:  # (d, d)
        """The whole gram; large, if the dimension is."""
        return self.played.dense()

    def add(self, menu: Menu, action: Floats, reward: float) -> "Evidence":
        """The evidence after one more action chosen from the menu, and its reward."""
        menus, counts = list(self.menus), list(self.counts)
        known = next((i for i, other in enumerate(menus) if other.same(menu)), None)
        if known is not None:
            counts[known] += 1
            return self.note(action, reward)._replace(counts=tuple(counts))
        if len(menus) == self.sets:
            last = max(range(len(menus)), key=lambda i: menus[i].fingerprint)
            if menu.fingerprint > menus[last].fingerprint:
                return self.note(action, reward)
            del menus[last], counts[last]
        return self.note(action, reward)._replace(menus=(*menus, menu), counts=(*counts, 1))

    def note(self, action: Floats, reward: float) -> "Evidence":
        """The evidence after one more reward, whatever else was on offer."""
        return self._replace(
            played=self.played.added(action),
            moment=self.moment + reward * action,
            total=self.total + action,
            energy=self.energy + reward**2,
            rounds=self.rounds + 1,
        )

    def faded(self, share: float) -> "Evidence":
        """The evidence as if every round had been but a share of one: what is old counts less."""
        return self._replace(
            played=Gram.of(share * self.gram), moment=share * self.moment,
            total=share * self.total, energy=share * self.energy, rounds=share * self.rounds,
            counts=tuple(share * count for count in self.counts),
        )  # fmt: skip

    @property
    def offered(self) -> Floats:  # (B,)
        """How many rounds each menu stands for: its own, and its share of those forgotten."""
        counts = np.array(self.counts, dtype=np.float64)
        return counts * (self.rounds / counts.sum()) if self.menus else counts

    def restricted(self, features: Sequence[int]) -> "Evidence":
        """The same rewards, as if only some of the features had been recorded."""
        kept = list(features)
        return Evidence(
            Gram.of(self.played.rows(np.array(kept, dtype=np.int64))[:, kept]),
            self.moment[kept],
            self.total[kept],
            self.energy,
            self.rounds,
            tuple(Menu(menu.actions[:, kept]) for menu in self.menus),
            self.counts,
            self.sets,
        )

    def scale(self) -> float:
        """The size of the parameter that the rewards suggest, if features are independent.

        >>> Evidence.empty(3).scale()
        1.0
        """
        spread = float(self.played.diagonal.sum()) / len(self.moment)
        return (self.energy / spread) ** 0.5 if self.energy > 0 and spread > 0 else 1.0
