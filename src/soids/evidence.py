"""What has been seen so far, as sums, so that order never matters.

Notation
    gram    (d, d)  sum of a a'            moment (d,)  sum of reward * a
    total   (d,)    sum of a               energy       sum of reward**2

Sets of actions that change with the context are remembered up to a number. Once there were more, a
uniform sample of the rounds stands for all: every round draws a lot, and the smallest stay, so that
again order does not matter. Where old rounds fade, the sets that count least go instead.
"""

import hashlib
from bisect import bisect
from collections import Counter
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
        """A digest of the actions, by which a menu is found among others."""
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
    lots: tuple[float, ...] = ()  # the smallest that rounds have drawn, in order, so many at most
    owners: tuple[Menu, ...] = ()  # what was on offer in these rounds
    sampled: bool = False  # whether menus and counts are those of these rounds alone
    fading: bool = False  # whether rounds have counted less with time

    @classmethod
    def empty(cls, dimension: int, sets: int = SETS) -> "Evidence":
        zeros = np.zeros(dimension)
        return cls(Gram.empty(dimension), zeros, zeros, 0.0, 0, (), (), sets)

    @property
    def gram(self) -> Floats:  # (d, d)
        """The whole gram; large, if the dimension is."""
        return self.played.dense()

    def add(self, menu: Menu, action: Floats, reward: float, turn: int | None = None) -> "Evidence":
        """The evidence after one more action chosen from the menu, and its reward.

        The turn tells the round from all others; by itself it is the next.
        """
        after = self.note(action, reward)
        known = next((i for i, other in enumerate(self.menus) if other.same(menu)), None)
        menu = menu if known is None else self.menus[known]
        lot = lot_of(int(self.rounds) if turn is None else turn)
        if len(self.lots) < self.sets or lot < self.lots[-1]:
            place = bisect(self.lots, lot)
            after = after._replace(
                lots=(*self.lots[:place], lot, *self.lots[place:])[: self.sets],
                owners=(*self.owners[:place], menu, *self.owners[place:])[: self.sets],
            )
        elif self.sampled:
            return after
        if self.sampled or (known is None and len(self.menus) == self.sets and not self.fading):
            return after.of_its_sample()
        menus, counts = list(self.menus), list(self.counts)
        if known is not None:
            counts[known] += 1
            return after._replace(counts=tuple(counts))
        if len(menus) == self.sets:
            least = counts.index(min(counts))
            del menus[least], counts[least]
        return after._replace(menus=(*menus, menu), counts=(*counts, 1))

    def of_its_sample(self) -> "Evidence":
        """The same evidence, which knows only the menus of the rounds with the smallest lots."""
        menus = {id(menu): menu for menu in self.owners}
        counts = Counter(map(id, self.owners))
        return self._replace(
            menus=tuple(menus.values()), counts=tuple(counts[i] for i in menus), sampled=True
        )

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
            counts=tuple(share * count for count in self.counts), fading=True,
        )  # fmt: skip

    @property
    def offered(self) -> Floats:  # (B,)
        """How many rounds each menu stands for: its own, and its share of those forgotten."""
        counts = np.array(self.counts, dtype=np.float64)
        return counts * (self.rounds / counts.sum()) if self.menus else counts

    def restricted(self, features: Sequence[int]) -> "Evidence":
        """The same rewards, as if only some of the features had been recorded."""
        kept = list(features)
        return self._replace(
            played=Gram.of(self.played.rows(np.array(kept, dtype=np.int64))[:, kept]),
            moment=self.moment[kept],
            total=self.total[kept],
            menus=tuple(Menu(menu.actions[:, kept]) for menu in self.menus),
            lots=(), owners=(),
        )  # fmt: skip

    def scale(self) -> float:
        """The size of the parameter that the rewards suggest, if features are independent.

        >>> Evidence.empty(3).scale()
        1.0
        """
        spread = float(self.played.diagonal.sum()) / len(self.moment)
        return (self.energy / spread) ** 0.5 if self.energy > 0 and spread > 0 else 1.0


def lot_of(turn: int) -> float:
    """A number between 0 and 1 that looks drawn at random, always the same for a round."""
    digest = hashlib.blake2b(turn.to_bytes(8, "little"), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2.0**64
