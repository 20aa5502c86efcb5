"""The contract of a posterior, which is all that policies rely on, and its sparse members."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from numpy.random import Generator

from soids.arrays import SMALLEST, Floats, as_count, as_number, as_radius
from soids.evidence import Evidence, Menu
from soids.particles import Particles
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.prior import Prior
from soids.posteriors.smc import advance, start
from soids.posteriors.target import Target, Tuning
from soids.records import are_alike, check_dimension, check_numbers

POSITIVE = dict.fromkeys(("noise", "slab_variance", "spike_scale"), SMALLEST)  # least values
POSITIVE["spread"] = 0.05  # below it, moves hardly change the sign of a value


class Belief(Protocol):
    """A posterior distribution, given some evidence."""

    def particles(self) -> Particles: ...

    def rewards_on(self, menu: Menu) -> Floats: ...

    def noise(self) -> float: ...


@dataclass(frozen=True)
class Posterior(ABC):
    """From evidence to beliefs. Settings that are None are learned."""

    in_ball: ClassVar[bool] = False  # a finite radius bounds the parameter; else it has no effect
    selects_features: ClassVar[bool] = True  # it says which features matter
    estimates_evidence: ClassVar[bool] = False  # its beliefs have a method ``log_evidence``
    takes_budget: ClassVar[bool] = False  # it keeps to ``Tuning.seconds``: moves may come later

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        """Check the settings; numbers of other types become floats."""
        as_count(self.dimension, "dimension")
        if self.sparsity is not None:
            as_count(self.sparsity, "sparsity", 1, self.dimension)
        for name in ("radius", *POSITIVE):
            given = getattr(self, name, None)
            if given is None:
                continue
            is_radius = name == "radius"
            number = as_radius(given) if is_radius else as_number(given, name, POSITIVE[name])
            if not isinstance(given, int | float):  # for single precision, kernels would recompile
                object.__setattr__(self, name, number)

    def validate(self) -> None:
        """Refuse wrong settings, as when a posterior is made."""
        self.__post_init__()

    def check_belief(self, belief: Any, evidence: Evidence, tuning: Tuning) -> None:
        """Refuse a belief from a file that ``update`` cannot have returned for this evidence."""
        check_dimension(self.dimension, belief=[belief.particles().thetas.shape[1]])

    @abstractmethod
    def update(self, belief: Any, evidence: Evidence, tuning: Tuning, rng: Generator) -> Belief:
        """The belief given some evidence, made from an earlier belief, or from None."""


@dataclass(frozen=True)
class SparsePosterior(Posterior):
    """A sparse prior, sampled by sequential Monte Carlo; a subclass says which prior."""

    estimates_evidence: ClassVar[bool] = True
    takes_budget: ClassVar[bool] = True

    @abstractmethod
    def prior(self, evidence: Evidence) -> Prior:
        """The prior; settings that are not given follow the scale of the rewards."""

    def check_belief(self, belief: Any, evidence: Evidence, tuning: Tuning) -> None:
        if not isinstance(belief, ParticleSystem):
            raise ValueError(f"belief must be particles, got {type(belief).__name__}")
        rate, own_odds = belief.target.rate, belief.target.prior.own_odds
        check_dimension(self.dimension, own_odds=[len(own_odds)])
        prior = self.prior(evidence)._replace(own_odds=own_odds)
        if not are_alike(belief.target, Target.of(evidence, prior, tuning.eta, rate)):
            raise ValueError("the target of the particles must be that of the evidence")
        check_numbers(belief, "owed", 0, tuning.sweeps * len(belief.thetas))

    def update(
        self, belief: Any, evidence: Evidence, tuning: Tuning, rng: Generator
    ) -> ParticleSystem:
        """The particles of the optimistic posterior, made from those of an earlier one."""
        before = None if belief is None else belief.target
        prior = self.prior(evidence)
        if tuning.own_odds is not None:
            prior = prior._replace(own_odds=tuning.own_odds)
        target = Target.of(evidence, prior, tuning.eta, tuning.rate, before)
        system = belief or start(target, tuning.particles, rng)
        return advance(system, target, rng, tuning.sweeps, tuning.seconds)
