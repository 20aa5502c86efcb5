"""The policy that knows nothing and learns nothing."""

from dataclasses import dataclass

from soids.information import Even
from soids.policies.enlarging import Embedding
from soids.policies.policy import Family, Menu, Past, Plan, Rule


@dataclass(frozen=True)
class UniformRule(Rule[None]):
    """Every action on offer with the same probability.

    >>> import numpy as np
    >>> Uniform(2).choose(np.eye(2), np.random.default_rng(0)).probability
    0.5
    """

    minds = (type(None),)

    dimension: int

    def enlarged(self, mind: None, embedding: Embedding) -> None:
        return None

    def law(self, mind: None, past: Past, menu: Menu) -> Plan:
        return Plan(Even(len(menu.actions)))


Uniform = Family(UniformRule)
