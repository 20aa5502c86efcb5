"""Thompson sampling with any of the posteriors; with a dense Gaussian one it is ``LinTS``."""

from dataclasses import dataclass

from soids.policies.policy import Family
from soids.policies.posterior_rule import PosteriorRule


@dataclass(frozen=True)
class ThompsonRule(PosteriorRule):
    """Thompson sampling: follow a draw from the plain posterior."""


Thompson = Family(ThompsonRule)
