"""Trials and successes of each action played: the evidence of rewards that are 0 or 1."""

from typing import NamedTuple, Self

import numpy as np

from soids.arrays import Floats
from soids.records import check_arrays


class Tally(NamedTuple):
    """How often each distinct action was played, and how often its reward was 1."""

    actions: Floats  # (N, d)
    trials: Floats  # (N,)  fractions if old rounds are discounted
    successes: Floats  # (N,)

    @classmethod
    def empty(cls, dimension: int) -> Self:
        return cls(np.empty((0, dimension)), np.empty(0), np.empty(0))

    def validate(self) -> None:
        """Refuse counts that no rewards have."""
        check_arrays(self, actions="N d", trials="N", successes="N")
        if (self.successes < 0.0).any() or (self.successes > self.trials).any():
            raise ValueError("successes must lie between zero and the trials")

    def add(self, action: Floats, reward: float) -> Self:
        """The tally after one more reward.

        >>> tally = Tally.empty(1).add(np.ones(1), 1.0).add(np.ones(1), 0.0)
        >>> tally.trials.tolist(), tally.successes.tolist()
        ([2.0], [1.0])
        """
        check_binary(reward)
        actions, trials, successes = self
        known = np.flatnonzero((actions == action).all(axis=1))
        if known.size == 0:
            return type(self)(
                np.vstack([actions, action]), np.append(trials, 1.0), np.append(successes, reward)
            )
        one = np.zeros(len(trials))
        one[known[0]] = 1.0
        return type(self)(actions, trials + one, successes + reward * one)

    def add_all(self, actions: Floats, rewards: Floats) -> Self:
        """The tally after many more rewards (n,) of actions (n, d), in the same order."""
        for reward in rewards.tolist():
            check_binary(reward)
        every = np.vstack([self.actions, actions])
        _, first, which = np.unique(every, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.argsort(order)[which.ravel()]
        counts: list[Floats] = [
            np.bincount(place, np.concatenate([before, more])).astype(np.float64)
            for before, more in ((self.trials, np.ones(len(rewards))), (self.successes, rewards))
        ]
        return type(self)(every[first[order]], *counts)

    def scaled(self, share: float) -> Self:
        """The same actions, all counts multiplied by a factor."""
        return self._replace(trials=share * self.trials, successes=share * self.successes)

    @property
    def centre(self) -> Floats:  # (d,)
        """The mean of the actions played; zero before the first."""
        return self.trials @ self.actions / max(float(self.trials.sum()), 1e-300)

    @property
    def rate(self) -> float:
        """The share of successes, with half a success and half a failure more."""
        return (float(self.successes.sum()) + 0.5) / (float(self.trials.sum()) + 1.0)


def check_binary(reward: float) -> None:
    """Refuse a reward that is neither 0 nor 1."""
    if reward not in (0.0, 1.0):
        raise ValueError(
            f"reward must be 0 or 1 for a policy with rewards='binary', got {reward!r}: correct "
            "it, or leave that setting out if rewards have other values"
        )
