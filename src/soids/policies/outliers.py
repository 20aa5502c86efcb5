"""Rewards that cannot be true if the beliefs so far are."""

import math
import warnings
from collections.abc import Sequence

import numpy as np

from soids.evidence import Evidence
from soids.gram import ROUNDING
from soids.policies.past import Outcome
from soids.posteriors import Belief
from soids.regression.common import Common

FAR = 1000.0  # standard deviations of a reward, given the beliefs
FEW = 5  # rewards that say too little of the scale of the next one


def warn_of_outlier(
    belief: Belief, believed: Evidence, common: Common | None, outcomes: Sequence[Outcome]
) -> bool:
    """Whether a reward is far from all that was believed possible, with a warning of the first.

    Rewards that were all equal so far, such as the zeros before a first sale, say nothing of the
    scale of the next one. If earlier rewards were as large, one of them led the beliefs astray.
    """
    about_zero = believed.rounds * believed.level**2
    apart = believed.energy - (0.0 if believed.centred else about_zero)
    if believed.rounds < FEW or apart <= ROUNDING * (believed.energy + about_zero):
        return False
    size = math.sqrt(believed.energy / believed.rounds)
    base = believed.level if believed.centred else 0.0
    for decision, _, reward in outcomes:
        if abs(reward - base) <= size:
            continue
        thetas, _, weights = belief.particles()
        level, origin = (0.0, 0.0) if common is None else common.at(decision.action)
        means = thetas @ (decision.action - origin)
        mean = float(weights @ means)
        error, noise = abs(reward - level - mean), belief.noise()
        if error <= FAR * noise:
            continue
        deviation = math.hypot(noise, math.sqrt(float(weights @ np.square(means - mean))))
        if (surprise := error / deviation) > FAR:
            warnings.warn(
                f"the reward of round {decision.round}, {reward:g}, is {surprise:.2g} standard "
                "deviations from what was believed: check the reward, or give a larger noise; such "
                "rewards decide all later beliefs (this is said once)",
                RuntimeWarning, stacklevel=5,
            )  # fmt: skip
            return True
    return False
