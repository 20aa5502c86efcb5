"""What all actions of a round have in common, integrated out of the evidence.

The effect beta of a context z on the rewards of all actions is no reason for any choice. With the
prior N(0, v / eta L^-1) beside the noise variance v, it is integrated out exactly by sums:

    gram - C' M^-1 C,  moment - C' M^-1 D moment,  energy - (D moment)' M^-1 D moment

D   directions  (p, d)  z = D a for every action a of a set
C   sums        (p, d)  D gram
M   inner       (p, p)  D gram D' + L
L   ridge       (p,)    p times the mean squares of z: together they explain as much as the noise
"""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence
from soids.gram import SMALL, Gram
from soids.records import check_arrays


class Common(NamedTuple):
    """The expected reward of a round, and the point from which its actions are told apart."""

    level: float  # with an intercept, the mean reward
    centre: Floats  # (d,)  and the mean action
    directions: Floats  # (p, d)
    shares: Floats  # (d, p)  what a unit of each context counts for, given the others
    effects: Floats  # (p,)  of each context, for the parameter zero

    def validate(self) -> None:
        check_arrays(self, centre="d", directions="p d", shares="d p", effects="p")

    def at(self, action: Floats) -> tuple[float, Floats]:
        """The expected reward at the point, and the point (d,), of the set that has an action."""
        context = self.directions @ (action - self.centre)
        return self.level + float(self.effects @ context), self.centre + self.shares @ context

    def rewards(self, thetas: Floats, columns: Floats) -> Floats:  # (M, K)
        """The rewards of these points under parameters (M, d), for each of the actions (d, K)."""
        rewards: Floats = (thetas @ self.centre)[:, None]
        if len(self.directions):
            contexts = self.directions @ (columns - self.centre[:, None])
            rewards = rewards + (thetas @ self.shares) @ contexts
        return rewards


def separated(evidence: Evidence, directions: Floats) -> tuple[Evidence, Common | None]:
    """The evidence without what all actions of a round have in common, and what that is.

    Contexts of more features than a whole gram is kept for stay in the evidence.
    """
    d, count = len(evidence.moment), len(directions)
    level, centre = (evidence.level, evidence.centre) if evidence.centred else (0.0, np.zeros(d))
    if not count or evidence.rounds == 0 or d > SMALL:
        none = np.empty((0, d)), np.empty((d, 0)), np.empty(0)
        return evidence, Common(level, centre, *none) if evidence.centred else None
    gram = evidence.gram
    sums, slopes = directions @ gram, directions @ evidence.moment
    inner = sums @ directions.T
    squares = np.diagonal(inner)
    ridge = count / evidence.rounds * np.where(squares > 0.0, squares, 1.0)
    both = np.column_stack([sums, slopes])
    solved: Floats = np.asarray(np.linalg.solve(inner + np.diag(ridge), both), dtype=np.float64)
    shares: Floats = solved[:, :d].T
    effects: Floats = solved[:, d]
    left = gram - shares @ sums
    rest = evidence._replace(
        played=Gram.of(0.5 * (left + left.T)),
        moment=evidence.moment - shares @ slopes,
        energy=max(evidence.energy - float(slopes @ effects), 1e-12 * evidence.energy),
    )
    return rest, Common(level, centre, directions, shares, effects)
