"""The policy that takes the best action by the lasso, in every round."""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.information import greedy
from soids.policies.past import Past
from soids.policies.policy import Family, Plan, Rule
from soids.regression.lasso import lasso, lasso_penalty


class Estimated(NamedTuple):
    """A lasso estimate, and the evidence that it was made from."""

    theta: Floats  # (d,)
    evidence: Evidence


@dataclass(frozen=True)
class GreedyRule(Rule[Estimated | None]):
    """The action that the lasso expects most of, in every round: it explores among ties only.

    The penalty is that of ESTC, ``4 noise sqrt(log d / t)`` for actions in [-1, 1]^d.

    >>> policy, rng = Greedy(2, noise=0.1), np.random.default_rng(0)
    >>> for _ in range(50):
    ...     decision = policy.choose(np.eye(2), rng)
    ...     policy.observe(decision, reward=float(decision.index))
    >>> decision.index
    1
    """

    dimension: int
    _: KW_ONLY
    noise: float = 1.0

    def think(
        self, mind: Estimated | None, past: Past, menu: Menu | None, rng: np.random.Generator
    ) -> Estimated:
        evidence = past.evidence
        if mind is not None and mind.evidence is evidence:
            return mind
        if not evidence.rounds:
            return Estimated(np.zeros(self.dimension), evidence)
        size = max((old.largest for old in evidence.menus), default=1.0)
        penalty = lasso_penalty(evidence.rounds, self.dimension, self.noise, size)
        return Estimated(lasso(evidence, penalty), evidence)

    def law(self, mind: Estimated | None, past: Past, menu: Menu) -> Plan:
        assert mind is not None  # it has thought
        return Plan(greedy(menu.actions @ mind.theta))


Greedy = Family(GreedyRule)
