"""Learners of coba: LinUCB and linear Thompson sampling, for noise and a prior of size 1.

They are given the features of actions only: no context, and no intercept.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import absent, decided, settled
from soids.arrays import Floats
from soids.policies.decision import Decision

try:
    from coba.learners import LinTSLearner, LinUCBLearner
except ImportError:
    raise absent("coba") from None

OF_ACTIONS = ["a"]


class LinUCB:
    """The largest estimate plus ``alpha`` standard errors."""

    def __init__(self, dimension: int, *, alpha: float = 1.0) -> None:
        self.alpha = alpha
        self.learner: Any = None

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        rows = actions.tolist()
        if self.learner is None:
            self.learner = LinUCBLearner(self.alpha, OF_ACTIONS, seed=int(rng.integers(2**31)))
        chosen, probability = self.learner.predict(None, rows)
        return decided(actions, rows.index(chosen), probability)

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        learn(self.learner, settled(decision, reward))


class LinTS:
    """The best action of one parameter drawn from the posterior, its variances times ``v``."""

    def __init__(self, dimension: int, *, v: float = 1.0) -> None:
        self.learner = LinTSLearner(v, OF_ACTIONS)
        self.learner._initialize(None, [0.0] * dimension)

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        rows = actions.tolist()
        # Its seed only breaks ties; its draws come from default_rng(1), the same in every trial.
        self.learner._nrng = rng
        chosen, _ = self.learner.predict(None, rows)
        return decided(actions, rows.index(chosen), math.nan)  # coba says 1, given its draw

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        learn(self.learner, settled(decision, reward))


def learn(learner: LinUCBLearner | LinTSLearner, pairs: Sequence[tuple[Decision, float]]) -> None:
    """Give coba's learner the rewards of its choices."""
    for decision, reward in pairs:
        learner.learn(None, decision.action.tolist(), reward, decision.probability)
