"""The optimistic posterior as arrays: prior, likelihood to the power eta, optimism."""

import math
import operator
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.kernels.gram_rows import Rows
from soids.kernels.moves.target import TargetArrays
from soids.posteriors.prior import Prior


class Tuning(NamedTuple):
    """What is asked of a posterior besides its evidence."""

    eta: float  # power of the likelihood
    rate: float  # optimism per unit of reward
    particles: int
    sweeps: int  # whenever the particles are moved
    seconds: float = math.inf  # for the moves of one update


class Target(NamedTuple):
    """log prior - eta / (2 noise) |y - X theta|^2 + sum tilt max <theta, a> - <theta, drift>."""

    prior: Prior
    eta: float
    rate: float
    gram: Gram
    moment: Floats  # (d,)
    energy: float
    rounds: float
    drift: Floats  # (d,)  rate * sum of the actions played
    tilts: Floats  # (B,)  rate * how often each menu was on offer
    menus: tuple[Menu, ...]  # (B,)  whose best rewards are favoured
    columns: Floats  # (d, N)  actions of all menus, feature by feature
    starts: Ints  # (B + 1,)  where each menu begins

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        prior: Prior,
        eta: float,
        rate: float,
        before: "Target | None" = None,
    ) -> "Target":
        """The target that evidence, likelihood power and optimism per unit of reward define.

        One from before lends its columns, if they are still the same.
        """
        # Without optimism menus do not matter; a single one is kept, as its rewards are asked for.
        menus = evidence.menus if rate > 0.0 or len(evidence.menus) == 1 else ()
        tilts = rate * evidence.offered if menus else np.empty(0)
        if before is not None and are_the_same(before.menus, menus):
            columns, starts = before.columns, before.starts
        else:
            columns = beside(menus, len(evidence.moment))
            starts = np.array([0, *accumulate(len(menu.actions) for menu in menus)])
        return cls(
            prior, eta, rate, evidence.played, evidence.moment, evidence.energy, evidence.rounds,
            rate * evidence.total, tilts, menus, columns, starts,
        )  # fmt: skip

    def arrays(self, gram: Rows, columns: Floats, starts: Ints) -> TargetArrays:
        """What the moves need; the arms (d, C) are all actions, or some."""
        return TargetArrays(
            gram, self.moment, self.drift, columns, starts, self.tilts, self.prior.numbers()
        )

    def towards(self, other: "Target", share: float) -> "Target":
        """A target on the way to another one; menus that the other has forgotten go at once."""
        own = {id(menu): tilt for menu, tilt in zip(self.menus, self.tilts, strict=True)}
        tilts = np.array([own.get(id(menu), 0.0) for menu in other.menus], dtype=np.float64)
        keep = 1.0 - share
        return other._replace(
            gram=self.gram.towards(other.gram, share),
            moment=keep * self.moment + share * other.moment,
            energy=keep * self.energy + share * other.energy,
            rounds=keep * self.rounds + share * other.rounds,
            drift=keep * self.drift + share * other.drift,
            tilts=keep * tilts + share * other.tilts,
        )


def beside(menus: tuple[Menu, ...], dimension: int) -> Floats:  # (d, N)
    """The actions of all menus side by side."""
    if len(menus) == 1:
        return menus[0].columns
    return np.hstack([np.empty((dimension, 0)), *(menu.columns for menu in menus)])


def are_the_same(menus: tuple[Menu, ...], others: tuple[Menu, ...]) -> bool:
    """Whether two tuples hold the same objects, as they do after a file was read, too."""
    return len(menus) == len(others) and all(map(operator.is_, menus, others))
