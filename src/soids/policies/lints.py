"""Thompson sampling with a Gaussian posterior: a dense baseline, and one that knows the support."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from soids.arrays import as_count
from soids.policies.enlarging import Embedding
from soids.policies.policy import Family, Rule
from soids.policies.posterior_rule import Mind, PosteriorRule
from soids.policies.settings import assign
from soids.posteriors import Gaussian
from soids.posteriors.gaussian import as_support


@dataclass(frozen=True, kw_only=True)
class LinTSRule(PosteriorRule):
    """Linear Thompson sampling: independent Gaussian coefficients, all of which may matter. Their
    ``variance`` and the ``noise``, if not given, are estimated by empirical Bayes.
    """

    settings = "dimension noise variance particles intercept"

    posterior: str = "gaussian"
    variance: float | None = None

    @cached_property
    def model(self) -> Gaussian:
        """The posterior itself; no radius bounds it."""
        return Gaussian(
            self.dimension, radius=math.inf, noise=self.noise, slab_variance=self.variance,
            empirical=self.variance is None, support=getattr(self, "support", None),
        )  # fmt: skip


@dataclass(frozen=True)
class OracleThompsonRule(LinTSRule):
    """``LinTS`` that knows which features matter, the columns in ``support``: a lower bound on the
    regret of policies that do not.
    """

    settings = "dimension support noise variance particles intercept"

    support: Sequence[int] = field(kw_only=False)

    def __post_init__(self) -> None:
        assign(self, support=as_support(self.support, as_count(self.dimension, "dimension")))
        super().__post_init__()

    def enlarged(self, mind: Mind, embedding: Embedding) -> Mind:
        return Rule.enlarged(self, mind, embedding)  # the features that matter are others


LinTS = Family(LinTSRule)
OracleThompson = Family(OracleThompsonRule)
