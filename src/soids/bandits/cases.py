"""Bandits made of cases that come one by one, each once: patients, visitors, mushrooms."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from soids.arrays import Floats, as_count, as_generator
from soids.bandits.bandit import Offer
from soids.features import disjoint


@dataclass(frozen=True, eq=False)
class CaseBandit:
    """Cases in their order; every arm has a parameter of its own, and rewards are as recorded.

    Nothing says that rewards are linear in the context. Where the reward of an arm is a matter of
    luck, it lies ``spread`` above or below its mean, as one coin for the round decides.
    """

    contexts: Floats  # (n, p)
    means: Floats  # (n, K)
    spread: Floats  # (n, K)
    names: tuple[str, ...]  # (p,)  of the context's features

    def __repr__(self) -> str:
        (cases, arms), width = self.means.shape, self.contexts.shape[1]
        return f"CaseBandit({cases} cases, {arms} arms of {width} features)"

    @property
    def dimension(self) -> int:
        """How many features an action has."""
        return int(self.means.shape[1] * self.contexts.shape[1])

    @property
    def truth(self) -> dict[str, Any]:
        """How large a reward can be; nobody knows a parameter."""
        return {"reward_bound": float((np.abs(self.means) + self.spread).max())}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        """One case a round."""
        cases, arms = self.means.shape
        if as_count(horizon, "horizon") > cases:
            raise ValueError(f"horizon must be at most {cases}, the number of cases, got {horizon}")
        rng = as_generator(rng)
        for case in range(horizon):
            coin = rng.choice([-1.0, 1.0])
            actions = disjoint(self.contexts[case], arms)
            yield Offer(actions, self.means[case], coin * self.spread[case])
