"""The truth that policies try to find: sparse linear rewards over a finite set of actions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from soids.arrays import Floats, as_actions, as_count, as_floats, as_number


@dataclass(frozen=True, eq=False)
class SparseLinearBandit:
    """Actions whose rewards are ``<theta, action>`` plus Gaussian noise."""

    actions: Floats  # (K, d)
    theta: Floats  # (d,)
    noise: float = 1.0

    def __post_init__(self) -> None:
        theta = as_floats(self.theta, "theta")
        if theta.ndim != 1 or theta.size == 0:
            raise ValueError(f"theta must have shape (d,) with d at least 1, got {theta.shape}")
        theta.flags.writeable = False
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "actions", as_actions(self.actions, theta.size))
        object.__setattr__(self, "noise", as_number(self.noise, "noise", 0.0))

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


def paper_instance(dimension: int, seed: int) -> SparseLinearBandit:
    """The paper's environment: 200 random actions, d / 10 equal coefficients of sum 10.

    >>> bandit = paper_instance(dimension=20, seed=0)
    >>> bandit.actions.shape, bandit.theta[:3].tolist(), bandit.noise
    ((200, 20), [5.0, 5.0, 0.0], 1.0)
    """
    as_count(dimension, "dimension", 10)
    as_count(seed, "seed", 0)
    sparsity = dimension // 10
    theta = np.zeros(dimension)
    theta[:sparsity] = 10.0 / sparsity
    actions = np.random.default_rng(seed).uniform(-1, 1, (200, dimension))
    return SparseLinearBandit(actions, theta, noise=1.0)
