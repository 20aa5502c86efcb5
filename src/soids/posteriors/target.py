"""The optimistic posterior as arrays: prior, likelihood to the power eta, optimism."""

import math
from itertools import accumulate
from typing import NamedTuple, Self

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.kernels.gram_rows import Rows
from soids.kernels.moves.target import TargetArrays
from soids.posteriors.prior import Prior
from soids.records import check_arrays, check_numbers


class Tuning(NamedTuple):
    """What a posterior must know besides the evidence."""

    eta: float  # power of the likelihood
    rate: float  # optimism per unit of reward
    particles: int
    sweeps: int  # whenever the particles are moved
    seconds: float = math.inf  # for the moves of one update
    own_odds: Floats | None = None  # (d,)  log prior odds of each feature, besides those of size


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
    tilts: Floats  # (B,)  rate * how often each action set was on offer
    menus: tuple[Menu, ...]  # (B,)  whose best rewards are favoured
    columns: Floats  # (d, N)  actions of all sets, feature by feature
    starts: Ints  # (B + 1,)  where each set begins

    @classmethod
    def of(
        cls, evidence: Evidence, prior: Prior, eta: float, rate: float, before: Self | None = None
    ) -> Self:
        """The target of this evidence; columns that have not changed are shared with one before."""
        # Without optimism, action sets do not matter; a single one is kept for its rewards.
        menus = evidence.menus if rate > 0.0 or len(evidence.menus) == 1 else ()
        tilts = rate * evidence.offered if menus else np.empty(0)
        if before is not None and list(map(id, before.menus)) == list(map(id, menus)):
            columns, starts = before.columns, before.starts
        else:
            blocks = [np.empty((len(evidence.moment), 0)), *(menu.columns for menu in menus)]
            columns = np.hstack(blocks) if len(menus) != 1 else menus[0].columns
            starts = np.array([0, *accumulate(len(menu.actions) for menu in menus)])
        rounds = evidence.rounds
        if evidence.centred and eta * rounds > 0.0:
            rounds -= 1.0 / eta  # the integral over the intercept is a power of the noise, too
        return cls(
            prior, eta, rate, evidence.played, evidence.moment, evidence.energy, rounds,
            rate * evidence.total, tilts, menus, columns, starts,
        )  # fmt: skip

    def validate(self) -> None:
        """Refuse parts that do not fit; which target it must be, ``of`` says."""
        check_numbers(self, "eta rate energy tilts", 0.0)
        check_arrays(self, moment="d", drift="d", tilts="B", columns="d N", starts="b")

    def arrays(self, gram: Rows, columns: Floats, starts: Ints) -> TargetArrays:
        """The target for the moves; the arms (d, C) are all actions, or some of them."""
        numbers = self.prior.numbers()
        return TargetArrays(gram, self.moment, self.drift, columns, starts, self.tilts, numbers)

    def towards(self, other: Self, share: float) -> Self:
        """A target between this and another one, whose action sets it has."""
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
