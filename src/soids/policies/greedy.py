"""Policies that trust the lasso."""

from collections.abc import Sequence

import numpy as np

from soids.arrays import SMALLEST, as_number
from soids.information import greedy
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision
from soids.regression.lasso import lasso, lasso_penalty


class Greedy:
    """What the lasso thinks best in every round: no exploration but that of ties.

    The penalty is that of ESTC, ``4 noise sqrt(log d / t)`` for actions in [-1, 1]^d.

    >>> policy, rng = Greedy(2, noise=0.1), np.random.default_rng(0)
    >>> for _ in range(50):
    ...     decision = policy.choose(np.eye(2), rng)
    ...     policy.observe(decision, reward=float(decision.index))
    >>> decision.index
    1
    """

    memory = None

    def __init__(self, dimension: int, *, noise: float = 1.0) -> None:
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension
        self.noise = as_number(noise, "noise", SMALLEST)

    __repr__ = as_called

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu, evidence = self.ledger.offer(actions, rng), self.ledger.evidence
        size = max((old.largest for old in evidence.menus), default=menu.largest)
        penalty = lasso_penalty(evidence.rounds, self.dimension, self.noise, size)
        mixture = greedy(menu.actions @ lasso(evidence, penalty))
        index = mixture.draw(rng.random())
        return self.ledger.enter(menu, index, mixture.probability(index))

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        self.ledger.settle(decision, reward)
