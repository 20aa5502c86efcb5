"""Thompson sampling with a Gaussian posterior: the dense baseline, and the floor."""

import math
from collections.abc import Sequence

from soids.arrays import SMALLEST, as_count, as_number
from soids.information import Mixture
from soids.policies.policy import Family
from soids.policies.posterior_rule import Outlook, PosteriorRule, follow_draw
from soids.posteriors import Gaussian
from soids.posteriors.gaussian import as_support


def gaussian(
    dimension: int,
    noise: float | None,
    variance: float | None,
    support: tuple[int, ...] | None = None,
) -> Gaussian:
    """The posterior of these policies; no radius bounds it."""
    if variance is not None:
        as_number(variance, "variance", SMALLEST)
    return Gaussian(
        dimension,
        radius=math.inf,
        noise=noise,
        slab_variance=variance,
        empirical=variance is None,
        support=support,
    )


class LinTSRule(PosteriorRule):
    """Linear Thompson sampling: independent Gaussian coefficients, all of which may matter.

    What is not given is estimated: the ``variance`` of coefficients by empirical Bayes, the
    ``noise`` along with it.
    """

    optimistic = False
    bounded_ratios = (2,)

    def __init__(
        self,
        dimension: int,
        *,
        noise: float | None = None,
        variance: float | None = None,
        particles: int = 100,
    ) -> None:
        posterior = gaussian(dimension, noise, variance)
        super().__init__(dimension, posterior=posterior, particles=particles)
        self.noise, self.variance = noise, variance

    def _mixture(self, outlook: Outlook) -> Mixture:
        return follow_draw(outlook)


class OracleThompsonRule(PosteriorRule):
    """Thompson sampling that knows which features matter: a lower bound for all that do not.

    ``support`` lists the columns of the actions that matter; the rest is as for ``LinTS``.
    """

    optimistic = False
    bounded_ratios = (2,)

    def __init__(
        self,
        dimension: int,
        support: Sequence[int],
        *,
        noise: float | None = None,
        variance: float | None = None,
        particles: int = 100,
    ) -> None:
        self.support = as_support(support, as_count(dimension, "dimension"))
        posterior = gaussian(dimension, noise, variance, self.support)
        super().__init__(dimension, posterior=posterior, particles=particles)
        self.noise, self.variance = noise, variance

    def _mixture(self, outlook: Outlook) -> Mixture:
        return follow_draw(outlook)


LinTS = Family(LinTSRule)
OracleThompson = Family(OracleThompsonRule)
