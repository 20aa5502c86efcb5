"""What a policy decided and what came of it: the half that all policies share."""

import inspect
import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from soids.arrays import Table, as_count, as_generator, as_number, as_table, copied, is_immutable
from soids.evidence import SETS, Evidence, Menu
from soids.policies.policy import SILENT, Decision, Information


class Ledger:
    """Evidence so far, and the decisions that wait for their reward."""

    def __init__(self, dimension: int, sets: int = SETS, discount: float = 1.0) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.evidence = Evidence.empty(self.dimension, sets)
        self.discount = discount  # what a round is worth after one more
        self.menu: Menu | None = None  # last on offer
        self.decisions = 0
        self.pending: dict[int, Decision] = {}  # by round
        self._shown: tuple[object, Menu] | None = None  # actions that can never change, their menu

    def offer(self, actions: object, rng: object) -> Menu:
        """The menu with these actions, checked; the one already known, if any: its arrays are
        ready. Whatever can have changed since is compared number by number.
        """
        as_generator(rng)
        if self._shown is not None and actions is self._shown[0]:
            return self._shown[1]
        menu = self._find(as_table(actions, self.dimension))
        self._shown = (actions, menu) if is_immutable(actions) else None
        return menu

    def _find(self, table: Table) -> Menu:
        if self.menu is not None and self.menu.shows(table):
            return self.menu
        menu = Menu(copied(table, "F"))
        return next((known for known in self.evidence.menus if known.same(menu)), menu)

    def enter(
        self, menu: Menu, index: int, probability: float, info: Information = SILENT
    ) -> Decision:
        """Record a choice, which waits for its reward from now on."""
        self.menu = menu
        self.decisions += 1
        decision = Decision(int(index), float(probability), self.decisions, info, menu)
        self.pending[self.decisions] = decision
        return decision

    def settle(
        self, decision: Decision | Sequence[Decision], reward: object
    ) -> list[tuple[Decision, float]]:
        """Add the reward of a decision, or of a list of them, to the evidence: all or none.

        Returns what was settled, for those who keep more than evidence.
        """
        decisions, rewards = [decision], [reward]
        if isinstance(decision, list | tuple):
            if not isinstance(reward, list | tuple | np.ndarray) or np.ndim(reward) == 0:
                raise ValueError(
                    f"reward must be a list beside a list of decisions, got {reward!r}"
                )
            decisions, rewards = list(decision), list(reward)
        if len(decisions) != len(rewards):
            raise ValueError(
                f"reward must hold one number a decision ({len(decisions)}), got {len(rewards)}"
            )
        evidence, settled = self.evidence, dict[int, tuple[Decision, float]]()
        one: Any
        for one, given in zip(decisions, rewards, strict=True):
            self.check_own(one)
            if one.round in settled:
                raise ValueError(f"decision of round {one.round} is listed twice: list it once")
            mine, value = self._waiting(one), as_reward(given, one.round)
            if self.discount < 1.0:
                evidence = evidence.faded(self.discount)
            evidence = evidence.add(mine.menu, mine.action, value, one.round)
            settled[one.round] = mine, value
        self.evidence = evidence
        for turn in settled:
            del self.pending[turn]
        return list(settled.values())

    def check_own(self, decision: object) -> None:
        """Refuse what no choice of this policy can have returned."""
        if not isinstance(decision, Decision):
            raise ValueError(f"decision must be what choose returned, got {decision!r}")
        dimension = decision.menu.actions.shape[1]
        if dimension != self.dimension:
            raise ValueError(f"decision must be for dimension {self.dimension}, got {dimension}")
        if not 1 <= decision.round <= self.decisions:
            made = self.decisions
            raise ValueError(
                f"decision must be one of the {made} this policy made, got round {decision.round}: "
                "observe it with the policy that chose"
            )

    def _waiting(self, decision: Decision) -> Decision:
        """The pending decision that this one is a copy of."""
        if decision.round not in self.pending:
            raise ValueError(
                f"decision of round {decision.round} has its reward already, or was given up: "
                "observe it once"
            )
        mine = self.pending[decision.round]
        if decision is mine:
            return mine
        theirs, own = ((one.index, one.probability, *one.info) for one in (decision, mine))
        is_copy = np.array_equal(theirs, own, equal_nan=True) and decision.menu.same(mine.menu)
        if not is_copy:
            raise ValueError(
                f"decision must be this policy's own, got another one for round {decision.round}"
            )
        return mine


def as_reward(reward: object, turn: int) -> float:
    """A reward, checked; of many, the round tells which is wrong."""
    try:
        return as_number(reward, "reward")
    except ValueError as error:
        is_lost = isinstance(reward, float) and math.isnan(reward)
        remedy = ": leave a reward out that was lost" if is_lost else ""
        raise ValueError(f"{error}, in round {turn}{remedy}") from None


class KeptPolicy(Protocol):
    """A policy that keeps a ledger, and in its memory all else that it has learned."""

    ledger: Ledger
    memory: Any  # a record, or None

    def choose(self, actions: object, rng: np.random.Generator) -> Decision: ...

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None: ...


def settings_of(policy: KeptPolicy) -> dict[str, Any]:
    """The arguments that build the policy anew; each is kept under its own name."""
    return {name: getattr(policy, name) for name in inspect.signature(type(policy)).parameters}


def as_called(policy: KeptPolicy) -> str:
    """The call that builds the policy anew, for its ``repr``."""
    settings = ", ".join(f"{name}={value!r}" for name, value in settings_of(policy).items())
    return f"{type(policy).__name__}({settings})"
