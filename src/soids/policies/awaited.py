"""The information that rewards under way will bring, so that a policy that chooses again before it
has learned does not choose the same.

As if all were Gaussian, each awaited reward resolves a direction in the space of particles, and
with it a part of the variance of every action. New decisions add directions to those of the same
belief; they cost little, however many wait.
"""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Menu
from soids.information import next_direction, resolved_directions, resolved_variance
from soids.policies.pending import Pending, Waiting
from soids.posteriors import Belief

LATEST = 200  # decisions that are reckoned with when a belief is new
MOST = 400  # directions, beyond which the latest decisions are taken anew


class Awaited(NamedTuple):
    """What a belief expects of rewards under way, for one action set."""

    directions: Floats  # (P, M)
    last: int  # the last round that is reckoned with
    menu: Menu
    resolved: Floats  # (K,)  the variance of each action's mean reward that they resolve


def awaited(
    before: Awaited | None, belief: Belief, pending: Pending, menu: Menu, rewards: Floats
) -> Awaited | None:
    """What is awaited now, from what was awaited by the same belief before; none if nothing is."""
    if before is None or len(before.directions) >= MOST:
        waiting = pending.latest(LATEST)
        if not waiting:
            return None
        directions = found_at_once(belief, waiting)
        resolved = resolved_variance(directions, rewards)
        return Awaited(directions, waiting[-1].round, menu, resolved)
    directions, last, known, resolved = before
    if known is not menu:
        resolved = resolved_variance(directions, rewards)
    weights, variance = belief.particles().weights, belief.noise() ** 2
    for one in pending.since(last):
        own = rewards_of(one, belief, pending, menu, rewards)
        direction = next_direction(directions, weights, own, variance)
        directions, last = np.vstack([directions, direction]), one.round
        resolved = resolved + (direction @ rewards) ** 2
    return Awaited(directions, last, menu, resolved)


def found_at_once(belief: Belief, waiting: list[Waiting]) -> Floats:  # (P, M)
    """The directions of several decisions; those of the same action count as one."""
    actions, counts = np.unique([one.action for one in waiting], axis=0, return_counts=True)
    rewards = belief.rewards_on(Menu(np.asfortranarray(actions)))
    return resolved_directions(belief.particles().weights, rewards, belief.noise() ** 2 / counts)


def rewards_of(
    one: Waiting, belief: Belief, pending: Pending, menu: Menu, rewards: Floats
) -> Floats:  # (M,)
    """The rewards that particles expect of a waiting decision."""
    if pending.menu(one) is menu:
        return rewards[:, one.place]
    return belief.particles().thetas @ one.action
