"""The policy that takes the best action by the lasso, in every round."""

from dataclasses import dataclass

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.policies.lasso_shared import LassoRule
from soids.policies.policy import Family
from soids.regression.lasso import hao_lasso


@dataclass(frozen=True, kw_only=True)
class GreedyRule(LassoRule):
    """The action that the lasso expects most of, in every round: it explores among ties only.

    The penalty is that of ESTC, ``4 noise sqrt(log d / t)`` for actions in [-1, 1]^d. The scaled
    lasso estimates the ``noise`` if it is not given.
    """

    least = 0

    noise: float | None = None
    intercept: bool = True  # whether rewards may have a base level of any size

    @property
    def given(self) -> float | None:
        return self.noise

    def _estimate(self, evidence: Evidence, start: Floats, penalty: float) -> tuple[Floats, Floats]:
        size = max((old.largest for old in evidence.menus), default=1.0)
        theta = hao_lasso(evidence, penalty, size)
        return theta, theta


Greedy = Family(GreedyRule)
