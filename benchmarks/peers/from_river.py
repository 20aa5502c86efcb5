"""Learners of river, whose one linear bandit has a model for each arm.

All arms of river see one context, so that river cannot use the features of actions, and what it
learns of one arm does not help with another.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import absent, decided, settled
from soids.arrays import Floats
from soids.policies.decision import Decision

try:
    from river import bandit
    from river.linear_model import BayesianLinearRegression
except ImportError:
    raise absent("river") from None

CONTEXT = {"always": 1.0}  # an arm learns its mean reward only


class LinUCBDisjoint:
    """River's own policy, one arm an action: the largest estimate plus one predictive deviation.

    Arms are rows of the action set, so that the same set must be given in every round.
    """

    def __init__(self, dimension: int, *, noise: float = 1.0) -> None:
        self.precision = 1.0 / noise**2
        self.policy: Any = None  # made in the first round: it needs a seed

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        if self.policy is None:
            seed = int(rng.integers(2**31))
            self.policy = bandit.LinUCBDisjoint(beta=self.precision, seed=seed)
        index = self.policy.pull(range(len(actions)), context=CONTEXT)
        return decided(actions, index, math.nan)  # ties are broken at random

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        for one, value in settled(decision, reward):
            self.policy.update(one.index, CONTEXT, value)


class SharedLinUCB:
    """LinUCB with one model of all actions, built on river's Bayesian regression.

    The largest estimate plus ``alpha`` standard deviations of the mean, for noise 1 as in coba.
    """

    def __init__(self, dimension: int, *, alpha: float = 1.0) -> None:
        self.alpha = alpha
        self.model = BayesianLinearRegression()

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        laws = [self.model.predict_one(features(a), with_dist=True) for a in actions]
        means, variances = np.array([(law.mu, law.sigma**2 - 1.0) for law in laws]).T
        upper = means + self.alpha * np.sqrt(np.maximum(variances, 0.0))
        return decided(actions, int(np.argmax(upper)), 1.0)

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        for one, value in settled(decision, reward):
            self.model.learn_one(features(one.action), value)


def features(action: Floats) -> dict[int, float]:
    """An action as river reads it."""
    return dict(enumerate(action.tolist()))
