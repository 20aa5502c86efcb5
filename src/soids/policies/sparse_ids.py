"""Sparse information directed sampling, without optimism."""

from dataclasses import dataclass

from soids.policies.policy import Family
from soids.policies.posterior_rule import PosteriorRule


@dataclass(frozen=True, kw_only=True)
class SparseIDSRule(PosteriorRule):
    """Sparse IDS (Hao, Lattimore, Deng 2021): plain posterior, least information ratio."""

    minimises_ratio = True
    bounded_ratios = (2, 3)
    gain: str = "conditional"


SparseIDS = Family(SparseIDSRule)
