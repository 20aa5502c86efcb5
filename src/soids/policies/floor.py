"""A least probability for every action on offer, on top of any law."""

from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_floats, as_number
from soids.information import Mixture, Spread
from soids.policies.decision import Offered


class Floored(NamedTuple):
    """The law ``p = f + (1 - sum f) w``: each action has its floor, a rule's law w has the rest.

    One uniform number draws: below ``sum f`` the floor draws, else the law does with what is left.
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
        return None if uniform < self.share else (uniform - self.share) / (1.0 - self.share)

    def mean(self, values: Floats) -> float:
        return float(self.floors @ values) + (1.0 - self.share) * self.law.mean(values)


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


def floors_on(floor: float | Floats, offered: Offered) -> Floats | None:  # (n,)
    """The floor of each action in the menu, or none; a single number is spread evenly."""
    count = len(offered.menu.actions)
    if isinstance(floor, float):
        return np.full(count, floor / count) if floor else None
    if len(floor) != offered.count:
        raise ValueError(
            f"floor must hold one number for each of {offered.count} actions, got {len(floor)}"
        )
    return floor if offered.kept is None else floor[offered.kept]
