"""Explore by a design, estimate the parameter, and then take the best action by the estimate."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from soids.arrays import LARGEST, Floats
from soids.designs import Design, popart_design
from soids.information import Spread, greedy
from soids.policies.decision import NEAR_ONE
from soids.policies.policy import Generator, Menu, Outcome, Past, Plan, Rule
from soids.policies.prediction import Coefficients
from soids.records import LEAST, check_arrays, check_dimension, check_numbers


class Sample(NamedTuple):
    """One round of exploration and its reward."""

    menu: Menu
    chosen: int
    reward: float
    probability: float  # of the choice, which is not that of the design if there was a floor

    def validate(self) -> None:
        check_numbers(self, "chosen", 0, len(self.menu.actions) - 1)
        check_numbers(self, "reward", -LARGEST, LARGEST)
        check_numbers(self, "probability", LEAST, 1.0 + NEAR_ONE)


class Explored(NamedTuple):
    """What a rule of two phases has learned."""

    length: int = 0  # number of rounds to explore, as of the first choice
    samples: tuple[Sample, ...] = ()
    theta: Floats | None = None  # (d,)  the estimate, once exploration is over
    phase: Any = None  # of a rule that goes on learning

    def validate(self) -> None:
        check_arrays(self, theta="d")
        check_numbers(self, "length", 0)


@dataclass(frozen=True, kw_only=True)
class ExploreThenCommit(Rule[Explored]):
    """The two phases; a rule adds how to explore, for how long, how to estimate and to commit.

    Each action set is explored by its own design. Late rewards of the exploration count, too.
    """

    learns_from_others = False
    needs_sets = True

    dimension: int = field(kw_only=False)
    exploration: int | None = None
    horizon: int | None = None
    sparsity: int | None = None
    reward_bound: float | None = None
    noise: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exploration is None:
            needed = ("horizon", "sparsity", "reward_bound")
            missing = [name for name in needed if getattr(self, name) is None]
            if missing:
                *others, last = missing
                known = f"{', '.join(others)} and {last}" if others else last
                raise ValueError(f"exploration must be given, or else {known}")
        elif self.horizon is not None and self.exploration > self.horizon:
            raise ValueError(
                f"exploration must not be longer than the horizon of {self.horizon} rounds, "
                f"got {self.exploration}"
            )

    def start(self) -> Explored:
        return Explored()

    def check_mind(self, mind: Explored, past: Past) -> None:
        widths = [] if mind.theta is None else [len(mind.theta)]
        widths += [sample.menu.actions.shape[1] for sample in mind.samples]
        check_dimension(self.dimension, mind=widths)
        if mind.phase is not None:
            raise ValueError(f"{self.name} has no phases after its exploration")

    def think(self, mind: Explored, past: Past, menu: Menu | None, rng: Generator) -> Explored:
        if menu is not None and not mind.length:
            mind = mind._replace(length=self.length(menu))
        if past.decisions < mind.length or mind.length == 0:
            return mind
        return mind._replace(theta=self.theta(mind))

    def law(self, mind: Explored, past: Past, menu: Menu) -> Plan:
        if past.decisions < mind.length:
            return Plan(Spread(self._design(menu).weights))
        return self._committed(mind, past, menu)

    def learn(self, mind: Explored, past: Past, outcomes: Sequence[Outcome]) -> Explored:
        samples = tuple(
            Sample(menu, decision.place, reward, decision.probability)
            for decision, menu, reward in outcomes
            if decision.round <= mind.length and menu is not None
        )
        return mind._replace(samples=mind.samples + samples, theta=None) if samples else mind

    def coefficients(self, mind: Explored, past: Past) -> Coefficients:
        if mind.theta is None:
            raise ValueError(
                f"{self.name} estimates no coefficients before its exploration is over, after "
                f"{past.decisions} of {mind.length or 'an unknown number of'} rounds: ask later"
            )
        return Coefficients.of(mind.theta)

    def theta(self, mind: Explored) -> Floats:  # (d,)
        """The parameter as estimated from the exploration so far."""
        if mind.theta is not None:
            return mind.theta
        theta = self._estimate(mind.samples)
        if mind.samples and not theta.any():
            text = f"every coefficient is estimated as zero after {len(mind.samples)} rounds of "
            text += "exploration, so all actions look alike: explore longer"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        theta.flags.writeable = False
        return theta

    def length(self, menu: Menu) -> int:
        """The number of rounds to explore."""
        if self.exploration is not None:
            return self.exploration
        known: Any = self.horizon, self.sparsity, self.reward_bound  # all given, by the checks
        length = math.ceil(self._theory(menu, *known))
        if length > known[0]:
            raise ValueError(
                f"exploration must not be longer than the horizon, theory asks for {length} of "
                f"{self.horizon} rounds: give exploration, or a longer horizon"
            )
        return length

    def _design(self, menu: Menu) -> Design:
        """The distribution to explore an action set by: PopArt's, if a rule has no other."""
        return popart_design(menu.actions)

    def _theory(self, menu: Menu, horizon: int, sparsity: int, reward_bound: float) -> float:
        """The number of rounds to explore, by theory."""
        raise NotImplementedError

    def _estimate(self, samples: tuple[Sample, ...]) -> Floats:
        """The parameter, from rounds of exploration."""
        raise NotImplementedError

    def _committed(self, mind: Explored, past: Past, menu: Menu) -> Plan:
        """What to play after the exploration: the action of the largest estimated reward."""
        return Plan(greedy(menu.actions @ self.theta(mind)))
