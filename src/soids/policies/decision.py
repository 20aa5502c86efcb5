"""What a choice is made from, and the record of a choice."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints, Table
from soids.evidence import Menu
from soids.information import Mixture, information_ratio


class Information(NamedTuple):
    """The regret and the information gain that a policy expects of its own law, before any floor.

    Policies with a confidence set give the largest regret that the set allows; those without
    beliefs give NaN. Regret is in units of reward, gain in nats, the ratio in units of the noise.
    """

    regret: float
    gain: float
    ratio: float
    rate: float  # learning rate of the optimistic posterior
    effective: float = math.nan  # with a budget: number of different, equally weighted particles
    behind: float = 0.0  # with a budget: number of sweeps that the particles are owed

    @classmethod
    def of(cls, regret: float, gain: float, noise: float, rate: float = 0.0) -> "Information":
        return cls(regret, gain, information_ratio(regret / noise, gain), rate)


SILENT = Information(math.nan, math.nan, math.nan, 0.0)  # of a policy that forms no belief


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """The actions on offer: those to choose from, and their places among all of them."""

    menu: Menu  # without the excluded actions
    kept: Ints | None = None  # (n,)  indices of the actions in the menu, if some were excluded
    total: int = 0  # number of actions, if some were excluded

    @classmethod
    def without(
        cls, table: Table, excluded: Sequence[int] | Ints, find: Callable[[Table], Menu]
    ) -> "Offered":
        """The actions of a table (K, d) that are not excluded; ``find`` makes them a menu."""
        total = int(table.shape[0])
        indices = np.asarray(excluded)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            raise ValueError(f"excluded must list indices of actions, got {excluded!r}")
        if indices.min() < 0 or indices.max() >= total:
            raise ValueError(f"excluded must lie in 0..{total - 1}, got {indices.tolist()}")
        kept = np.setdiff1d(np.arange(total), indices)
        if not kept.size:
            raise ValueError(f"excluded must leave at least one action, got all {total}")
        return cls(find(table[kept]), kept, total)

    @property
    def count(self) -> int:
        """The number of actions, with those excluded."""
        return len(self.menu.actions) if self.kept is None else self.total

    def index(self, place: int) -> int:
        """The index among all actions of a place in the menu."""
        return place if self.kept is None else int(self.kept[place])

    def place(self, index: int) -> int:
        """The place in the menu of an index among all actions."""
        return index if self.kept is None else int(np.searchsorted(self.kept, index))

    def spread(self, mixture: Mixture) -> Floats:  # (K,)
        """A distribution over the menu as one over all actions."""
        masses = mixture.probabilities(len(self.menu.actions))
        if self.kept is None:
            return masses
        spread = np.zeros(self.total)
        spread[self.kept] = masses
        return spread


@dataclass(frozen=True, eq=False)
class Decision:
    """One choice, with all that is needed to learn from its reward, whenever that comes."""

    index: int
    probability: float  # of this index, under the distribution it was drawn from
    round: int  # the policy's own count of its choices, from 1
    info: Information
    offered: Offered = field(repr=False)
    mixture: Mixture = field(repr=False)  # the distribution over the actions not excluded

    @property
    def menu(self) -> Menu:
        """The actions that were not excluded."""
        return self.offered.menu

    @property
    def dimension(self) -> int:
        """The number of features of an action."""
        return int(self.menu.actions.shape[1])

    @property
    def action(self) -> Floats:  # (d,)
        """The action itself."""
        chosen: Floats = self.menu.actions[self.offered.place(self.index)]
        return chosen

    @property
    def probabilities(self) -> Floats:  # (K,)
        """The distribution that the index was drawn from, over all actions on offer."""
        return self.offered.spread(self.mixture)
