"""What a choice is made from: the actions on offer and their floor; and the record of a choice."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints, Table, as_floats, as_number
from soids.evidence import Menu
from soids.information import Even, Mixture, Spread, TwoPoint, information_ratio

BELOW_ONE = math.nextafter(1.0, 0.0)
NEAR_ONE = 1e-9  # what rounding may do to the sum of probabilities


class Information(NamedTuple):
    """The regret and the information gain that a policy expects of its own law, before any floor.

    Policies with a confidence set give the largest regret that the set allows; those without
    beliefs give NaN.
    """

    regret: float  # in units of reward
    gain: float  # in nats
    ratio: float  # in units of the noise
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
    kept: Ints | None = None  # (n,)  indices of the actions not excluded, if some were
    total: int = 0  # number of actions, if some were excluded

    @classmethod
    def without(
        cls, table: Table, excluded: Sequence[int] | Ints, find: Callable[[Table], Menu]
    ) -> "Offered":
        """The actions of a table (K, d) that are not excluded; ``find`` gives their ``Menu``."""
        total = int(table.shape[0])
        indices = np.asarray(excluded)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            is_mask = indices.dtype.kind == "b"
            got = "a mask: use np.flatnonzero(mask)" if is_mask else repr(excluded)
            raise ValueError(f"excluded must list indices of actions, got {got}")
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
        """The index among all actions of a place among those not excluded."""
        return place if self.kept is None else int(self.kept[place])

    def place(self, index: int) -> int:
        """The place among those not excluded of an index among all actions."""
        return index if self.kept is None else int(np.searchsorted(self.kept, index))

    def floors(self, floor: float | Floats) -> Floats | None:  # (n,)
        """The floor of each action not excluded, or none; a single number is spread evenly."""
        if isinstance(floor, float):
            count = len(self.menu.actions)
            return np.full(count, floor / count) if floor else None
        if len(floor) != self.count:
            raise ValueError(
                f"floor must hold one number for each of {self.count} actions, got {len(floor)}"
            )
        return floor if self.kept is None else floor[self.kept]

    def spread(self, mixture: Mixture) -> Floats:  # (K,)
        """A distribution over the actions not excluded as one over all actions."""
        masses = mixture.probabilities(len(self.menu.actions))
        if self.kept is None:
            return masses
        spread = np.zeros(self.total)
        spread[self.kept] = masses
        return spread


class Floored(NamedTuple):
    """The law ``p = f + (1 - sum f) w``: each action has its floor, a rule's law w has the rest. A
    uniform number below ``sum f`` draws from the floor; else the law draws with what is left of it.
    """

    law: Mixture
    floors: Floats  # (n,)

    @property
    def share(self) -> float:
        """The probability that the floor draws."""
        return min(1.0, float(self.floors.sum()))

    def probability(self, index: int) -> float:
        return float(self.floors[index]) + (1.0 - self.share) * self.law.probability(index)

    def probabilities(self, count: int) -> Floats:  # (n,)
        masses: Floats = self.floors + (1.0 - self.share) * self.law.probabilities(count)
        return masses

    def draw(self, uniform: float) -> int:
        left = self.left(uniform)
        if left is None:
            return Spread(self.floors / self.share).draw(uniform / self.share)
        return self.law.draw(left)

    def left(self, uniform: float) -> float | None:
        """The uniform number that the law draws by; none if the floor draws."""
        if uniform < self.share:
            return None
        return min((uniform - self.share) / (1.0 - self.share), BELOW_ONE)  # rounding may give one

    def mean(self, values: Floats) -> float:
        return float(self.floors @ values) + (1.0 - self.share) * self.law.mean(values)


def check_law(name: str, law: Any, count: int) -> None:
    """Refuse what is no distribution over ``count`` actions, as a rule of others may return it."""
    if isinstance(law, TwoPoint):
        first, second, share, _ = law
        if not (0 <= first < count and 0 <= second < count and 0.0 <= share <= 1.0):
            raise ValueError(
                f"law of {name} must have both actions in 0..{count - 1} and a share in [0, 1], "
                f"got actions {first} and {second}, share {share}"
            )
        return
    if isinstance(law, Even) and law.size == count:
        return
    if isinstance(law, Floored):
        check_law(name, law.law, count)
        if not np.minimum.reduce(law.floors) >= 0.0:
            raise ValueError(f"law of {name} must have no negative floor, got {law.floors.min():g}")
    elif not hasattr(law, "probabilities"):
        raise ValueError(
            f"law of {name} must return a Plan of a distribution, such as "
            f"Plan(Spread(probabilities)), got a Plan of {type(law).__name__}"
        )
    masses = law.masses if isinstance(law, Spread) else law.probabilities(count)
    if not isinstance(masses, np.ndarray):
        got = f"no array but {type(masses).__name__}"
    elif masses.shape != (count,):
        got = f"an array of shape {masses.shape}"
    elif masses.dtype.kind not in "fiub":
        got = f"an array of type {masses.dtype}"
    elif not (least := np.minimum.reduce(masses)) >= 0.0:  # NaN is not, either
        got = f"one of {least:g}"
    elif not abs((total := np.add.reduce(masses)) - 1.0) <= NEAR_ONE:
        got = f"a sum of {total:.12g}"
    else:
        return
    raise ValueError(f"law of {name} must be {count} probabilities that add up to 1, got {got}")


def as_floor(floor: Any) -> float | Floats:
    """A probability in all, or one for each action on offer (K,)."""
    if np.ndim(floor) == 0:
        share = as_number(floor, "floor", 0.0)
        if share > 1.0:
            raise ValueError(f"floor must be at most 1, the probability in all, got {share:g}")
        return share
    floors = as_floats(floor, "floor")
    if floors.ndim != 1 or (floors < 0.0).any() or floors.sum() > 1.0 + 1e-12:
        raise ValueError(
            "floor must be a probability in all, or one for each action that add up to at most 1, "
            f"got {floor!r}"
        )
    return floors


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
