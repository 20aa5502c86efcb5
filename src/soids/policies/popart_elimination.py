"""Recover the support once, then eliminate actions phase by phase on that support alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats, Ints
from soids.designs import optimal_design
from soids.evidence import Evidence
from soids.information import Spread, greedy
from soids.policies.explore_then_commit import Explored
from soids.policies.policy import Decision, Family, Menu, Outcome, Past, Plan
from soids.policies.popart import PopArtRule


class Phase(NamedTuple):
    """One phase of elimination."""

    number: int
    support: Ints  # features it takes to matter
    alive: Bools  # (K,)  actions that may still be best
    left: Ints  # (K,)  how often each is yet to be played
    first: int  # its first round
    due: int  # how many rounds it takes
    evidence: Evidence  # of these rounds alone


@dataclass(frozen=True, kw_only=True)
class PopArtEliminationRule(PopArtRule):
    """Restricted phase elimination (Jang, Zhang, Jun 2022) on the support that Warm-PopArt finds.

    Needs the least size of a coefficient that matters, ``signal``, or the length of the
    ``exploration``; and the same actions in every round. In phase l every action that may be best
    is played by a G-optimal design until its reward is known within ``reward_bound / 2**l``; those
    worse by more than twice as much are dropped. Half of ``delta`` is for the support.
    """

    settings = "dimension exploration horizon sparsity reward_bound noise signal delta"
    share = 0.5

    signal: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration is None and self.signal is None:
            raise ValueError("exploration must be given, or else signal given")

    def _theory(self, menu: Menu, horizon: int, sparsity: int, reward_bound: float) -> float:
        """Rounds after which the pilot errs by less than the noise, and coefficients by less than
        half the signal: PopArt's thresholds on n / 2 rounds are at most
        sqrt(8 variance certainty / n).
        """
        spread = self._design(menu).value
        certainty = math.log(8 * self.dimension / self.delta)
        pilot = sparsity * menu.largest / self.noise
        variance = reward_bound**2 + self.noise**2
        return max(
            32.0 * pilot**2 * variance * spread * certainty,
            64.0 * self.noise**2 * spread * certainty / (self.signal or 0.0) ** 2,
            4 * self._shortest(),
        )

    def _committed(self, mind: Explored, past: Past, menu: Menu) -> Plan:
        if mind.samples and not menu.same(mind.samples[0].menu):
            raise ValueError(
                "actions must be the same in every round for phase elimination, these are others: "
                "PopArt accepts changing actions"
            )
        support = np.flatnonzero(self.theta(mind))
        rows = menu.actions[:, support]
        if not rows.any():
            return Plan(greedy(np.zeros(len(rows))))
        phase, turn = mind.phase, past.decisions + 1
        if phase is None or not np.array_equal(phase.support, support):
            phase = self._phase(1, support, np.ones(len(rows), dtype=bool), rows, turn)
        while phase.evidence.rounds == phase.due:
            alive = phase.alive & self._is_close(phase, rows)
            phase = self._phase(phase.number + 1, support, alive, rows, turn)
        if not phase.left.any():  # all is played, and some rewards are yet to come
            return Plan(greedy(phase.alive.astype(np.float64)), notes=phase)
        one = np.arange(len(rows)) == phase.left.argmax()
        phase = phase._replace(left=phase.left - one)
        return Plan(Spread(one.astype(np.float64)), notes=phase)

    def chosen(
        self, mind: Explored, plan: Plan, decision: Decision, uniform: float | None
    ) -> Explored:
        return mind if plan.notes is None else mind._replace(phase=plan.notes)

    def learn(self, mind: Explored, past: Past, outcomes: Sequence[Outcome]) -> Explored:
        mind, phase = super().learn(mind, past, outcomes), mind.phase
        for decision, _, reward in outcomes:
            if phase is not None and 0 <= decision.round - phase.first < phase.due:
                phase = phase._replace(evidence=phase.evidence.note(decision.action, reward))
        return mind._replace(phase=phase)

    def _phase(self, number: int, support: Ints, alive: Bools, rows: Floats, turn: int) -> Phase:
        """The phase in which those alive are told apart to half the accuracy of the last one."""
        weights, variance = essential(rows[alive])
        certainty = math.log(4.0 * len(rows) * number * (number + 1) / self.delta)
        ratio = self.noise / self._accuracy(number)
        left = np.zeros(len(rows), dtype=np.int64)
        left[alive] = np.ceil(2.0 * variance * ratio**2 * certainty * weights)
        nothing = Evidence.empty(self.dimension)
        return Phase(number, support, alive, left, turn, int(left.sum()), nothing)

    def _is_close(self, phase: Phase, rows: Floats) -> Bools:
        """Whose reward, as a phase found it, is near enough to that of the best alive."""
        seen = phase.evidence.restricted(phase.support.tolist())
        values: Floats = rows @ np.linalg.lstsq(seen.gram, seen.moment)[0]
        enough = float(values[phase.alive].max()) - 2.0 * self._accuracy(phase.number)
        return values >= enough

    def _accuracy(self, number: int) -> float:
        """How well rewards are known after a phase."""
        return self.reward_bound * 2.0**-number


PopArtElimination = Family(PopArtEliminationRule)


def essential(rows: Floats) -> tuple[Floats, float]:
    """The G-optimal design on a few actions, and the largest ``a' Q^-1 a`` that it leaves.

    The smallest masses, a thousandth in all, are dropped: each such action would cost a round.
    """
    weights = optimal_design(rows).weights.copy()
    order = np.argsort(weights)
    weights[order[np.cumsum(weights[order]) < 1e-3]] = 0.0
    weights /= weights.sum()
    inverse = np.linalg.pinv(rows.T @ (weights[:, None] * rows), hermitian=True)
    return weights, float(((rows @ inverse) * rows).sum(axis=1).max())
