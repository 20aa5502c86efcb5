"""The decisions of a policy and their rewards: the half of its state that all rules share."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Table, as_count, as_number, copied
from soids.evidence import Evidence, Menu
from soids.policies.decision import Decision, Offered
from soids.policies.pending import Pending, Waiting
from soids.records import check_dimension, check_numbers
from soids.regression.level import level_is_due, level_shows
from soids.tally import check_binary

Decided = Decision | Waiting
KINDS = (Decision, Waiting)  # faster to look up than their union


class Outcome(NamedTuple):
    """A decision and its reward."""

    decision: Waiting
    menu: Menu | None  # its action set, if it is still kept
    reward: float


class Past(NamedTuple):
    """The evidence so far, and the decisions that wait for their rewards."""

    evidence: Evidence
    pending: Pending
    menu: Menu | None = None  # last on offer
    decisions: int = 0
    features: tuple[str, ...] | None = None  # (d,)  their names, once a data frame had them

    @classmethod
    def empty(cls, dimension: int, sets: int) -> "Past":
        return cls(Evidence.empty(as_count(dimension, "dimension"), sets), Pending())

    def validate(self) -> None:
        """Refuse parts that belong to no one policy."""
        menus = [one.menu for one in self.pending.shared.values()]
        menus += [] if self.menu is None else [self.menu]
        check_dimension(
            len(self.evidence.moment), menu=(menu.actions.shape[1] for menu in menus),
            pending=(len(one.action) for one in self.pending),
            features=() if self.features is None else [len(self.features)],
        )  # fmt: skip
        last = max((one.round for one in self.pending), default=0)
        check_numbers(self, "decisions", last, 2**53)

    def find(self, table: Table) -> Menu:
        """The action set of a table, checked: the same object as before, if it is known."""
        if self.menu is not None and self.menu.shows(table):
            return self.menu
        menu, known = Menu(copied(table, "F")), self.evidence.menus
        alike = [one for one in known if one.fingerprint == menu.fingerprint]
        return next((one for one in alike if one.same(menu)), menu)

    def after(self, offered: Offered, index: int, probability: float, whole_sets: bool) -> "Past":
        """The past with one more decision, whose reward is pending."""
        turn, evidence = self.decisions + 1, self.evidence
        is_known = offered.menu in evidence.menus
        room = math.inf if whole_sets else evidence.sets
        pending = self.pending.add(turn, index, probability, offered, is_known, room)
        features = offered.names.features or self.features
        return Past(evidence, pending, offered.menu, turn, features)

    def settled(
        self, decision: Decided | Sequence[Decided], reward: Any, discount: float, intercept: bool
    ) -> tuple["Past", list[Outcome]]:
        """The past with the reward of a decision, or of a list of them, in the evidence."""
        decisions, rewards = listed(decision), reward
        if decisions is not decision:
            rewards = [reward]
        elif not isinstance(reward, list | tuple | np.ndarray) or np.ndim(reward) == 0:
            raise ValueError(f"reward must be a list beside a list of decisions, got {reward!r}")
        if len(decisions) != len(rewards):
            raise ValueError(
                f"reward must hold one number a decision ({len(decisions)}), got {len(rewards)}"
            )
        evidence, outcomes = self.evidence, list[Outcome]()
        for (waiting, menu), given in zip(self._waiting(decisions), rewards, strict=True):
            value = as_reward(given, waiting.round, evidence)
            if discount < 1.0:
                evidence = evidence.faded(discount)
            evidence = evidence.add(menu, waiting.action, value, waiting.round)
            outcomes.append(Outcome(waiting, menu, value))
        evidence = self._levelled(evidence, intercept)
        pending = self.pending.without([one.decision.round for one in outcomes])
        return self._replace(evidence=evidence, pending=pending), outcomes

    def with_others(self, outcomes: Sequence[Outcome], discount: float, intercept: bool) -> "Past":
        """The past with rounds of others, which follow it, and their rewards in the evidence."""
        evidence = self.evidence
        if discount < 1.0:
            for one, menu, reward in outcomes:
                evidence = evidence.faded(discount).add(menu, one.action, reward, one.round)
        else:
            actions = np.array([one.action for one, _, _ in outcomes])
            evidence = evidence.note_all(actions, np.array([reward for *_, reward in outcomes]))
            for one, menu, _ in outcomes:
                evidence = evidence.offering(menu, one.round)
        last, menu, _ = outcomes[-1]
        evidence = self._levelled(evidence, intercept)
        return self._replace(evidence=evidence, menu=menu, decisions=last.round)

    def without(self, decision: Decided | Sequence[Decided]) -> tuple["Past", list[Waiting]]:
        """The past without a pending decision, or a list of them, whose rewards will never come."""
        lost = [waiting for waiting, _ in self._waiting(listed(decision))]
        return self._replace(pending=self.pending.without([one.round for one in lost])), lost

    def check_own(self, decision: object) -> None:
        """Refuse what no choice of this policy can have returned."""
        if not isinstance(decision, KINDS):
            raise ValueError(f"decision must be what choose returned, got {decision!r}")
        dimension = len(self.evidence.moment)
        given = decision.dimension if isinstance(decision, Decision) else len(decision.action)
        if given != dimension:
            raise ValueError(f"decision must be for dimension {dimension}, got {given}")
        if not 1 <= decision.round <= self.decisions:
            raise ValueError(
                f"decision must be one of the {self.decisions} this policy made, got round "
                f"{decision.round}: observe it with the policy that chose"
            )

    def _levelled(self, evidence: Evidence, intercept: bool) -> Evidence:
        """The evidence for a model with an intercept, if it newly shows that rewards have one."""
        if intercept and level_is_due(self.evidence, evidence) and level_shows(evidence):
            return evidence.about_means()
        return evidence

    def _waiting(self, decisions: Sequence[Any]) -> Iterator[tuple[Waiting, Menu | None]]:
        """The pending decisions that these are copies of, and their action sets, if at hand."""
        seen = set[int]()
        for one in decisions:
            self.check_own(one)
            if one.round in seen:
                raise ValueError(f"decision of round {one.round} is listed twice: list it once")
            seen.add(one.round)
            if one.round not in self.pending:
                raise ValueError(
                    f"decision of round {one.round} has its reward already, or was given up: "
                    "observe or forget it once"
                )
            mine = self.pending[one.round]
            menu = self.pending.menu(mine)
            theirs: Any = one.menu if isinstance(one, Decision) else menu
            is_copy = one.index == mine.index and one.probability == mine.probability
            if is_copy and (menu is None or theirs is not menu):
                is_copy = menu is None or menu.same(theirs)
                is_copy = is_copy and np.array_equal(one.action, mine.action)
            if not is_copy:
                raise ValueError(
                    f"decision must be this policy's own, got another one for round {one.round}"
                )
            yield mine, menu or theirs


def listed(decision: Any) -> Sequence[Any]:
    """A list of decisions, also of one alone."""
    return decision if isinstance(decision, list | tuple) else [decision]


def as_reward(reward: object, turn: int, evidence: Evidence) -> float:
    """A reward, checked, True as 1; of many, the round tells which is wrong."""
    try:
        is_flag = isinstance(reward, bool | np.bool_)
        value = float(reward) if is_flag else as_number(reward, "reward")  # type: ignore[arg-type]
        if evidence.tally is not None:
            check_binary(value)
        return value
    except ValueError as error:
        is_lost = isinstance(reward, float) and math.isnan(reward)
        remedy = ": leave a reward out that was lost" if is_lost else ""
        raise ValueError(f"{error}, in round {turn}{remedy}") from None
