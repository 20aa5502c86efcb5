"""Feel-Good Thompson Sampling: Thompson sampling from an optimistic posterior."""

from dataclasses import dataclass

from soids.policies.coverage import RICH
from soids.policies.posterior_rule import PosteriorRule
from soids.policies.soids import Optimistic


@dataclass(frozen=True)
class FGTSRule(PosteriorRule):
    """Feel-Good Thompson Sampling (Zhang 2022): follow a draw from the optimistic posterior."""

    optimistic = True
    proven = RICH  # its 3-ratio has no bound


FGTS = Optimistic(FGTSRule)
