"""Explore by a design for a while, estimate once, and commit to what looks best."""

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_count, as_number
from soids.designs import Design
from soids.evidence import Menu
from soids.information import Spread, greedy
from soids.policies.decision import Decision
from soids.policies.past import Outcome, Past
from soids.policies.policy import Plan, Rule


class Sample(NamedTuple):
    """One round of exploration and its reward."""

    menu: Menu
    chosen: int
    reward: float


class Explored(NamedTuple):
    """What a rule of two phases has learned."""

    length: int = 0  # number of rounds to explore, as of the first choice
    samples: tuple[Sample, ...] = ()
    theta: Floats | None = None  # (d,)  the estimate, once exploration is over
    phase: Any = None  # of a rule that goes on learning


class Theory(NamedTuple):
    """What a theorem needs to say how long to explore."""

    horizon: int
    sparsity: int
    reward_bound: float
    noise: float


class ExploreThenCommit(Rule[Explored]):
    """The two phases; a rule adds how to explore, for how long, how to estimate and to commit.

    If actions change from round to round, each action set is explored by its own design.
    Rewards of the exploration that come late are counted as soon as they come.
    """

    learns_from_others = False
    needs_sets = True
    plan: Theory | int  # a number is that of the rounds to explore

    def start(self) -> Explored:
        return Explored()

    def think(
        self, mind: Explored, past: Past, menu: Menu | None, rng: np.random.Generator
    ) -> Explored:
        if menu is not None:
            mind = self._begun(mind, menu)
        if past.decisions < mind.length or mind.length == 0:
            return mind
        return mind._replace(theta=self.theta(mind))

    def law(self, mind: Explored, past: Past, menu: Menu) -> Plan:
        mind = self._begun(mind, menu)
        if past.decisions < mind.length:
            return Plan(Spread(self._design(menu).weights))
        return self._committed(mind, past, menu)

    def chosen(
        self, mind: Explored, plan: Plan, decision: Decision, uniform: float | None
    ) -> Explored:
        return self._begun(mind, decision.menu)

    def learn(self, mind: Explored, past: Past, outcomes: Sequence[Outcome]) -> Explored:
        samples = tuple(
            Sample(one.menu, one.place, one.reward)
            for one in outcomes
            if one.round <= mind.length and one.menu is not None
        )
        if not samples:
            return mind
        return mind._replace(samples=mind.samples + samples, theta=None)

    def theta(self, mind: Explored) -> Floats:  # (d,)
        """The parameter as estimated from the exploration so far."""
        if mind.theta is not None:
            return mind.theta
        theta = self._estimate(mind.samples)
        if mind.samples and not theta.any():
            warnings.warn(
                f"no coefficient is told from zero by {len(mind.samples)} rounds of "
                "exploration, so all actions look alike: explore longer",
                RuntimeWarning,
                stacklevel=2,
            )
        theta.flags.writeable = False
        return theta

    def _begun(self, mind: Explored, menu: Menu) -> Explored:
        """The mind with the length of the exploration."""
        return mind if mind.length else mind._replace(length=self._length(menu))

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

    def _design(self, menu: Menu) -> Design:
        """The distribution to explore an action set by."""
        raise NotImplementedError

    def _theory(self, menu: Menu, plan: Theory) -> float:
        """How many rounds to explore, by theory."""
        raise NotImplementedError

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        """The parameter, from rounds of exploration."""
        raise NotImplementedError

    def _committed(self, mind: Explored, past: Past, menu: Menu) -> Plan:
        """What to play after the exploration: the action of the largest estimated reward."""
        return Plan(greedy(menu.actions @ self.theta(mind)))


def planned(
    dimension: int,
    exploration: int | None,
    horizon: int | None,
    sparsity: int | None,
    reward_bound: float | None,
    noise: float,
) -> Theory | int:
    """The rounds to explore, if given, or what theory needs to find them."""
    given = {"horizon": horizon, "sparsity": sparsity, "reward_bound": reward_bound}
    missing = [name for name, value in given.items() if value is None]
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
        raise ValueError(f"exploration must be given, or else {' and '.join(missing)} given")
    return Theory(horizon, sparsity, reward_bound, noise)
