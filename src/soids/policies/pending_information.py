"""The information that pending rewards will bring: without it, the next choice would be the same.

As if all were Gaussian, each pending reward resolves a direction in the space of particles, and
with it a part of the variance of every action.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Menu
from soids.information import next_direction, resolved_directions, resolved_variance
from soids.policies.appraisal import Appraiser
from soids.policies.pending import Pending
from soids.records import check_arrays, check_numbers

LATEST = 200  # decisions that count when a belief is new
MOST = 400  # number of directions beyond which only the latest decisions count


class Awaited(NamedTuple):
    """What a belief expects of pending rewards, for one action set."""

    directions: Floats  # (P, M)
    last: int  # the last round that counts
    menu: Menu
    resolved: Floats  # (K,)  the variance of each action's mean reward that they resolve

    def validate(self) -> None:
        check_arrays(self, {"K": len(self.menu.actions)}, directions="P M", resolved="K")
        check_numbers(self, "resolved last", 0.0)


def awaited(
    before: Awaited | None, appraiser: Appraiser, pending: Pending, menu: Menu, rewards: Floats
) -> Awaited | None:
    """What is awaited now, from what was awaited by the same belief before; none if nothing is."""
    if before is None or len(before.directions) >= MOST:
        waiting = pending.latest(LATEST)
        if not waiting:
            return None
        # The same action counts as one direction; np.unique of rows takes ten times as long.
        times = Counter(one.action.tobytes() for one in waiting)
        counts = dict(sorted(times.items(), key=lambda one: np.frombuffer(one[0]).tolist()))
        actions = np.frombuffer(b"".join(counts)).reshape(len(counts), -1)
        found = appraiser.rewards_on(Menu(np.asfortranarray(actions)))
        variances = appraiser.variances(found) / np.array([*counts.values()])
        directions = resolved_directions(appraiser.weights, found, variances)
        resolved = resolved_variance(directions, rewards)
        return Awaited(directions, waiting[-1].round, menu, resolved)
    directions, last, known, resolved = before
    if known is not menu:
        resolved = resolved_variance(directions, rewards)
    for one in pending.since(last):
        if pending.menu(one) is menu:
            own = rewards[:, one.place]
        else:
            own = appraiser.rewards_of(one.action)
        variance = float(appraiser.variances(own[:, None])[0])
        direction = next_direction(directions, appraiser.weights, own, variance)
        directions, last = np.concatenate((directions, direction[None])), one.round
        resolved = resolved + (direction @ rewards) ** 2
    return Awaited(directions, last, menu, resolved)
