"""What has been seen so far, as sums, so that order never matters.

Notation
    gram    (d, d)  sum of a a'            moment (d,)  sum of reward * a
    total   (d,)    sum of a               energy       sum of reward**2
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.gram import Gram


@dataclass(frozen=True, eq=False)
class Menu:
    """A set of actions on offer; most worlds offer the same one again and again."""

    actions: Floats  # (K, d)

    @cached_property
    def columns(self) -> Floats:  # (d, K)
        """The actions feature by feature: a sparse parameter touches only its own features."""
        return np.array(self.actions.T, order="C")

    @cached_property
    def largest(self) -> float:
        """The largest entry of any action, in size."""
        return float(np.abs(self.actions).max())

    def same(self, other: "Menu") -> bool:
        return self is other or np.array_equal(self.actions, other.actions)


class Evidence(NamedTuple):
    """Sufficient statistics of all rewards observed, and how often each menu was on offer."""

    played: Gram
    moment: Floats  # (d,)
    total: Floats  # (d,)
    energy: float
    rounds: int
    menus: tuple[Menu, ...]
    counts: tuple[int, ...]

    @classmethod
    def empty(cls, dimension: int) -> "Evidence":
        zeros = np.zeros(dimension)
        return cls(Gram.empty(dimension), zeros, zeros, 0.0, 0, (), ())

    @property
    def gram(self) -> Floats:  # (d, d)
        """The whole gram; large, if the dimension is."""
        return self.played.dense()

    def add(self, menu: Menu, action: Floats, reward: float) -> "Evidence":
        """The evidence after one more action chosen from the menu, and its reward."""
        known = next((i for i, other in enumerate(self.menus) if other.same(menu)), None)
        if known is None:
            menus, counts = (*self.menus, menu), (*self.counts, 1)
        else:
            menus = self.menus
            counts = (*self.counts[:known], self.counts[known] + 1, *self.counts[known + 1 :])
        return self.note(action, reward)._replace(menus=menus, counts=counts)

    def note(self, action: Floats, reward: float) -> "Evidence":
        """The evidence after one more reward, whatever else was on offer."""
        return self._replace(
            played=self.played.added(action),
            moment=self.moment + reward * action,
            total=self.total + action,
            energy=self.energy + reward**2,
            rounds=self.rounds + 1,
        )

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
        )

    def scale(self) -> float:
        """The size of the parameter that the rewards suggest, if features are independent.

        >>> Evidence.empty(3).scale()
        1.0
        """
        spread = float(self.played.diagonal.sum()) / len(self.moment)
        return (self.energy / spread) ** 0.5 if self.energy > 0 and spread > 0 else 1.0
