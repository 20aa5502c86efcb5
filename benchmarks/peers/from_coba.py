"""Learners of coba: LinUCB and linear Thompson sampling, for noise and a prior of size 1.

They see the features of actions only: no context, and no intercept.
"""

import math
from collections.abc import Sequence

import numpy as np
from coba.learners import LinTSLearner, LinUCBLearner

from soids.policies.ledger import Ledger
from soids.policies.policy import Decision

OF_ACTIONS = ["a"]


class LinUCB:
    """The largest estimate plus ``alpha`` standard errors."""

    def __init__(self, dimension: int, *, alpha: float = 1.0) -> None:
        self.ledger = Ledger(dimension)
        self.alpha = alpha
        self.learner: LinUCBLearner | None = None

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        menu = self.ledger.offer(actions, rng)
        rows = menu.actions.tolist()
        if self.learner is None:
            self.learner = LinUCBLearner(self.alpha, OF_ACTIONS, seed=int(rng.integers(2**31)))
        chosen, probability = self.learner.predict(None, rows)
        return self.ledger.enter(menu, rows.index(chosen), probability)

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        learn(self.learner, self.ledger.settle(decision, reward))


class LinTS:
    """The best action of one parameter drawn from the posterior, its variances times ``v``."""

    def __init__(self, dimension: int, *, v: float = 1.0) -> None:
        self.ledger = Ledger(dimension)
        self.learner = LinTSLearner(v, OF_ACTIONS)
        self.learner._initialize(None, [0.0] * self.ledger.dimension)

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        menu = self.ledger.offer(actions, rng)
        rows = menu.actions.tolist()
        # Its seed only breaks ties; its draws come from default_rng(1), the same in every trial.
        self.learner._nrng = rng
        chosen, _ = self.learner.predict(None, rows)
        return self.ledger.enter(menu, rows.index(chosen), math.nan)  # it tells 1, given its draw

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        learn(self.learner, self.ledger.settle(decision, reward))


def learn(learner: LinUCBLearner | LinTSLearner, settled: Sequence[tuple[Decision, float]]) -> None:
    for decision, reward in settled:
        learner.learn(None, decision.action.tolist(), reward, decision.probability)
