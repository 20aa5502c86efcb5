"""The policy that knows nothing and learns nothing."""

from collections.abc import Sequence

import numpy as np

from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision


class Uniform:
    """Every action on offer with the same probability.

    >>> Uniform(2).choose(np.eye(2), np.random.default_rng(0)).probability
    0.5
    """

    memory = None

    def __init__(self, dimension: int) -> None:
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension

    __repr__ = as_called

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        count = len(menu.actions)
        return self.ledger.enter(menu, int(rng.integers(count)), 1.0 / count)

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Note the reward of a decision, or of a list of them."""
        self.ledger.settle(decision, reward)
