"""Explore by a design for a while, estimate once, and commit to what looks best."""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Bools, Floats, Ints, as_count, as_flag, as_number, as_share
from soids.designs import Design, exploratory_design, popart_design
from soids.evidence import Evidence, Menu
from soids.information import Mixture, Spread, greedy
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision
from soids.regression.lasso import lasso, lasso_penalty
from soids.regression.popart import Samples, popart, warm_popart


class Sample(NamedTuple):
    """One round of exploration and its reward."""

    menu: Menu
    chosen: int
    reward: float


class Phase(NamedTuple):
    """One phase of elimination."""

    number: int
    support: Ints  # features it takes to matter
    alive: Bools  # (K,)  actions that may still be best
    left: Ints  # (K,)  how often each is yet to be played
    first: int  # its first round
    due: int  # how many rounds it takes
    evidence: Evidence  # of these rounds alone


class Explored(NamedTuple):
    """What a committing policy holds beyond its ledger."""

    length: int = 0  # rounds of exploration, as of the first choice
    samples: tuple[Sample, ...] = ()
    theta: Floats | None = None  # (d,)  the estimate, once it is asked for
    phase: Phase | None = None  # for those that go on learning


class Plan(NamedTuple):
    """What theory needs to say how long to explore."""

    horizon: int
    sparsity: int
    reward_bound: float
    noise: float


class Committing(ABC):
    """The two phases; the subclasses say how to explore, how long, how to estimate and to commit.

    If actions change from round to round, each menu is explored by its own design.
    Rewards of the exploration that come late are counted as soon as they come.
    """

    plan: Plan | int  # an int is the rounds to explore

    def __init__(self, dimension: int) -> None:
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension
        self.memory = Explored()

    __repr__ = as_called

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        if self.memory.length == 0:
            self.memory = Explored(self._length(menu))
        mixture: Mixture
        if self.ledger.decisions < self.memory.length:
            mixture = Spread(self._design(menu).weights)
        else:
            mixture = self._committed(menu)
        index = mixture.draw(rng.random())
        return self.ledger.enter(menu, index, mixture.probability(index))

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time."""
        for settled, value in self.ledger.settle(decision, reward):
            phase = self.memory.phase
            if settled.round <= self.memory.length:
                sample = Sample(settled.menu, settled.index, value)
                samples = (*self.memory.samples, sample)
                self.memory = self.memory._replace(samples=samples, theta=None)
            elif phase is not None and 0 <= settled.round - phase.first < phase.due:
                evidence = phase.evidence.note(settled.action, value)
                self.memory = self.memory._replace(phase=phase._replace(evidence=evidence))

    def theta(self) -> Floats:  # (d,)
        """The parameter as estimated from the exploration so far."""
        theta = self.memory.theta
        if theta is None:
            theta = self._estimate(self.memory.samples)
            if self.memory.samples and not theta.any():
                warnings.warn(
                    f"no coefficient is told from zero by {len(self.memory.samples)} rounds of "
                    "exploration, so all actions look alike: explore longer",
                    RuntimeWarning,
                    stacklevel=2,
                )
            theta.flags.writeable = False
            self.memory = self.memory._replace(theta=theta)
        return theta

    def _length(self, menu: Menu) -> int:
        """How many rounds to explore."""
        if isinstance(self.plan, int):
            return self.plan
        length = math.ceil(self._theory(menu, self.plan))
        if length > self.plan.horizon:
            raise ValueError(
                f"exploration must not be longer than the horizon, theory asks for {length} of "
                f"{self.plan.horizon} rounds: give exploration, or a longer horizon"
            )
        return length

    @abstractmethod
    def _design(self, menu: Menu) -> Design:
        """The distribution to explore a menu by."""

    @abstractmethod
    def _theory(self, menu: Menu, plan: Plan) -> float:
        """How many rounds to explore, by theory."""

    @abstractmethod
    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        """The parameter, from rounds of exploration."""

    @abstractmethod
    def _committed(self, menu: Menu) -> Mixture:
        """What to play after the exploration."""


class ESTC(Committing):
    """Explore the Sparsity Then Commit (Hao, Lattimore, Wang 2020): best design, then the lasso.

    ``exploration`` is the number of rounds to explore, or else their Theorem 4.2 decides, from
    ``horizon``, ``sparsity`` and ``reward_bound`` (on the size of mean rewards). The actions must
    span the space.

    >>> policy, rng = ESTC(2, exploration=40, noise=0.1), np.random.default_rng(0)
    >>> for _ in range(50):
    ...     decision = policy.choose(np.eye(2), rng)
    ...     policy.observe(decision, reward=float(decision.index))
    >>> decision.index
    1
    """

    def __init__(
        self,
        dimension: int,
        *,
        exploration: int | None = None,
        horizon: int | None = None,
        sparsity: int | None = None,
        reward_bound: float | None = None,
        noise: float = 1.0,
    ) -> None:
        super().__init__(dimension)
        self.exploration, self.horizon, self.sparsity = exploration, horizon, sparsity
        self.reward_bound, self.noise = reward_bound, as_number(noise, "noise", SMALLEST)
        self.plan = planned(dimension, exploration, horizon, sparsity, reward_bound, self.noise)

    def _design(self, menu: Menu) -> Design:
        design = exploratory_design(menu.actions)
        if design.value == 0.0:
            raise ValueError(
                f"actions must span all {self.dimension} dimensions to be explored, these do not"
            )
        return design

    def _theory(self, menu: Menu, plan: Plan) -> float:
        c_min = self._design(menu).value / menu.largest**2  # as if actions were in [-1, 1]^d
        per_error = plan.sparsity * plan.noise * plan.horizon / (plan.reward_bound * c_min)
        rounds: float = (2.0 * per_error**2 * math.log(2 * self.dimension)) ** (1 / 3)
        return rounds

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        evidence = Evidence.empty(self.dimension)
        for menu, chosen, reward in samples:
            evidence = evidence.note(menu.actions[chosen], reward)
        size = max((sample.menu.largest for sample in samples), default=0.0)
        penalty = lasso_penalty(len(samples), self.dimension, self.noise, size)
        return lasso(evidence, penalty)

    def _committed(self, menu: Menu) -> Mixture:
        return greedy(menu.actions @ self.theta())


class PopArt(Committing):
    """Explore, estimate by PopArt, commit (Jang, Zhang, Jun 2022).

    ``warm`` means Warm-PopArt, which spends half of the exploration on a pilot. ``reward_bound``
    bounds the size of mean rewards. ``exploration`` is the number of rounds to explore; without it
    theory decides, from ``horizon`` and ``sparsity``. The actions must span the space.
    """

    def __init__(
        self,
        dimension: int,
        *,
        reward_bound: float,
        exploration: int | None = None,
        horizon: int | None = None,
        sparsity: int | None = None,
        noise: float = 1.0,
        delta: float = 0.05,
        warm: bool = True,
    ) -> None:
        super().__init__(dimension)
        self.exploration, self.horizon, self.sparsity = exploration, horizon, sparsity
        self.reward_bound = as_number(reward_bound, "reward_bound", 0.0, strict=True)
        self.noise, self.delta = as_number(noise, "noise", SMALLEST), as_share(delta, "delta")
        self.warm = as_flag(warm, "warm")
        self.plan = planned(dimension, exploration, horizon, sparsity, reward_bound, self.noise)
        if isinstance(self.plan, int):
            check_length(self.plan, shortest(dimension, self.delta, warm))

    def _design(self, menu: Menu) -> Design:
        return popart_design(menu.actions)

    def _theory(self, menu: Menu, plan: Plan) -> float:
        spread = self._design(menu).value * menu.largest**2  # as if actions were in [-1, 1]^d
        certainty = math.log(2 * self.dimension / self.delta)
        per_error = (plan.sparsity * plan.horizon / plan.reward_bound) ** 2 * spread * certainty
        rounds: float
        if self.warm:
            rounds = 4.0 * (plan.noise**2 * per_error) ** (1 / 3)
        else:
            rounds = ((plan.reward_bound**2 + plan.noise**2) * per_error) ** (1 / 3)
        return max(rounds, shortest(self.dimension, self.delta, self.warm))

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        estimate = warm_popart if self.warm else popart
        return estimate(drawn(samples, self.dimension), self.reward_bound, self.noise, self.delta)

    def _committed(self, menu: Menu) -> Mixture:
        return greedy(menu.actions @ self.theta())


def shortest(dimension: int, delta: float, warm: bool) -> int:
    """The least exploration in which PopArt's thresholds are finite."""
    halves = 2 if warm else 1
    return halves * (math.floor(2.0 * math.log(2 * halves * dimension / delta)) + 1)


def check_length(exploration: int, least: int) -> None:
    """Refuse an exploration in which nothing can be told from zero."""
    if exploration < least:
        raise ValueError(
            f"exploration must be at least {least} rounds for PopArt to tell any coefficient from "
            f"zero, got {exploration}"
        )


def drawn(samples: tuple[Sample, ...], dimension: int) -> Samples:
    """Rounds of exploration with the design that each was drawn from."""
    inverses = {}
    for menu in {sample.menu for sample in samples}:
        weights = popart_design(menu.actions).weights
        inverses[menu] = np.linalg.inv(menu.actions.T @ (weights[:, None] * menu.actions))
    actions, pulls, spreads = np.empty((3, len(samples), dimension))
    rewards = np.empty(len(samples))
    for t, (menu, chosen, reward) in enumerate(samples):
        actions[t], rewards[t] = menu.actions[chosen], reward
        pulls[t] = inverses[menu] @ actions[t]
        spreads[t] = np.diag(inverses[menu])
    return Samples(actions, rewards, pulls, spreads)


def planned(
    dimension: int,
    exploration: int | None,
    horizon: int | None,
    sparsity: int | None,
    reward_bound: float | None,
    noise: float,
) -> Plan | int:
    """The rounds to explore, if given, or what theory needs to find them."""
    told = {"horizon": horizon, "sparsity": sparsity, "reward_bound": reward_bound}
    missing = [name for name, value in told.items() if value is None]
    if horizon is not None:
        horizon = as_count(horizon, "horizon")
    if sparsity is not None:
        sparsity = as_count(sparsity, "sparsity", 1, dimension)
    if reward_bound is not None:
        reward_bound = as_number(reward_bound, "reward_bound", 0.0, strict=True)
    if exploration is not None:
        exploration = as_count(exploration, "exploration")
        if horizon is not None and exploration > horizon:
            raise ValueError(
                f"exploration must not be longer than the horizon of {horizon} rounds, "
                f"got {exploration}"
            )
        return exploration
    if horizon is None or sparsity is None or reward_bound is None:
        raise ValueError(f"exploration must be given, or else {' and '.join(missing)} told")
    return Plan(horizon, sparsity, reward_bound, noise)
