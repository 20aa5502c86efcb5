"""Explore, estimate by PopArt, and commit."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from soids.arrays import Floats
from soids.designs import popart_design
from soids.policies.explore_then_commit import ExploreThenCommit, Sample
from soids.policies.policy import Family, Menu
from soids.regression.popart import Samples, popart, warm_popart


@dataclass(frozen=True, kw_only=True)
class PopArtRule(ExploreThenCommit):
    """Explore, estimate by PopArt, commit (Jang, Zhang, Jun 2022).

    ``warm`` means Warm-PopArt, which spends half of the exploration on a pilot. ``reward_bound``
    bounds the size of mean rewards. Without ``exploration``, a number of rounds, theory decides,
    from ``horizon`` and ``sparsity``. The actions must span the space.
    """

    share: ClassVar[float] = 1.0  # of delta, which the estimate may spend

    reward_bound: float = field()
    delta: float = 0.05
    warm: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration is not None and self.exploration < self._shortest():
            raise ValueError(
                f"exploration must be at least {self._shortest()} rounds, else PopArt estimates "
                f"every coefficient as zero, got {self.exploration}"
            )

    def _theory(self, menu: Menu, horizon: int, sparsity: int, reward_bound: float) -> float:
        spread = self._design(menu).value * menu.largest**2  # as if actions were in [-1, 1]^d
        certainty = math.log(2 * self.dimension / self.delta)
        per_error = (sparsity * horizon / reward_bound) ** 2 * spread * certainty
        variance = self.noise**2 if self.warm else reward_bound**2 + self.noise**2
        rounds: float = (4.0 if self.warm else 1.0) * (variance * per_error) ** (1 / 3)
        return max(rounds, self._shortest())

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        estimate, found = warm_popart if self.warm else popart, drawn(samples, self.dimension)
        return estimate(found, self.reward_bound, self.noise, self.share * self.delta)

    def _shortest(self) -> int:
        """The least exploration in which PopArt's thresholds are finite."""
        halves = 2 if self.warm else 1
        tests = 2 * halves * self.dimension / (self.share * self.delta)
        return halves * (math.floor(2.0 * math.log(tests)) + 1)


PopArt = Family(PopArtRule)


def drawn(samples: tuple[Sample, ...], dimension: int) -> Samples:
    """Rounds of exploration with the design that each was drawn from.

    With a floor they were drawn from another distribution: then importance weights make the
    estimate unbiased, and the largest of them raises the variances.
    """
    designs, inverses = {}, {}
    for menu in {sample.menu for sample in samples}:
        masses = designs[menu] = popart_design(menu.actions).weights
        inverses[menu] = np.linalg.inv(menu.actions.T @ (masses[:, None] * menu.actions))
    actions, pulls, spreads = np.empty((3, len(samples), dimension))
    rewards, weights = np.empty((2, len(samples)))
    for t, (menu, chosen, reward, probability) in enumerate(samples):
        actions[t], rewards[t] = menu.actions[chosen], reward
        weights[t] = designs[menu][chosen] / probability
        pulls[t] = inverses[menu] @ actions[t]
        spreads[t] = np.diag(inverses[menu])
    largest = weights.max(initial=1.0)
    return Samples(actions, rewards, weights[:, None] * pulls, largest * spreads)
