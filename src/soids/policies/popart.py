"""Explore, estimate by PopArt, and commit."""

import math

import numpy as np

from soids.arrays import SMALLEST, Floats, as_count, as_flag, as_number, as_share
from soids.designs import Design, popart_design
from soids.evidence import Menu
from soids.policies.explore_then_commit import ExploreThenCommit, Sample, Theory, planned
from soids.policies.policy import Family
from soids.regression.popart import Samples, popart, warm_popart


class PopArtRule(ExploreThenCommit):
    """Explore, estimate by PopArt, commit (Jang, Zhang, Jun 2022).

    ``warm`` means Warm-PopArt, which spends half of the exploration on a pilot. ``reward_bound``
    bounds the size of mean rewards. ``exploration`` is the number of rounds to explore; without it
    theory decides, from ``horizon`` and ``sparsity``. The actions must span the space.
    """

    def __init__(
        self,
        dimension: int,
        *,
        reward_bound: float,
        exploration: int | None = None,
        horizon: int | None = None,
        sparsity: int | None = None,
        noise: float = 1.0,
        delta: float = 0.05,
        warm: bool = True,
    ) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.exploration, self.horizon, self.sparsity = exploration, horizon, sparsity
        self.reward_bound = as_number(reward_bound, "reward_bound", 0.0, strict=True)
        self.noise, self.delta = as_number(noise, "noise", SMALLEST), as_share(delta, "delta")
        self.warm = as_flag(warm, "warm")
        self.plan = planned(dimension, exploration, horizon, sparsity, reward_bound, self.noise)
        if isinstance(self.plan, int):
            check_length(self.plan, shortest(dimension, self.delta, warm))

    def _design(self, menu: Menu) -> Design:
        return popart_design(menu.actions)

    def _theory(self, menu: Menu, plan: Theory) -> float:
        spread = self._design(menu).value * menu.largest**2  # as if actions were in [-1, 1]^d
        certainty = math.log(2 * self.dimension / self.delta)
        per_error = (plan.sparsity * plan.horizon / plan.reward_bound) ** 2 * spread * certainty
        rounds: float
        if self.warm:
            rounds = 4.0 * (plan.noise**2 * per_error) ** (1 / 3)
        else:
            rounds = ((plan.reward_bound**2 + plan.noise**2) * per_error) ** (1 / 3)
        return max(rounds, shortest(self.dimension, self.delta, self.warm))

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        estimate = warm_popart if self.warm else popart
        return estimate(drawn(samples, self.dimension), self.reward_bound, self.noise, self.delta)


PopArt = Family(PopArtRule)


def shortest(dimension: int, delta: float, warm: bool) -> int:
    """The least exploration in which PopArt's thresholds are finite."""
    halves = 2 if warm else 1
    return halves * (math.floor(2.0 * math.log(2 * halves * dimension / delta)) + 1)


def check_length(exploration: int, least: int) -> None:
    """Refuse an exploration in which nothing can be told from zero."""
    if exploration < least:
        raise ValueError(
            f"exploration must be at least {least} rounds for PopArt to tell any coefficient from "
            f"zero, got {exploration}"
        )


def drawn(samples: tuple[Sample, ...], dimension: int) -> Samples:
    """Rounds of exploration with the design that each was drawn from."""
    inverses = {}
    for menu in {sample.menu for sample in samples}:
        weights = popart_design(menu.actions).weights
        inverses[menu] = np.linalg.inv(menu.actions.T @ (weights[:, None] * menu.actions))
    actions, pulls, spreads = np.empty((3, len(samples), dimension))
    rewards = np.empty(len(samples))
    for t, (menu, chosen, reward) in enumerate(samples):
        actions[t], rewards[t] = menu.actions[chosen], reward
        pulls[t] = inverses[menu] @ actions[t]
        spreads[t] = np.diag(inverses[menu])
    return Samples(actions, rewards, pulls, spreads)
