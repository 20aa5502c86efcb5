"""Why an action was chosen, in numbers and in one sentence."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.information import half_variance
from soids.policies.appraisal import Appraiser
from soids.policies.decision import Decision

MOST_NAMED = 3  # features in the sentence, at most
LEAST_NAMED = 0.01  # smaller contributions, relative to the largest, are not named
FEW = 10.0  # fewer different particles than this make a policy overconfident


class Feature(NamedTuple):
    """The contribution of one feature to an action's expected reward."""

    column: int
    inclusion: float  # probability that it matters
    contribution: float  # its share of the expected reward; with an intercept, above the level


class Explanation(NamedTuple):
    """What a policy believes of an action it chose."""

    sentence: str
    exploring: bool  # whether another action has less expected regret
    reward: float  # expected
    deviation: float  # standard deviation of that expectation
    regret: float  # expected, against the best action of each plausible parameter
    regret_of_safest: float  # the least regret of any action
    gain: float  # expected information gain in nats
    features: tuple[Feature, ...]  # by size of contribution
    level: float = 0.0  # of the expected reward, what belongs to no feature: the mean reward

    def __str__(self) -> str:
        return self.sentence


def explain(
    decision: Decision, appraiser: Appraiser, names: Sequence[str] | None = None
) -> Explanation:
    """Explain a decision; ``names`` (d,) are those of the features."""
    action, place = decision.action, decision.offered.place(decision.index)
    if names is None:
        names = [f"feature {column}" for column in range(len(action))]
    if isinstance(names, str) or not hasattr(names, "__len__"):
        raise ValueError(f"names must be a list of {len(action)} names of features, got {names!r}")
    if len(names) != len(action):
        raise ValueError(f"names must be one for each of {len(action)} features, got {len(names)}")
    particles = appraiser.belief.particles()
    rewards = appraiser.rewards_on(decision.menu)
    regret, gains = appraiser.appraise(rewards)
    least, cost = float(regret.min()), float(regret[place])
    base, deviations = appraiser.deviation(action)
    expected = base + float((particles.weights @ rewards)[place])
    gain = float(gains[place]) / appraiser.noise**2
    variance = 2.0 * half_variance(rewards[:, [place]], particles.weights)
    deviation = math.sqrt(float(variance[0]))
    features = contributions(deviations, particles.mean(), particles.inclusion())
    named = ", ".join(
        f"{names[column]} ({part:+.3g}, matters with probability {inclusion:.2f})"
        for column, inclusion, part in features[:MOST_NAMED]
        if abs(part) >= LEAST_NAMED * abs(features[0].contribution)
    )
    level = "" if appraiser.common is None else f"the mean reward ({base:.3g}) and "
    costs = "exploiting: no action has less expected regret"
    if cost > least:
        costs = f"exploring: {cost - least:.3g} more regret than the safest action"
    sentence = (
        f"Action {decision.index}, chosen with probability {decision.probability:.2f}, has an "
        f"expected reward of {expected:.3g} +- {deviation:.2g} and an information gain of "
        f"{gain:.2g} nats; {costs}; the expected reward comes mostly from "
        f"{level}{named or 'no feature'}."
    )
    if decision.info.effective < FEW:
        sentence += (
            f" The belief holds {decision.info.effective:.1f} different particles, which is too "
            "few: give a larger budget_ms."
        )
    known = expected, deviation, cost, least, gain, features, base
    return Explanation(sentence, cost > least, *known)


def contributions(action: Floats, theta: Floats, inclusion: Floats) -> tuple[Feature, ...]:
    """The contributions of features to the expected reward of an action, the largest first."""
    parts = action * theta
    order = np.argsort(-np.abs(parts), kind="stable")
    return tuple(
        Feature(int(j), float(inclusion[j]), float(parts[j])) for j in order if parts[j] != 0.0
    )
