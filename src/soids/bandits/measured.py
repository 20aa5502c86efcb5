"""Bandits with measured rewards, which need not be linear in the features of an action."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from soids.arrays import Floats, as_count, as_generator
from soids.bandits.bandit import Offer
from soids.features import disjoint


@dataclass(frozen=True, eq=False)
class MeasuredBandit:
    """The same actions in every round, with Gaussian noise."""

    actions: Floats  # (K, d)
    means: Floats  # (K,)
    noise: float

    def __repr__(self) -> str:
        count, dimension = self.actions.shape
        return f"MeasuredBandit({count} actions, {dimension} features, noise {self.noise})"

    @property
    def dimension(self) -> int:
        return int(self.actions.shape[1])

    @property
    def truth(self) -> dict[str, Any]:
        """The noise and the largest mean reward; there is no true parameter."""
        return {"noise": self.noise, "reward_bound": float(np.abs(self.means).max())}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        for noise in self.noise * rng.standard_normal(horizon):
            yield Offer(self.actions, self.means, float(noise))


@dataclass(frozen=True, eq=False)
class CaseBandit:
    """Recorded cases in their order, one a round, with disjoint features for each arm.

    A random reward lies ``deviations`` above or below its mean with equal probability; one sign is
    drawn a round.
    """

    contexts: Floats  # (n, p)
    means: Floats  # (n, K)
    deviations: Floats  # (n, K)
    names: tuple[str, ...]  # (p,)  of the context's features

    def __repr__(self) -> str:
        (cases, arms), width = self.means.shape, self.contexts.shape[1]
        return f"CaseBandit({cases} cases, {arms} arms of {width} features)"

    @property
    def dimension(self) -> int:
        return int(self.means.shape[1] * self.contexts.shape[1])

    @property
    def truth(self) -> dict[str, Any]:
        """The largest reward; there is no true parameter."""
        return {"reward_bound": float((np.abs(self.means) + self.deviations).max())}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        cases, arms = self.means.shape
        if as_count(horizon, "horizon") > cases:
            raise ValueError(f"horizon must be at most {cases}, the number of cases, got {horizon}")
        rng = as_generator(rng)
        for case in range(horizon):
            sign = rng.choice([-1.0, 1.0])
            actions = disjoint(self.contexts[case], arms)
            yield Offer(actions, self.means[case], sign * self.deviations[case])
