"""Acting on an ellipsoid that holds the parameter: what LinUCB and frequentist IDS share."""

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.policies.policy import Menu, Rule
from soids.regression.ridge import Ellipsoid, ridge, self_normalised_radius

Mind = TypeVar("Mind")


class Bounds(NamedTuple):
    """What an ellipsoid says of the actions on offer, (K,) each."""

    lengths: Floats
    upper: Floats  # the largest mean reward of any parameter inside
    regret: Floats  # the most that an action can fall short of the best
    gain: Floats  # the information about the parameter, in nats, that a ridge regression gains

    @classmethod
    def on(cls, ellipsoid: Ellipsoid, menu: Menu) -> "Bounds":
        middle, lengths = menu.actions @ ellipsoid.centre, ellipsoid.lengths(menu.actions)
        reach = ellipsoid.radius * lengths
        upper = middle + reach
        return cls(lengths, upper, upper.max() - (middle - reach), 0.5 * np.log1p(lengths**2))


@dataclass(frozen=True)
class EllipsoidRule(Rule[Mind]):
    """A rule that holds the ellipsoid of Abbasi-Yadkori, Pal, Szepesvari (2011).

    ``norm`` bounds the parameter's l2 norm; ``delta`` is the probability that the ellipsoid ever
    fails. With ``alpha`` the radius is that number at all times, and neither is needed.
    """

    dimension: int
    _: KW_ONLY
    noise: float = 1.0
    norm: float | None = None
    ridge: float = 1.0
    delta: float = 0.01
    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.norm is None and self.alpha is None:
            raise ValueError(
                "norm must be given (a bound on the parameter's l2 norm), or alpha (a fixed radius)"
                ", got neither"
            )
        if self.norm is not None and self.alpha is not None:
            raise ValueError(
                f"norm must be left out beside a fixed radius alpha, got {self.norm!r}"
            )
        super().__post_init__()

    def ellipsoid(self, evidence: Evidence) -> Ellipsoid:
        """Where the parameter may be, by all rewards so far."""
        centre, factor = ridge(evidence, self.ridge)
        if self.alpha is not None:
            return Ellipsoid(centre, factor, self.alpha)
        known = self.ridge, self.noise, self.norm or 0.0, self.delta
        return Ellipsoid(centre, factor, self_normalised_radius(factor, *known))
