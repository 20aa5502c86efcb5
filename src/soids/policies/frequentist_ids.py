"""Frequentist information directed sampling: the information ratio of a confidence set."""

from dataclasses import dataclass

import numpy as np

from soids.arrays import Floats
from soids.information import minimise_ratio
from soids.policies.linucb import Bounds, EllipsoidRule
from soids.policies.policy import Family, Information, Menu, Past, Plan
from soids.regression.ridge import Ellipsoid
from soids.spelling import check_choice


@dataclass(frozen=True, kw_only=True)
class FrequentistIDSRule(EllipsoidRule[None]):
    """The information ratio of a confidence set (Kirschner & Krause 2018), minimised exactly.

    Regret is the most that an action can fall short of the best inside the ellipsoid. The gain is
    the information about the parameter (``"full"``), or about the optimistic action's reward alone
    (``"directed"``).
    """

    minds = (type(None),)

    gain: str = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.gain, "gain", ("full", "directed"))

    def law(self, mind: None, past: Past, menu: Menu) -> Plan:
        ellipsoid = self.ellipsoid(past.evidence)
        bounds = Bounds.on(ellipsoid, menu)
        is_full, regret = self.gain == "full", bounds.regret
        gain = bounds.gain if is_full else directed_gain(ellipsoid, bounds, menu)
        mixture = minimise_ratio(regret, gain)
        return Plan(mixture, Information.of(mixture.mean(regret), mixture.mean(gain), self.noise))


FrequentistIDS = Family(FrequentistIDSRule)


def directed_gain(ellipsoid: Ellipsoid, bounds: Bounds, menu: Menu) -> Floats:  # (K,)
    """The information gain of each action about the optimistic action's reward, in nats.

    Half the log of the factor by which a rank-one update of the precision shrinks its variance.
    """
    optimistic = int(bounds.upper.argmax())
    if bounds.lengths[optimistic] == 0.0:
        return np.zeros(len(menu.actions))
    rows = ellipsoid.whitened(menu.actions)
    shared = rows @ rows[optimistic] / bounds.lengths[optimistic]
    gain: Floats = -0.5 * np.log1p(-(shared**2) / (1.0 + bounds.lengths**2))
    return gain
