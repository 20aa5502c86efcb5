"""Recover the support once, then eliminate actions phase by phase on that support alone."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Bools, Floats, Ints, as_count, as_number, as_share
from soids.designs import Design, optimal_design, popart_design
from soids.evidence import Evidence, Menu
from soids.information import Spread, greedy
from soids.policies.decision import Decision
from soids.policies.explore_then_commit import (
    Explored,
    ExploreThenCommit,
    Sample,
    Theory,
    planned,
)
from soids.policies.past import Outcome, Past
from soids.policies.policy import Family, Plan
from soids.policies.popart import check_length, drawn, shortest
from soids.regression.popart import warm_popart


class Phase(NamedTuple):
    """One phase of elimination."""

    number: int
    support: Ints  # features it takes to matter
    alive: Bools  # (K,)  actions that may still be best
    left: Ints  # (K,)  how often each is yet to be played
    first: int  # its first round
    due: int  # how many rounds it takes
    evidence: Evidence  # of these rounds alone


class PopArtEliminationRule(ExploreThenCommit):
    """Restricted phase elimination (Jang, Zhang, Jun 2022) on the support that Warm-PopArt finds.

    Needs the least size of a coefficient that matters, ``signal``, to know how long to explore, or
    the length of the ``exploration``; and the same actions in every round. In phase l every action
    that may be best is played by a G-optimal design until its reward is known within
    ``reward_bound / 2**l``, and those that are then worse by more than twice as much are dropped.
    Half of ``delta`` is for the support, half for the phases.
    """

    def __init__(
        self,
        dimension: int,
        *,
        reward_bound: float,
        signal: float | None = None,
        exploration: int | None = None,
        horizon: int | None = None,
        sparsity: int | None = None,
        noise: float = 1.0,
        delta: float = 0.05,
    ) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.exploration, self.horizon, self.sparsity = exploration, horizon, sparsity
        self.reward_bound = as_number(reward_bound, "reward_bound", 0.0, strict=True)
        self.signal = None if signal is None else as_number(signal, "signal", 0.0, strict=True)
        self.noise, self.delta = as_number(noise, "noise", SMALLEST), as_share(delta, "delta")
        self.plan = planned(dimension, exploration, horizon, sparsity, reward_bound, self.noise)
        if isinstance(self.plan, int):
            check_length(self.plan, shortest(dimension, 0.5 * self.delta, warm=True))
        elif signal is None:
            raise ValueError("exploration must be given, or else signal told")

    def _design(self, menu: Menu) -> Design:
        return popart_design(menu.actions)

    def _theory(self, menu: Menu, plan: Theory) -> float:
        """Rounds after which the pilot errs by less than the noise, and coefficients by less than
        half the signal.

        Both follow from the thresholds of PopArt, which are at most sqrt(8 variance certainty / n)
        on half of n rounds.
        """
        spread = self._design(menu).value
        certainty = math.log(8 * self.dimension / self.delta)
        pilot = plan.sparsity * menu.largest / plan.noise
        variance = plan.reward_bound**2 + plan.noise**2
        signal = self.signal or 0.0
        return max(
            32.0 * pilot**2 * variance * spread * certainty,
            64.0 * plan.noise**2 * spread * certainty / signal**2,
            4 * shortest(self.dimension, 0.5 * self.delta, warm=True),
        )

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        found = drawn(samples, self.dimension)
        return warm_popart(found, self.reward_bound, self.noise, 0.5 * self.delta)

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
        mind = super().chosen(mind, plan, decision, uniform)
        return mind if plan.notes is None else mind._replace(phase=plan.notes)

    def learn(self, mind: Explored, past: Past, outcomes: Sequence[Outcome]) -> Explored:
        mind, phase = super().learn(mind, past, outcomes), mind.phase
        for one in outcomes:
            if phase is not None and 0 <= one.round - phase.first < phase.due:
                phase = phase._replace(evidence=phase.evidence.note(one.action, one.reward))
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

    A thousandth of the mass is dust on actions of no use, each of which would cost a round.
    """
    weights = optimal_design(rows).weights.copy()
    order = np.argsort(weights)
    weights[order[np.cumsum(weights[order]) < 1e-3]] = 0.0
    weights /= weights.sum()
    inverse = np.linalg.pinv(rows.T @ (weights[:, None] * rows), hermitian=True)
    return weights, float(((rows @ inverse) * rows).sum(axis=1).max())
