"""One sparse parameter for each arm, and two estimates of it: two published policies.

The papers have one context x for all arms, and arm k earns ``<x, beta_k>``. Actions (K, d) say it
in one of two ways:

- disjoint (``arms`` is given): d is ``arms`` times the size of x, and an action is x in its arm's
  block and zero elsewhere. Each arm has a regression on its own block.
- stacked (``arms`` is left out): arm k is row k, and the context of all arms is all rows, one after
  the other, K times d numbers, as Kim & Paik and Oh et al. compare policies with arm-specific
  features. Rows that are not on offer count as zeros.

Penalties are the ``alpha`` of scikit-learn, beside half the mean square; no intercept is fitted.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Bools, Floats, Ints, as_count, as_number
from soids.evidence import Evidence, Menu
from soids.information import Spread, greedy
from soids.policies.decision import Decision
from soids.policies.floor import Floored
from soids.policies.past import Outcome, Past
from soids.policies.policy import Family, Plan, Rule
from soids.regression.lasso import Inner, Products, lasso
from soids.regression.mcp import two_step_mcp


class Stack(NamedTuple):
    """Contexts that are all actions on offer, and their rewards."""

    menus: tuple[Menu, ...] = ()
    rewards: tuple[float, ...] = ()

    def sums(self) -> tuple[Products, Floats]:
        """The gram and the moment of the contexts."""
        width = max(menu.actions.size for menu in self.menus)
        table = np.zeros((len(self.menus), width))
        for row, menu in zip(table, self.menus, strict=True):
            row[: menu.actions.size] = menu.actions.ravel()
        return Inner(table), np.array(self.rewards) @ table


class Sampled(NamedTuple):
    """What was seen of an arm in some rounds, and the estimate of its parameter."""

    past: Evidence | Stack
    theta: Floats  # (p,)

    @property
    def rounds(self) -> float:
        return len(self.past.rewards) if isinstance(self.past, Stack) else self.past.rounds


class Arm(NamedTuple):
    """What is known of one arm."""

    forced: Sampled  # from rounds in which it did not matter what was known
    whole: Sampled  # from all rounds


class Known(NamedTuple):
    """What a policy holds beyond its ledger."""

    arms: tuple[Arm, ...] = ()
    explored: tuple[int, ...] = ()  # rounds left to chance whose reward has not come


class PerArmRule(Rule[Known]):
    """Keep to the arms that look best by forced samples alone, within half the ``slack``, and of
    these take the best by all samples; a rule adds when to force, and how to estimate.
    """

    needs_sets = True

    def __init__(
        self,
        dimension: int,
        *,
        arms: int | None,
        slack: float,
        forced_penalty: float,
        penalty: float,
    ) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.arms = None if arms is None else as_arms(arms, self.dimension)
        self.slack = as_number(slack, "slack", 0.0)
        self.forced_penalty = as_number(forced_penalty, "forced_penalty", SMALLEST)
        self.penalty = as_number(penalty, "penalty", SMALLEST)

    @property
    def takes_exclusions(self) -> bool:
        """Whether actions may be excluded: stacked arms are known by their rows."""
        return self.arms is not None

    def start(self) -> Known:
        return Known()

    def learn(self, mind: Known, past: Past, outcomes: Sequence[Outcome]) -> Known:
        known = list(mind.arms)
        fresh: dict[int, bool] = {}  # arms with new samples, and whether some were forced
        for one in outcomes:
            assert one.menu is not None  # a rule that needs action sets gets them
            arm = int(self._arms_of(one.menu)[one.place])
            known += [self._unknown() for _ in range(len(known), arm + 1)]
            forced = self._was_forced(mind, one.round, arm, self._count(one.menu))
            fresh[arm] = fresh.get(arm, False) or forced
            known[arm] = self._with(known[arm], one, one.menu, arm, forced)
        for arm, forced in fresh.items():
            known[arm] = self._refitted(known[arm], forced, past.evidence.rounds)
        explored = tuple(turn for turn in mind.explored if turn in past.pending)
        return Known(tuple(known), explored)

    def _unknown(self) -> Arm:
        size = 0 if self.arms is None else self.dimension // self.arms
        nothing = Stack() if self.arms is None else Evidence.empty(size)
        return Arm(*(Sampled(nothing, np.zeros(size)) for _ in range(2)))

    def _with(self, arm: Arm, one: Outcome, menu: Menu, number: int, forced: bool) -> Arm:
        """An arm after one more reward, its estimates as they were."""

        def noted(sampled: Sampled) -> Sampled:
            past = sampled.past
            if isinstance(past, Stack):
                past = Stack((*past.menus, menu), (*past.rewards, one.reward))
            else:
                past = past.note(self._block(one.action, number), one.reward)
            return sampled._replace(past=past)

        return Arm(noted(arm.forced) if forced else arm.forced, noted(arm.whole))

    def _refitted(self, arm: Arm, forced: bool, t: float) -> Arm:
        size = self.dimension
        if isinstance(arm.whole.past, Stack):
            size *= max(len(menu.actions) for menu in arm.whole.past.menus)
        else:
            size //= self.arms or 1
        decay = math.sqrt((math.log(t) + math.log(size)) / t)
        whole = self._fitted(arm.whole, self.penalty * decay)
        return Arm(self._fitted(arm.forced, self.forced_penalty) if forced else arm.forced, whole)

    def _fitted(self, sampled: Sampled, penalty: float) -> Sampled:
        past = sampled.past
        gram, moment = past.sums() if isinstance(past, Stack) else (past.played, past.moment)
        start = padded(sampled.theta, len(moment))
        theta = self._regress(gram, moment, sampled.rounds, penalty, start)
        return sampled._replace(theta=theta)

    def _preferred(self, mind: Known, menu: Menu) -> Floats:  # (K,)
        """The law of the choice when nothing is forced."""
        arms = self._arms_of(menu)
        rough = self._scores(menu, arms, [arm.forced for arm in mind.arms])
        fine = self._scores(menu, arms, [arm.whole for arm in mind.arms])
        fine[rough < rough.max() - 0.5 * self.slack] = -np.inf
        return greedy(fine).masses

    def _scores(self, menu: Menu, arms: Ints, estimates: list[Sampled]) -> Floats:  # (K,)
        """The reward that each action is expected to earn; zero if nothing is known of its arm."""
        scores = np.zeros(len(arms))
        context = menu.actions.ravel() if self.arms is None else None
        for k, arm in enumerate(arms):
            if arm < len(estimates):
                theta = estimates[arm].theta
                if context is None:
                    scores[k] = self._block(menu.actions[k], int(arm)) @ theta
                else:
                    both = min(len(theta), len(context))
                    scores[k] = context[:both] @ theta[:both]
        return scores

    def _block(self, action: Floats, arm: int) -> Floats:  # (p,)
        size = self.dimension // (self.arms or 1)
        return action[arm * size : (arm + 1) * size]

    def _arms_of(self, menu: Menu) -> Ints:  # (K,)
        """The arm of each action."""
        if self.arms is None:
            return np.arange(len(menu.actions))
        return disjoint_arms(menu.actions, self.arms)

    def _count(self, menu: Menu) -> int:
        return len(menu.actions) if self.arms is None else self.arms

    def _was_forced(self, mind: Known, turn: int, arm: int, count: int) -> bool:
        """Whether an arm was played in a round without regard to what was known."""
        raise NotImplementedError

    def _regress(
        self, gram: Products, moment: Floats, rounds: float, penalty: float, start: Floats
    ) -> Floats:
        """The estimate (p,) of an arm's parameter."""
        raise NotImplementedError


class LassoBanditRule(PerArmRule):
    """The lasso bandit (Bastani & Bayati 2020): forced samples at times fixed in advance.

    Arm i of K (from 0) is forced in the q rounds after ``(2^m - 1) K q + q i``, m = 0, 1, ..., with
    q = ``forced``. The penalty on all samples is ``penalty * sqrt((log t + log p) / t)`` for
    regressions on p features.
    """

    learns_from_others = False

    def __init__(
        self,
        dimension: int,
        *,
        arms: int | None = None,
        forced: int = 1,
        slack: float = 5.0,
        forced_penalty: float = 0.05,
        penalty: float = 0.05,
    ) -> None:
        super().__init__(
            dimension, arms=arms, slack=slack, forced_penalty=forced_penalty, penalty=penalty
        )
        self.forced = as_count(forced, "forced")

    def law(self, mind: Known, past: Past, menu: Menu) -> Plan:
        due = forced_arm(past.decisions + 1, self._count(menu), self.forced)
        is_due: Bools = self._arms_of(menu) == due
        if due is not None and is_due.any():
            return Plan(Spread(is_due / is_due.sum()))
        return Plan(Spread(self._preferred(mind, menu)))

    def _was_forced(self, mind: Known, turn: int, arm: int, count: int) -> bool:
        return arm == forced_arm(turn, count, self.forced)

    def _regress(
        self, gram: Products, moment: Floats, rounds: float, penalty: float, start: Floats
    ) -> Floats:
        return lasso(gram, moment, np.full(len(moment), rounds * penalty), start)


class MCPBanditRule(PerArmRule):
    """The MCP bandit (Wang, Wei, Yao 2018): any action with probability ``t0 / t``, and the minimax
    concave penalty in place of the lasso's.

    ``chance`` is t0 for each arm; beyond ``concavity`` times the penalty a coefficient is not
    penalised at all.
    """

    def __init__(
        self,
        dimension: int,
        *,
        arms: int | None = None,
        chance: float = 1.0,
        slack: float = 5.0,
        forced_penalty: float = 0.05,
        penalty: float = 0.05,
        concavity: float = 3.0,
    ) -> None:
        super().__init__(
            dimension, arms=arms, slack=slack, forced_penalty=forced_penalty, penalty=penalty
        )
        self.chance = as_number(chance, "chance", 0.0)
        self.concavity = as_number(concavity, "concavity", SMALLEST)

    def law(self, mind: Known, past: Past, menu: Menu) -> Plan:
        count = len(menu.actions)
        share = min(1.0, self.chance * self._count(menu) / (past.decisions + 1))
        random = np.full(count, share / count)
        law = Floored(Spread(self._preferred(mind, menu)), random)
        return Plan(law, notes=law)

    def chosen(self, mind: Known, plan: Plan, decision: Decision, uniform: float | None) -> Known:
        is_random = uniform is None or plan.notes.left(uniform) is None
        if not is_random:
            return mind
        return mind._replace(explored=(*mind.explored, decision.round))

    def _was_forced(self, mind: Known, turn: int, arm: int, count: int) -> bool:
        return turn in mind.explored

    def _regress(
        self, gram: Products, moment: Floats, rounds: float, penalty: float, start: Floats
    ) -> Floats:
        return two_step_mcp(gram, moment, rounds, penalty, self.concavity, start)


LassoBandit = Family(LassoBanditRule)
MCPBandit = Family(MCPBanditRule)


def forced_arm(turn: int, arms: int, samples: int) -> int | None:
    """The arm that is forced in a round (from 1), if any.

    >>> [forced_arm(turn, arms=2, samples=1) for turn in range(1, 10)]
    [0, 1, 0, 1, None, None, 0, 1, None]
    """
    block = arms * samples
    power = ((turn - 1) // block + 1).bit_length() - 1
    place = turn - 1 - (2**power - 1) * block
    return place // samples if place < block else None


def disjoint_arms(actions: Floats, arms: int) -> Ints:  # (K,)
    """The block of features that each action lives in; if it is all zeros, that of its row.

    >>> disjoint_arms(np.array([[0.0, 0.0, 1.0, 2.0], [3.0, 0.0, 0.0, 0.0]]), arms=2).tolist()
    [1, 0]
    """
    lives = (actions != 0.0).reshape(len(actions), arms, -1).any(axis=2)
    mixed = np.flatnonzero(lives.sum(axis=1) > 1)
    if mixed.size:
        raise ValueError(
            f"actions must be zero outside one block of {actions.shape[1] // arms} features with "
            f"arms={arms}, row {mixed[0]} is not: make their features disjoint, or leave arms out"
        )
    rows = np.arange(len(actions)) % arms
    return np.where(lives.any(axis=1), lives.argmax(axis=1), rows)


def as_arms(arms: object, dimension: int) -> int:
    """A number of blocks that features can be divided into."""
    count = as_count(arms, "arms", 1, dimension)
    if dimension % count:
        raise ValueError(
            f"arms must divide the dimension {dimension} into blocks of one size, got {count}"
        )
    return count


def padded(theta: Floats, size: int) -> Floats:
    """A parameter for more features than it was estimated for: they do not matter yet."""
    wide = np.zeros(size)
    wide[: len(theta)] = theta
    return wide
