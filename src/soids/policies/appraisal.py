"""Regret and information gain of actions under a belief, by each of the definitions of gain."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from soids import information
from soids.arrays import Floats, Ints
from soids.evidence import Menu
from soids.posteriors import Belief
from soids.posteriors.logistic import Clicks
from soids.regression.common import Common

TOGETHER = 20_000  # largest number of actions of other contexts that are evaluated at once

# Regret and gain (N,) from the rewards (M, N) of weighted parameters, and where action sets start.
Appraisal = Callable[[Floats, Floats, Ints | None], tuple[Floats, Floats]]


def appraise_conditionally(
    rewards: Floats, weights: Floats, starts: Ints | None = None
) -> tuple[Floats, Floats]:
    """Regret and Hao et al.'s gain of every action, one action set at a time."""
    if starts is None:
        gain = information.half_explained_variance(rewards, weights)
        return information.shortfall(rewards, weights), gain
    menus = (rewards[:, first:last] for first, last in pairwise(starts))
    regrets, gains = zip(*(appraise_conditionally(menu, weights) for menu in menus), strict=True)
    return np.concatenate(regrets), np.concatenate(gains)


def appraise_rates(
    rates: Floats, weights: Floats, starts: Ints | None = None
) -> tuple[Floats, Floats]:
    """Regret of every action, and the nats that a reward of 0 or 1 tells of its rate."""
    regret, _ = information.appraise(rates, weights, starts)
    return regret, information.nats_of_rates(rates, weights)


class Gain(NamedTuple):
    """A definition of the information gain."""

    appraisal: Appraisal
    noisy: bool = False  # whether the gain is capped by what a noisy reward can carry
    of_variance: bool = True  # whether it is half the variance of the mean reward
    in_nats: bool = False  # rather than in squared rewards, which are 0 or 1


GAINS = {
    "full": Gain(information.appraise),
    "conditional": Gain(appraise_conditionally, of_variance=False),
    "shannon": Gain(information.appraise, noisy=True),
}
OF_RATES = Gain(appraise_rates, of_variance=False, in_nats=True)


class Appraiser(NamedTuple):
    """Regret and gain under a belief, given the decisions that wait for rewards."""

    belief: Belief
    weights: Floats  # (M,)
    noise: float
    definition: Gain
    common: Common | None = None  # what is expected of all actions of a set alike
    directions: Floats | None = None  # (P, M)  what pending rewards will resolve

    @classmethod
    def of(cls, belief: Belief, definition: Gain, common: Common | None = None) -> Self:
        known = belief, belief.particles().weights, belief.noise()
        if isinstance(belief, Clicks):
            return cls(*known, OF_RATES)
        return cls(*known, definition, common)

    def rewards_on(self, menu: Menu) -> Floats:  # (M, K)
        """The rewards of the actions under every particle, above what all have in common."""
        rewards = self.belief.rewards_on(menu)
        if self.common is None:
            return rewards
        return rewards - self.common.rewards(self.belief.particles().thetas, menu.columns)

    def deviation(self, action: Floats) -> tuple[float, Floats]:
        """What is expected of all actions alike, and how the action (d,) differs from them."""
        if isinstance(self.belief, Clicks):
            return 0.0, action - self.belief.centre
        if self.common is None:
            return 0.0, action
        level, point = self.common.at(action)
        return level, action - point

    def rewards_of(self, action: Floats) -> Floats:  # (M,)
        """The rewards of one action, above what all actions of its set have in common."""
        if isinstance(self.belief, Clicks):
            return self.belief.rewards_of(action)
        return self.belief.particles().thetas @ self.deviation(action)[1]

    def variances(self, rewards: Floats) -> Floats:  # (P,)
        """The noise variance of a reward of each action, from their rewards (M, P)."""
        if not self.definition.in_nats:
            return np.full(rewards.shape[1], self.noise**2)
        rates = self.weights @ rewards
        return np.asarray(rates * (1.0 - rates))

    def appraise(
        self, rewards: Floats, starts: Ints | None = None, resolved: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Regret and gain (N,) of actions from their rewards (M, N), for several action sets if
        ``starts`` separates them; ``resolved`` is computed unless it is given.
        """
        regret, gain = self.definition.appraisal(rewards, self.weights, starts)
        if self.definition.in_nats:
            gain *= self.noise**2
        if self.directions is not None:
            if resolved is None:
                resolved = information.resolved_variance(self.directions, rewards)
            whole = gain
            if not self.definition.of_variance:
                whole = information.half_variance(rewards, self.weights)
            gain = gain * information.share_left(resolved, whole)
        if self.definition.noisy:
            gain = information.through_noise(gain, self.noise)
        return regret, gain

    def elsewhere(self, recent: Sequence[Menu]) -> tuple[tuple[Floats, Floats], ...]:
        """Regret and gain in other contexts, in turn."""
        different = list({id(menu): menu for menu in recent}.values())
        few, known = sum(len(menu.actions) for menu in different) <= TOGETHER, {}
        for group in [different] if few and different else [[menu] for menu in different]:
            every = group[0]
            if len(group) > 1:
                every = Menu(np.vstack([menu.actions for menu in group]))
            starts = np.cumsum([0, *(len(menu.actions) for menu in group)])
            regret, gain = self.appraise(self.rewards_on(every), starts)
            for menu, (first, last) in zip(group, pairwise(starts), strict=True):
                known[id(menu)] = regret[first:last], gain[first:last]
        return tuple(known[id(menu)] for menu in recent)
