"""Bandits: the offer of a round, and the contract of all bandits.

A bandit draws its random numbers before the policy acts, so they are the same for all policies.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from soids.arrays import Floats, as_actions, as_count, as_floats, as_generator, as_number


class Offer(NamedTuple):
    """A round: the actions on offer, their expected rewards, and the noise."""

    actions: Floats  # (K, d)
    means: Floats  # (K,)  expected rewards
    noise: float | Floats  # of this round; (K,) if it depends on the action

    def reward(self, index: int) -> float:
        """The reward of an action in this round."""
        noise = self.noise[index] if isinstance(self.noise, np.ndarray) else self.noise
        return float(self.means[index] + noise)

    def regret(self, index: int) -> float:
        """The difference between the best expected reward and that of an action."""
        return float(self.means.max() - self.means[index])


class Bandit(Protocol):
    """The environment of a policy."""

    @property
    def dimension(self) -> int:
        """Number of features of an action."""

    @property
    def truth(self) -> dict[str, Any]:
        """Settings that a policy may be given, by name: the true sparsity, radius and so on."""

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        """The offers of all rounds; a longer horizon begins like a shorter one."""


@dataclass(frozen=True, eq=False)
class SparseLinearBandit:
    """The same actions in every round, with rewards ``<theta, action>`` plus noise.

    The noise is Gaussian, or Student's t if the ``degrees`` of freedom are finite.
    """

    actions: Floats  # (K, d)
    theta: Floats  # (d,)
    noise: float = 1.0  # standard deviation
    degrees: float = math.inf

    def __repr__(self) -> str:
        count, dimension = self.actions.shape
        return f"SparseLinearBandit({count} actions, {dimension} features, noise {self.noise})"

    def __post_init__(self) -> None:
        theta = as_theta(self.theta)
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "actions", as_actions(self.actions, theta.size))
        object.__setattr__(self, "noise", as_number(self.noise, "noise", 0.0))
        object.__setattr__(self, "degrees", as_degrees(self.degrees))

    @property
    def dimension(self) -> int:
        return len(self.theta)

    @cached_property
    def means(self) -> Floats:  # (K,)
        """The expected reward of each action."""
        return np.asarray(self.actions @ self.theta)

    @cached_property
    def gaps(self) -> Floats:  # (K,)
        """The difference between the best expected reward and that of each action."""
        return np.asarray(self.means.max() - self.means)

    @property
    def truth(self) -> dict[str, Any]:
        known = truth_of(self.theta, self.noise)
        return {**known, "reward_bound": float(np.abs(self.actions).max()) * known["radius"]}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        for noise in self.draw_noise(horizon, rng):
            yield Offer(self.actions, self.means, float(noise))

    def draw_noise(self, horizon: int, rng: np.random.Generator) -> Floats:  # (T,)
        """The noise of all rounds, drawn at once so that no decision can change it."""
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        if self.degrees == math.inf:
            return self.noise * rng.standard_normal(horizon)
        unit = math.sqrt((self.degrees - 2.0) / self.degrees)  # t has variance nu / (nu - 2)
        return self.noise * unit * rng.standard_t(self.degrees, horizon)


def truth_of(theta: Floats, noise: float) -> dict[str, Any]:
    """The settings that follow from the true parameter and the noise."""
    return {
        "sparsity": int(np.count_nonzero(theta)),
        "radius": float(np.abs(theta).sum()),
        "noise": noise,
        "norm": float(np.linalg.norm(theta)),
        "support": np.flatnonzero(theta).tolist(),
    }


def as_theta(value: object) -> Floats:  # (d,)
    """A checked, read-only parameter."""
    theta = as_floats(value, "theta")
    if theta.ndim != 1 or theta.size == 0:
        raise ValueError(f"theta must have shape (d,) with d at least 1, got {theta.shape}")
    theta.flags.writeable = False
    return theta


def check_world(bandit: object) -> None:
    """Refuse an object without a method ``rounds``."""
    if isinstance(bandit, type) or not callable(getattr(bandit, "rounds", None)):
        raise ValueError(
            f"bandit must be a SparseLinearBandit or another bandit with rounds, got {bandit!r}"
        )


def as_degrees(degrees: object) -> float:
    """Degrees of freedom with a finite variance; infinity stands for the normal distribution."""
    if isinstance(degrees, float) and degrees == math.inf:
        return math.inf
    return as_number(degrees, "degrees", 2.0, strict=True)
