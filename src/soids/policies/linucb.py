"""LinUCB: optimism over an ellipsoid that holds the parameter; other policies use the ellipsoid."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.information import TwoPoint
from soids.kernels.inverse_norms import lengths_of
from soids.policies.enlarging import Embedding
from soids.policies.policy import Decision, Family, Information, Menu, Past, Plan, Rule
from soids.policies.prediction import Coefficients, Prediction
from soids.records import check_arrays, check_dimension, check_numbers
from soids.regression.ridge import Ellipsoid, ridge, self_normalised_radius

Mind = TypeVar("Mind")

SLACK = 1.0 + 1e-9  # what rounding may do to a length


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


@dataclass(frozen=True, kw_only=True)
class EllipsoidRule(Rule[Mind]):
    """A rule that holds the ellipsoid of Abbasi-Yadkori, Pal, Szepesvari (2011)."""

    dimension: int = field(kw_only=False)
    noise: float = 1.0
    norm: float | None = None  # a bound on the parameter's l2 norm
    ridge: float = 1.0
    delta: float = 0.01  # probability that the ellipsoid ever fails to hold the parameter
    alpha: float | None = None  # a fixed radius, for which no norm is needed
    intercept: bool = True  # whether rewards may have a base level of any size

    def __post_init__(self) -> None:
        if self.norm is None and self.alpha is None:
            raise ValueError(
                "norm must be given (a bound on the parameter's l2 norm), or alpha (a fixed "
                "radius), got neither"
            )
        if self.norm is not None and self.alpha is not None:
            raise ValueError(
                f"norm must be left out beside a fixed radius alpha, got {self.norm!r}"
            )
        super().__post_init__()

    def ellipsoid(self, evidence: Evidence) -> Ellipsoid:
        """Where the parameter may be, by all rewards so far."""
        centre, factor = ridge(evidence, self.ridge)
        known = self.ridge, self.noise, self.norm or 0.0, self.delta
        radius = self.alpha
        if radius is None:
            radius = self_normalised_radius(factor, *known)
        return Ellipsoid(centre, factor, radius, evidence.centre if evidence.centred else None)

    def enlarged(self, mind: Mind, embedding: Embedding) -> Mind:
        return self.start()

    def coefficients(self, mind: Mind, past: Past) -> Coefficients:
        ellipsoid = self.ellipsoid(past.evidence)._replace(origin=None)
        sd = self.noise * ellipsoid.lengths(np.eye(self.dimension))
        return Coefficients.of(ellipsoid.centre, sd)

    def predict(self, mind: Mind, past: Past, menu: Menu) -> Prediction:
        ellipsoid = self.ellipsoid(past.evidence)
        mean = Coefficients.of(ellipsoid.centre).reward_on(menu, past.evidence)
        squares = ellipsoid.lengths(menu.actions) ** 2 + level_square(past.evidence)
        return Prediction(mean, self.noise * np.sqrt(squares))


class Bounded(NamedTuple):
    """The last action set, and bounds on the lengths of its actions."""

    menu: Menu
    lengths: Floats  # (K,)
    centred: bool  # whether the model had an intercept, without which lengths are shorter

    def validate(self) -> None:
        check_arrays(self, {"K": len(self.menu.actions)}, lengths="K")
        check_numbers(self, "lengths", 0.0)


@dataclass(frozen=True)
class LinUCBRule(EllipsoidRule[Bounded | None]):
    """Optimism over the ellipsoid: LinUCB, or OFUL.

    Until an intercept enters lengths only shrink, and from then on, too. So those of earlier rounds
    are bounds, and few have to be found anew.
    """

    minds = (Bounded, type(None))

    def check_mind(self, mind: Bounded | None, past: Past) -> None:
        if mind is not None:
            check_dimension(self.dimension, mind=[mind.menu.actions.shape[1]])

    def law(self, mind: Bounded | None, past: Past, menu: Menu) -> Plan:
        ellipsoid = self.ellipsoid(past.evidence)
        centred, level = past.evidence.centred, level_square(past.evidence)
        if mind is None or mind.menu is not menu or mind.centred != centred:
            bounds = ellipsoid.lengths(menu.actions)
            bounds = SLACK * (np.sqrt(bounds**2 + level) if centred else bounds)
        else:
            bounds = mind.lengths.copy()
        index, length = most_optimistic(ellipsoid, menu, bounds, level)
        regret, gain = 2.0 * ellipsoid.radius * length, 0.5 * math.log1p(length**2)
        info = Information.of(regret, gain, self.noise)
        return Plan(TwoPoint(index, index, 0.0, info.ratio), info, Bounded(menu, bounds, centred))

    def chosen(self, mind: Any, plan: Plan, decision: Decision, uniform: float | None) -> Any:
        return plan.notes


LinUCB = Family(LinUCBRule)


def level_square(evidence: Evidence) -> float:
    """The squared length of what the mean reward leaves unknown of an intercept: 0 without one."""
    return 1.0 / max(1.0, evidence.rounds) if evidence.centred else 0.0


def most_optimistic(
    ellipsoid: Ellipsoid, menu: Menu, bounds: Floats, level: float = 0.0
) -> tuple[int, float]:
    """The action with the largest upper bound, and its length; lowers the ``bounds`` (K,) on all
    lengths where one was found. ``level`` is added to the square of each length.

    The length of an action is computed only if no length known so far rules the action out.
    """
    actions = ellipsoid.deviations(menu.actions)
    middle: Floats = actions @ ellipsoid.centre
    upper = middle + ellipsoid.radius * bounds
    lengths = np.full(len(upper), np.nan)
    count = 1
    while math.isnan(lengths[index := int(upper.argmax())]):
        count = min(4 * count, len(upper))
        likely = upper.argpartition(-count)[-count:]
        lengths[likely] = lengths_of(likely, actions, ellipsoid.factor)
        if level > 0.0:
            lengths[likely] = np.sqrt(lengths[likely] ** 2 + level)
        upper[likely] = middle[likely] + ellipsoid.radius * lengths[likely]
        bounds[likely] = SLACK * lengths[likely]
    return index, float(lengths[index])
