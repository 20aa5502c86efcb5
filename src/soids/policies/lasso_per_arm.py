"""One sparse parameter for each arm, and two estimates of it: two published policies.

The papers have one context x for all arms, and arm k earns ``<x, beta_k>``. Actions (K, d) say it
in one of two ways:

- disjoint (``arms`` is given): d is ``arms`` times the size of x, and an action is x in its arm's
  block and zero elsewhere. Each arm has a regression on its own block.
- stacked (``arms`` is left out): arm k is row k, and the context of all arms is all rows, one after
  the other, as in the comparisons of Kim & Paik and Oh et al. Missing rows count as zeros.

Penalties are the ``alpha`` of scikit-learn, beside half the mean square; no intercept is fitted.
Kim & Paik's constants, for noise 0.05, are in units of reward: penalties of 0.05, a slack of 5.
Penalties that are not given have the same ratio to the noise, as the scaled lasso estimates it for
each regression; so has the slack, or it is theirs beside a given penalty.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from soids.arrays import LARGEST, Bools, Floats, Ints, as_count
from soids.evidence import Evidence
from soids.information import Spread, greedy
from soids.policies.decision import Floored
from soids.policies.enlarging import Embedding
from soids.policies.lasso_shared import warn_of_zeros
from soids.policies.policy import Decision, Family, Menu, Outcome, Past, Plan, Rule
from soids.policies.prediction import Coefficients, Prediction
from soids.policies.settings import assign
from soids.records import check_arrays, check_dimension, check_numbers
from soids.regression.lasso import Inner, lasso
from soids.regression.mcp import two_step_mcp
from soids.regression.scaled_lasso import Sums, scaled_noise

NOISE = 0.05  # in Kim & Paik's experiments
SLACK = 100.0  # over the noise


class Stack(NamedTuple):
    """Contexts that are all actions on offer, and their rewards."""

    menus: tuple[Menu, ...] = ()
    rewards: tuple[float, ...] = ()

    def validate(self) -> None:
        if len(self.menus) != len(self.rewards):
            raise ValueError("each action set must have a reward")
        check_numbers(self, "rewards", -LARGEST, LARGEST)


class Sampled(NamedTuple):
    """The samples of an arm from some rounds, and the estimate of its parameter."""

    past: Evidence | Stack
    theta: Floats  # (p,)
    noise: float = 0.0  # as estimated, if the penalty is not given

    def validate(self) -> None:
        check_arrays(self, theta="p")
        check_numbers(self, "noise", 0.0)

    def check_width(self, dimension: int, arms: int | None) -> None:
        """Refuse samples of an arm that a rule cannot have."""
        if isinstance(self.past, Stack):
            check_dimension(dimension, menus=(menu.actions.shape[1] for menu in self.past.menus))
            width = max((menu.actions.size for menu in self.past.menus), default=0)
        else:
            width = len(self.past.moment)
        if isinstance(self.past, Stack) != (arms is None) or len(self.theta) > width:
            raise ValueError("samples of an arm must be those of this rule")
        if arms is not None:
            check_dimension(dimension // arms, theta=[len(self.theta), width])

    def noted(self, menu: Menu, context: Floats, reward: float) -> "Sampled":
        """With one more sample, and the estimate as it was."""
        past = self.past
        if isinstance(past, Stack):
            return self._replace(past=Stack((*past.menus, menu), (*past.rewards, reward)))
        return self._replace(past=past.note(context, reward))

    def sums(self) -> Sums:
        past = self.past
        if not isinstance(past, Stack):
            return Sums.of(past)
        width = max(menu.actions.size for menu in past.menus)
        table = np.zeros((len(past.menus), width))
        for row, menu in zip(table, past.menus, strict=True):
            row[: menu.actions.size] = menu.actions.ravel()
        rewards = np.array(past.rewards)
        return Sums(Inner(table), rewards @ table, len(rewards), float(rewards @ rewards))


class Arm(NamedTuple):
    """What is known of one arm."""

    forced: Sampled  # from rounds in which the choice did not depend on estimates
    whole: Sampled  # from all rounds

    def validate(self) -> None:
        """Its parts say what must hold for them."""


class Known(NamedTuple):
    """What a rule has learned of all arms."""

    arms: tuple[Arm, ...] = ()
    explored: tuple[int, ...] = ()  # rounds with random choices whose rewards have not come

    def validate(self) -> None:
        """Its parts say what must hold for them."""


@dataclass(frozen=True, kw_only=True)
class PerArmRule(Rule[Known]):
    """Of the arms that are within half the ``slack`` of the best by forced samples alone, take the
    best by all samples; a rule adds when to force, and how to estimate.
    """

    needs_sets = True

    dimension: int = field(kw_only=False)
    arms: int | None = None
    slack: float | None = None
    forced_penalty: float | None = None
    penalty: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.arms is None:
            return
        assign(self, arms=as_count(self.arms, "arms", 1, self.dimension))
        if self.dimension % self.arms:
            blocks = f"the dimension {self.dimension} into blocks of one size"
            raise ValueError(f"arms must divide {blocks}, got {self.arms}")

    @property
    def takes_exclusions(self) -> bool:
        """Whether actions may be excluded: stacked arms are known by their rows."""
        return self.arms is not None

    def start(self) -> Known:
        return Known()

    def check_mind(self, mind: Known, past: Past) -> None:
        for sampled in (one for arm in mind.arms for one in arm):
            sampled.check_width(self.dimension, self.arms)

    def learn(self, mind: Known, past: Past, outcomes: Sequence[Outcome]) -> Known:
        known = list(mind.arms)
        fresh: dict[int, bool] = {}  # arms with new samples, and whether some were forced
        for decision, menu, reward in outcomes:
            assert menu is not None  # a rule that needs action sets gets them
            arms, place = self._arms_of(menu), decision.place
            number = int(arms[place])
            known += [self._unknown()] * (number + 1 - len(known))
            is_forced = self._was_forced(mind, decision.round, number, self._count(menu))
            fresh[number] = fresh.get(number, False) or is_forced
            context, (forced, whole) = self._contexts(menu, arms)[place].copy(), known[number]
            if is_forced:
                forced = forced.noted(menu, context, reward)
            known[number] = Arm(forced, whole.noted(menu, context, reward))
        t = past.evidence.rounds
        for number, is_forced in fresh.items():
            forced, whole = known[number]
            if is_forced:
                forced = self._fitted(forced, self.forced_penalty)
            known[number] = Arm(forced, self._fitted(whole, self.penalty, t))
        if not any(arm.whole.theta.any() for arm in known):
            warn_of_zeros(self.name, np.zeros(0), t - len(outcomes), t)
        explored = tuple(turn for turn in mind.explored if turn in past.pending)
        return Known(tuple(known), explored)

    def coefficients(self, mind: Known, past: Past) -> Coefficients:
        if self.arms is None:
            raise ValueError(
                f"{self.name} estimates coefficients of all rows for each arm where arms are rows: "
                "give arms, or ask predict"
            )
        thetas = np.zeros((self.arms, self.dimension // self.arms))
        for theta, arm in zip(thetas, mind.arms, strict=False):
            theta[:] = arm.whole.theta
        return Coefficients.of(thetas.ravel())

    def predict(self, mind: Known, past: Past, menu: Menu) -> Prediction:
        arms = self._arms_of(menu)
        mean = scores(self._contexts(menu, arms), arms, [arm.whole for arm in mind.arms])
        return Prediction(mean, np.full(len(mean), np.nan))

    def _unknown(self) -> Arm:
        size = 0 if self.arms is None else self.dimension // self.arms
        nothing = Stack() if self.arms is None else Evidence.empty(size)
        return Arm(*(Sampled(nothing, np.zeros(size)) for _ in range(2)))

    def _fitted(self, sampled: Sampled, penalty: float | None, t: float | None = None) -> Sampled:
        """With a new estimate; with the number of rewards ``t`` the penalty decays."""
        sums = sampled.sums()
        size = len(sums.moment)
        start = np.zeros(size)  # features that are new have not mattered yet
        start[: len(sampled.theta)] = sampled.theta
        noise = sampled.noise
        if penalty is None:
            penalty = noise = scaled_noise(sums, noise, start)
        if t is not None:
            penalty *= math.sqrt((math.log(t) + math.log(size)) / t)
        return Sampled(sampled.past, self._regress(sums, penalty, start), noise)

    def _preferred(self, mind: Known, menu: Menu) -> Floats:  # (K,)
        """The law of the choice when nothing is forced."""
        arms = self._arms_of(menu)
        contexts = self._contexts(menu, arms)
        rough = scores(contexts, arms, [arm.forced for arm in mind.arms])
        fine = scores(contexts, arms, [arm.whole for arm in mind.arms])
        slack = self.slack
        if slack is None:
            noises = [arm.whole.noise if self.penalty is None else NOISE for arm in mind.arms]
            slack = SLACK * max(noises, default=NOISE)
        fine[rough < rough.max() - 0.5 * slack] = -np.inf
        return greedy(fine).masses

    def _contexts(self, menu: Menu, arms: Ints) -> list[Floats]:  # (p,) each
        """The features in the regression of each action's arm."""
        if self.arms is None:
            return [menu.actions.ravel()] * len(arms)
        size = self.dimension // self.arms
        return [row[k * size : (k + 1) * size] for row, k in zip(menu.actions, arms, strict=True)]

    def _arms_of(self, menu: Menu) -> Ints:  # (K,)
        """The arm of each action."""
        if self.arms is None:
            return np.arange(len(menu.actions))
        return disjoint_arms(menu.actions, self.arms)

    def _count(self, menu: Menu) -> int:
        """The number of arms."""
        return len(menu.actions) if self.arms is None else self.arms

    def _was_forced(self, mind: Known, turn: int, arm: int, count: int) -> bool:
        """Whether an arm was played in a round without regard to what was known."""
        return turn in mind.explored

    def _regress(self, sums: Sums, penalty: float, start: Floats) -> Floats:  # (p,)
        """The estimate of an arm's parameter."""
        weights = np.full(len(start), sums.rounds * penalty)
        return lasso(sums.gram, sums.moment, weights, start)


@dataclass(frozen=True, kw_only=True)
class LassoBanditRule(PerArmRule):
    """The lasso bandit (Bastani & Bayati 2020): forced samples at times fixed in advance.

    Arm i of K (from 0) is forced in the q rounds after ``(2^m - 1) K q + q i``, m = 0, 1, ..., with
    q = ``forced``. The penalty on all samples is ``penalty * sqrt((log t + log p) / t)`` for
    regressions on p features.
    """

    learns_from_others = False

    forced: int = 1

    def law(self, mind: Known, past: Past, menu: Menu) -> Plan:
        due = forced_arm(past.decisions + 1, self._count(menu), self.forced)
        is_due: Bools = self._arms_of(menu) == due
        if due is not None and is_due.any():
            return Plan(Spread(is_due / is_due.sum()))
        return Plan(Spread(self._preferred(mind, menu)))

    def _was_forced(self, mind: Known, turn: int, arm: int, count: int) -> bool:
        return arm == forced_arm(turn, count, self.forced)


@dataclass(frozen=True, kw_only=True)
class MCPBanditRule(PerArmRule):
    """The MCP bandit (Wang, Wei, Yao 2018): any action with probability ``t0 / t``, and the minimax
    concave penalty in place of the lasso's.

    ``chance`` is t0 for each arm; beyond ``concavity`` times the penalty a coefficient is not
    penalised at all.
    """

    chance: float = 1.0
    concavity: float = 3.0

    def enlarged(self, mind: Known, embedding: Embedding) -> Known:
        if self.arms is None or not embedding.is_appended:
            raise ValueError(f"{self.name} must know its arms to get another one behind them")
        return mind

    def law(self, mind: Known, past: Past, menu: Menu) -> Plan:
        count = len(menu.actions)
        share = min(1.0, self.chance * self._count(menu) / (past.decisions + 1))
        law = Floored(Spread(self._preferred(mind, menu)), np.full(count, share / count))
        return Plan(law, notes=law)

    def chosen(self, mind: Known, plan: Plan, decision: Decision, uniform: float | None) -> Known:
        if uniform is not None and plan.notes.left(uniform) is not None:
            return mind  # the choice was not random
        return mind._replace(explored=(*mind.explored, decision.round))

    def _regress(self, sums: Sums, penalty: float, start: Floats) -> Floats:
        return two_step_mcp(*sums[:3], penalty, self.concavity, start)


LassoBandit = Family(LassoBanditRule)
MCPBandit = Family(MCPBanditRule)


def scores(contexts: list[Floats], arms: Ints, estimates: list[Sampled]) -> Floats:  # (K,)
    """The reward that each action is expected to earn; zero if nothing is known of its arm."""
    scores = np.zeros(len(arms))
    for k, arm in enumerate(arms):
        if arm < len(estimates):
            context, theta = contexts[k], estimates[arm].theta
            both = min(len(theta), len(context))
            scores[k] = context[:both] @ theta[:both]
    return scores


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
