"""The optimistic posterior as arrays: prior, likelihood to the power eta, optimism."""

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Evidence
from soids.gram import Gram
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
    columns: Floats  # (d, N)  actions of all menus, feature by feature
    starts: Ints  # (B + 1,)  where each menu begins

    @classmethod
    def of(cls, evidence: Evidence, prior: Prior, eta: float, rate: float) -> "Target":
        """The target that evidence, likelihood power and optimism per unit of reward define."""
        menus = evidence.menus
        if len(menus) == 1:
            columns = menus[0].columns
        else:
            columns = np.hstack([np.empty((len(evidence.moment), 0)), *(m.columns for m in menus)])
        return cls(
            prior, eta, rate, evidence.played, evidence.moment, evidence.energy, evidence.rounds,
            rate * evidence.total, rate * np.array(evidence.counts, dtype=np.float64),
            columns, np.array([0, *accumulate(len(menu.actions) for menu in menus)]),
        )  # fmt: skip

    def towards(self, other: "Target", share: float) -> "Target":
        """A target on the way to another one that knows at least as many menus."""
        tilts = np.zeros_like(other.tilts)
        tilts[: len(self.tilts)] = self.tilts
        keep = 1.0 - share
        return other._replace(
            gram=self.gram.towards(other.gram, share),
            moment=keep * self.moment + share * other.moment,
            energy=keep * self.energy + share * other.energy,
            rounds=keep * self.rounds + share * other.rounds,
            drift=keep * self.drift + share * other.drift,
            tilts=keep * tilts + share * other.tilts,
        )
