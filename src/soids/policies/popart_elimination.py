"""Recover the support once, then eliminate actions phase by phase on that support alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from soids.arrays import LARGEST, Bools, Floats, Ints
from soids.designs import optimal_design
from soids.evidence import Evidence
from soids.information import Spread, greedy
from soids.policies.explore_then_commit import Explored
from soids.policies.policy import Decision, Family, Menu, Outcome, Past, Plan, Waiting
from soids.policies.popart import PopArtRule
from soids.records import check_arrays, check_dimension, check_numbers


class Phase(NamedTuple):
    """One phase of elimination."""

    number: int
    support: Ints  # features it takes to matter
    alive: Bools  # (K,)  actions that may still be best
    left: Ints  # (K,)  how often each is yet to be played
    evidence: Evidence  # of its rounds alone
    pending: tuple[int, ...] = ()  # of its rounds, those whose rewards have not come

    @property
    def is_over(self) -> bool:
        """Whether all is played and every reward is there."""
        return not self.left.any() and not self.pending

    def validate(self) -> None:
        d = len(self.evidence.moment)
        sizes = check_arrays(self, support="s", alive="K", left="K")
        check_numbers(self, "support", 0, d - 1)
        check_numbers(self, "number", 1, 1000)
        check_numbers(self, "left", 0, 2**53)
        if not sizes["s"] or len(set(self.support.tolist())) < sizes["s"] or not self.alive.any():
            raise ValueError("a phase must have features, each once, and actions that are alive")

    def without(self, turn: int) -> "Phase":
        """The phase with a round that is no longer pending."""
        return self._replace(pending=tuple(one for one in self.pending if one != turn))


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
            raise ValueError("exploration must be given, or else signal")

    def check_mind(self, mind: Explored, past: Past) -> None:
        super().check_mind(mind._replace(phase=None), past)
        phase = mind.phase
        if phase is None:
            return
        if not isinstance(phase, Phase) or not mind.samples:
            raise ValueError("a phase must come after an exploration")
        check_dimension(self.dimension, phase=[len(phase.evidence.moment)])
        check_arrays(phase, {"K": len(mind.samples[0].menu.actions)}, alive="K")
        if self.noise > LARGEST * self._accuracy(phase.number):
            raise ValueError(f"the phase must be one that can be reached, got {phase.number}")

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
        phase = mind.phase
        if phase is None or not np.array_equal(phase.support, support):
            phase = self._phase(1, support, np.ones(len(rows), dtype=bool), rows)
        while phase.is_over:
            alive = phase.alive & self._is_close(phase, rows)
            phase = self._phase(phase.number + 1, support, alive, rows)
        if not phase.left.any():  # some rewards are yet to come
            return Plan(greedy(phase.alive.astype(np.float64)), notes=phase)
        return Plan(Spread(np.eye(1, len(rows), phase.left.argmax())[0]), notes=phase)

    def chosen(
        self, mind: Explored, plan: Plan, decision: Decision, uniform: float | None
    ) -> Explored:
        phase: Phase | None = plan.notes
        if phase is None:
            return mind
        place = decision.offered.place(decision.index)
        if phase.left.any() and place == phase.left.argmax():  # else a floor drew another action
            left = phase.left - (np.arange(len(phase.left)) == place)
            phase = phase._replace(left=left, pending=(*phase.pending, decision.round))
        return mind._replace(phase=phase)

    def learn(self, mind: Explored, past: Past, outcomes: Sequence[Outcome]) -> Explored:
        mind, phase = super().learn(mind, past, outcomes), mind.phase
        for decision, _, reward in outcomes:
            if phase is not None and decision.round in phase.pending:
                evidence = phase.evidence.note(decision.action, reward)
                phase = phase.without(decision.round)._replace(evidence=evidence)
        return mind._replace(phase=phase)

    def forget(self, mind: Explored, lost: Sequence[Waiting]) -> Explored:
        phase: Phase | None = mind.phase
        for decision in lost:
            if phase is not None and decision.round in phase.pending:
                left = phase.left + (np.arange(len(phase.left)) == decision.place)
                phase = phase.without(decision.round)._replace(left=left)  # it is played again
        return mind._replace(phase=phase)

    def _phase(self, number: int, support: Ints, alive: Bools, rows: Floats) -> Phase:
        """The phase in which the rewards of those alive become twice as accurate as in the last."""
        weights, variance = essential(rows[alive])
        certainty = math.log(4.0 * len(rows) * number * (number + 1) / self.delta)
        ratio = self.noise / self._accuracy(number)
        left = np.zeros(len(rows), dtype=np.int64)
        left[alive] = np.ceil(2.0 * variance * ratio**2 * certainty * weights)
        return Phase(number, support, alive, left, Evidence.empty(self.dimension))

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
