"""Learners of bayesianbandits: Gaussian Thompson sampling and information directed sampling.

All arms share one linear model of the features of the action. The agent draws from the generator
that it is given; it does not say with which probability it chose.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers import absent, decided, settled
from soids.arrays import Floats
from soids.policies.decision import Decision

try:
    from bayesianbandits import (
        Arm,
        EmpiricalBayesNormalRegressor,
        FunctionArmFeaturizer,
        InformationDirectedSampling,
        LipschitzContextualAgent,
        NormalRegressor,
        ThompsonSampling,
    )
except ImportError:
    raise absent("bayesianbandits") from None

NO_CONTEXT = np.zeros((1, 0))


class SharedModel:
    """One linear model of all actions, explored by a policy of the peer.

    ``precision`` is that of the prior. Empirical Bayes takes it and the noise as starting values.
    """

    def __init__(
        self,
        dimension: int,
        explorer: ThompsonSampling | InformationDirectedSampling,
        *,
        noise: float,
        precision: float,
        empirical_bayes: bool,
    ) -> None:
        model = EmpiricalBayesNormalRegressor if empirical_bayes else NormalRegressor
        self.explorer = explorer
        self.learner = model(alpha=precision, beta=1.0 / noise**2)
        self.actions: Floats | None = None  # of the last round
        self.agent: Any = None

    def choose(self, actions: Floats, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d)."""
        if actions is not self.actions:
            self.actions, self.agent = actions, self._agent(actions)
        self.agent.rng = rng
        return decided(actions, self.agent.pull(NO_CONTEXT)[0], math.nan)

    def observe(
        self, decision: Decision | Sequence[Decision], reward: float | Sequence[float]
    ) -> None:
        """Learn from the reward of a decision, or from a list of each."""
        for one, value in settled(decision, reward):
            self.learner.partial_fit(one.action[None, :], np.array([value]))

    def _agent(self, actions: Floats) -> LipschitzContextualAgent[int]:
        columns = FunctionArmFeaturizer(lambda _, tokens: actions[tokens].T[None, :, :])
        arms = [Arm(token, learner=None) for token in range(len(actions))]
        return LipschitzContextualAgent(arms, self.explorer, columns, self.learner)


class Thompson(SharedModel):
    """The best action of one parameter drawn from the posterior."""

    def __init__(
        self,
        dimension: int,
        *,
        noise: float = 1.0,
        precision: float = 1.0,
        empirical_bayes: bool = True,
    ) -> None:
        super().__init__(
            dimension,
            ThompsonSampling(),
            noise=noise,
            precision=precision,
            empirical_bayes=empirical_bayes,
        )


class IDS(SharedModel):
    """The least squared regret per information about which action is best, over many draws."""

    def __init__(
        self,
        dimension: int,
        *,
        noise: float = 1.0,
        precision: float = 1.0,
        empirical_bayes: bool = True,
        draws: int = 1000,
    ) -> None:
        super().__init__(
            dimension,
            InformationDirectedSampling(samples=draws),
            noise=noise,
            precision=precision,
            empirical_bayes=empirical_bayes,
        )
