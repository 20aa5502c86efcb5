"""Learners of river, whose one linear bandit has a model for each arm.

There all arms see one context, so that the features of actions cannot be told, and what was learned
of one arm is not known of another.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from soids.arrays import Floats
from soids.bench.peers import absent, decided, settled
from soids.policies.policy import Decision

try:
    from river import bandit
    from river.linear_model import BayesianLinearRegression
except ImportError:
    raise absent("river") from None

CONTEXT = {"always": 1.0}  # all that an arm learns is its own level


class LinUCBDisjoint:
    """River's own policy, one arm an action: the largest estimate plus one predictive deviation.

    Arms are rows of the menu, so that the same menu must be on offer in every round.
    """

    def __init__(self, dimension: int, *, noise: float = 1.0) -> None:
        self.precision = 1.0 / noise**2
        self.policy: Any = None  # made in the first round: it needs a seed

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        if self.policy is None:
            seed = int(rng.integers(2**31))
            self.policy = bandit.LinUCBDisjoint(beta=self.precision, seed=seed)
        index = self.policy.pull(range(len(actions)), context=CONTEXT)
        return decided(actions, index, math.nan)  # ties are broken at random

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or of a list of them."""
        for one, value in settled(decision, reward):
            self.policy.update(one.index, CONTEXT, value)


class SharedLinUCB:
    """What river does not have, made of its Bayesian regression: one model of all actions.

    The largest estimate plus ``alpha`` deviations of the mean, where noise is 1 as in coba.
    """

    def __init__(self, dimension: int, *, alpha: float = 1.0) -> None:
        self.alpha = alpha
        self.model = BayesianLinearRegression()

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        laws = [self.model.predict_one(features(a), with_dist=True) for a in actions]
        means, variances = np.array([(law.mu, law.sigma**2 - 1.0) for law in laws]).T
        upper = means + self.alpha * np.sqrt(np.maximum(variances, 0.0))
        return decided(actions, int(np.argmax(upper)), 1.0)

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or of a list of them."""
        for one, value in settled(decision, reward):
            self.model.learn_one(features(one.action), value)


def features(action: Floats) -> dict[int, float]:
    """An action as river reads it."""
    return dict(enumerate(action.tolist()))
