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
    contribution: float  # its share of the expected reward, or of the log odds; above the level


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
    runner_up: int | None = None  # index of the other action with the largest expected reward
    contrast: tuple[Feature, ...] = ()  # what features add to the difference from it, by size

    def __str__(self) -> str:
        return self.sentence


def explain(decision: Decision, appraiser: Appraiser, names: Sequence[str]) -> Explanation:
    """Explain a decision; ``names`` (d,) are those of the features."""
    action, place = decision.action, decision.offered.place(decision.index)
    particles = appraiser.belief.particles()
    rewards = appraiser.rewards_on(decision.menu)
    regret, gains = appraiser.appraise(rewards)
    least, cost = float(regret.min()), float(regret[place])
    means = particles.weights @ rewards
    base, deviations = appraiser.deviation(action)
    expected = base + float(means[place])
    gain = float(gains[place]) / appraiser.noise**2
    variance = 2.0 * half_variance(rewards[:, [place]], particles.weights)
    deviation = math.sqrt(float(variance[0]))
    features = contributions(deviations, particles.mean(), particles.inclusion())
    named = ", ".join(
        f"{names[column]} ({part:+.3g}, matters with probability {inclusion:.2f})"
        for column, inclusion, part in largest(features)
    )
    level, source = "", "the expected reward comes"
    if appraiser.definition.in_nats:
        source = "its log odds, compared with those of the mean action, come"
    elif appraiser.common is not None:
        level = f"the mean reward ({base:.3g}) and "
    costs = "exploiting: no action has less expected regret"
    if cost > least:
        costs = f"exploring: {cost - least:.3g} more regret than the safest action"
    sentence = (
        f"Action {label(decision, decision.index)}, chosen with probability "
        f"{decision.probability:.2f}, has an expected reward of {expected:.3g} +- "
        f"{deviation:.2g} and an information gain of {gain:.2g} nats; {costs}; {source} "
        f"mostly from {level}{named or 'no feature'}."
    )
    runner_up, contrast = None, tuple[Feature, ...]()
    if len(means) > 1:
        other = int(np.where(np.arange(len(means)) == place, -np.inf, means).argmax())
        runner_up = decision.offered.index(other)
        difference = action - decision.menu.actions[other]
        contrast = contributions(difference, particles.mean(), particles.inclusion())
        ahead, its_gain = float(means[place] - means[other]), float(gains[other])
        compared = (
            f" It was chosen rather than action {label(decision, runner_up)}, which is expected to "
            f"earn {against(ahead, contrast, names)}"
        )
        if ahead < 0.0:
            compared += f", and has an information gain of {its_gain / appraiser.noise**2:.2g} nats"
        sentence += f"{compared}."
    if decision.info.effective < FEW:
        sentence += (
            f" The belief holds {decision.info.effective:.1f} different particles, which is too "
            "few: give a larger budget_ms."
        )
    known = expected, deviation, cost, least, gain, features, base, runner_up, contrast
    return Explanation(sentence, cost > least, *known)


def label(decision: Decision, index: int) -> str:
    """What an action is called: its name, or else its index."""
    return decision.offered.name(index) or str(index)


def largest(features: tuple[Feature, ...]) -> list[Feature]:
    """The features that are named in a sentence, of those in order of their contributions."""
    return [
        one
        for one in features[:MOST_NAMED]
        if abs(one.contribution) >= LEAST_NAMED * abs(features[0].contribution)
    ]


def against(ahead: float, contrast: tuple[Feature, ...], names: Sequence[str]) -> str:
    """How much less or more a runner-up earns than the chosen action, the features to blame, and
    the largest contribution to the contrary.
    """
    sign = 1.0 if ahead > 0.0 else -1.0
    for_it = tuple(one for one in contrast if one.contribution * sign > 0.0)
    if ahead == 0.0 or not for_it:
        return "as much"
    more, less = ("less", "more") if ahead > 0.0 else ("more", "less")
    reasons = [f"{names[column]} ({abs(part):.3g})" for column, _, part in largest(for_it)]
    contrary = [one for one in largest(contrast) if one not in for_it][:1]
    but = [f", although {names[j]} makes it {abs(part):.3g} {less}" for j, _, part in contrary]
    return f"{abs(ahead):.3g} {more}, because of {', '.join(reasons)}{''.join(but)}"


def contributions(action: Floats, theta: Floats, inclusion: Floats) -> tuple[Feature, ...]:
    """The contributions of features to the expected reward of an action, the largest first."""
    parts = action * theta
    order = np.argsort(-np.abs(parts), kind="stable")
    return tuple(
        Feature(int(j), float(inclusion[j]), float(parts[j])) for j in order if parts[j] != 0.0
    )
