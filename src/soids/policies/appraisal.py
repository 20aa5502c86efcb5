"""What every action costs and teaches, as a belief has it: the ways to count a lesson."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Menu
from soids.information import (
    appraise,
    half_explained_variance,
    left_to_learn,
    shortfall,
    through_noise,
)
from soids.policies.policy import Decision
from soids.posteriors import Belief

AWAITED = 200  # decisions without a reward, the last of which are reckoned with
TOGETHER = 20_000  # actions of other contexts that are rated at once, if there are no more


class Appraisal(Protocol):
    """Regret and gain (N,) from the rewards (M, N) of weighted parameters."""

    def __call__(
        self, rewards: Floats, weights: Floats, starts: Ints | None = None
    ) -> tuple[Floats, Floats]: ...


def appraise_conditionally(
    rewards: Floats, weights: Floats, starts: Ints | None = None
) -> tuple[Floats, Floats]:
    """Regret and Hao et al.'s gain of every action, menu by menu where there are several."""
    if starts is None:
        return shortfall(rewards, weights), half_explained_variance(rewards, weights)
    menus = (rewards[:, first:last] for first, last in pairwise(starts))
    regrets, gains = zip(*(appraise_conditionally(menu, weights) for menu in menus), strict=True)
    return np.concatenate(regrets), np.concatenate(gains)


class Lesson(NamedTuple):
    """A way to count what an action teaches."""

    appraisal: Appraisal
    noisy: bool = False  # whether no more is counted than a noisy reward can tell


GAINS = {
    "full": Lesson(appraise),
    "conditional": Lesson(appraise_conditionally),
    "shannon": Lesson(appraise, noisy=True),
}


class Appraiser(NamedTuple):
    """Rates actions by a belief, beside what was chosen and not yet answered.

    Without the latter, a policy that chooses again before it has learned would choose the same.
    """

    belief: Belief
    weights: Floats  # (M,)
    noise: float
    lesson: Lesson
    awaited: Floats  # (M, P)  rewards of actions that wait for their answer
    variances: Floats  # (P,)  of the noise of these answers

    @classmethod
    def of(cls, belief: Belief, lesson: Lesson, pending: Iterable[Decision]) -> Self:
        """By a belief, beside decisions that wait for their answer."""
        weights, noise = belief.particles().weights, belief.noise()
        awaited, variances = np.empty((len(weights), 0)), np.empty(0)
        waiting = [one.action for one in list(pending)[-AWAITED:]]
        if waiting:
            actions, counts = np.unique(waiting, axis=0, return_counts=True)
            awaited = belief.rewards_on(Menu(np.asfortranarray(actions)))
            variances = noise**2 / counts
        return cls(belief, weights, noise, lesson, awaited, variances)

    def appraise(self, rewards: Floats, starts: Ints | None = None) -> tuple[Floats, Floats]:
        """Regret and gain (N,) of actions by their rewards (M, N), menu by menu if there are
        several.
        """
        regret, gain = self.lesson.appraisal(rewards, self.weights, starts)
        if self.variances.size:
            gain = gain * left_to_learn(rewards, self.weights, self.awaited, self.variances)
        if self.lesson.noisy:
            gain = through_noise(gain, self.noise)
        return regret, gain

    def elsewhere(self, recent: Sequence[Menu]) -> tuple[tuple[Floats, Floats], ...]:
        """Regret and gain in other contexts, in turn."""
        menus = {id(menu): menu for menu in recent}  # mostly all differ, or all are one
        if not menus:
            return ()
        different, known = list(menus.values()), {}
        few = sum(len(menu.actions) for menu in different) <= TOGETHER
        for group in [different] if few else [[menu] for menu in different]:
            every = group[0]
            if len(group) > 1:
                every = Menu(np.vstack([menu.actions for menu in group]))
            starts = np.cumsum([0, *(len(menu.actions) for menu in group)])
            regret, gain = self.appraise(self.belief.rewards_on(every), starts)
            for menu, (first, last) in zip(group, pairwise(starts), strict=True):
                known[id(menu)] = regret[first:last], gain[first:last]
        return tuple(known[id(menu)] for menu in recent)
