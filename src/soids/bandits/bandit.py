"""The truth that policies try to find: sparse linear rewards over a finite set of actions."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from soids.arrays import Floats, as_actions, as_count, as_floats, as_generator, as_number


@dataclass(frozen=True, eq=False)
class SparseLinearBandit:
    """Actions whose rewards are ``<theta, action>`` plus noise.

    The noise has standard deviation ``noise``; it is Gaussian, or Student's t with so many
    ``degrees`` of freedom.
    """

    actions: Floats  # (K, d)
    theta: Floats  # (d,)
    noise: float = 1.0
    degrees: float = math.inf

    def __repr__(self) -> str:
        count, dimension = self.actions.shape
        return f"SparseLinearBandit({count} actions, {dimension} features, noise {self.noise})"

    def __post_init__(self) -> None:
        theta = as_floats(self.theta, "theta")
        if theta.ndim != 1 or theta.size == 0:
            raise ValueError(f"theta must have shape (d,) with d at least 1, got {theta.shape}")
        theta.flags.writeable = False
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "actions", as_actions(self.actions, theta.size))
        object.__setattr__(self, "noise", as_number(self.noise, "noise", 0.0))
        object.__setattr__(self, "degrees", as_degrees(self.degrees))

    @cached_property
    def means(self) -> Floats:  # (K,)
        """The expected reward of each action."""
        means: Floats = self.actions @ self.theta
        return means

    @cached_property
    def gaps(self) -> Floats:  # (K,)
        """How much each action falls short of the best."""
        gaps: Floats = self.means.max() - self.means
        return gaps

    @property
    def truth(self) -> dict[str, Any]:
        """What a policy can be told, by the name of its setting."""
        radius = float(np.abs(self.theta).sum())
        return {
            "sparsity": int(np.count_nonzero(self.theta)),
            "radius": radius,
            "noise": self.noise,
            "norm": float(np.linalg.norm(self.theta)),
            "support": np.flatnonzero(self.theta).tolist(),
            "reward_bound": float(np.abs(self.actions).max()) * radius,
        }

    def draw_noise(self, horizon: int, rng: np.random.Generator) -> Floats:  # (T,)
        """The noise of all rounds, drawn at once so that no decision can change it."""
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        if self.degrees == math.inf:
            return self.noise * rng.standard_normal(horizon)
        unit = math.sqrt((self.degrees - 2.0) / self.degrees)  # t has variance nu / (nu - 2)
        return self.noise * unit * rng.standard_t(self.degrees, horizon)


def as_degrees(degrees: object) -> float:
    """Degrees of freedom that leave a variance; infinity is the normal law."""
    if isinstance(degrees, float) and degrees == math.inf:
        return math.inf
    return as_number(degrees, "degrees", 2.0, strict=True)
