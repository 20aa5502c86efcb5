"""What a policy needs of a posterior, and what our own share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from soids.arrays import SMALLEST, Floats, as_count, as_number, as_radius
from soids.evidence import Evidence, Menu
from soids.particles import Particles
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.prior import Prior
from soids.posteriors.smc import follow
from soids.posteriors.target import Tuning

NARROWEST = 0.05  # spread: below it, moves hardly change the sign of a value


class Belief(Protocol):
    """What a posterior believes after some evidence."""

    def particles(self) -> Particles: ...

    def rewards_on(self, menu: Menu) -> Floats: ...

    def noise(self) -> float: ...


@dataclass(frozen=True)
class Posterior(ABC):
    """From evidence to beliefs. Settings that are None are learned.

    What else a policy asks is an attribute of the class, so that it need not know the class.
    """

    in_ball: ClassVar[bool] = False  # a finite radius bounds the parameter; else it has no effect
    selects_features: ClassVar[bool] = True  # it says which features matter
    estimates_evidence: ClassVar[bool] = False  # its beliefs have a method ``log_evidence``
    takes_budget: ClassVar[bool] = False  # it keeps to ``Tuning.seconds``: moves may come later

    dimension: int
    sparsity: int | None = None
    radius: float | None = None
    noise: float | None = None

    def __post_init__(self) -> None:
        """Refuse settings that make no sense; numbers of other kinds become floats."""
        as_count(self.dimension, "dimension")
        if self.sparsity is not None:
            as_count(self.sparsity, "sparsity", 1, self.dimension)
        checks = dict.fromkeys(("noise", "slab_variance", "spike_scale"), SMALLEST)
        for name, low in {"radius": None, **checks, "spread": NARROWEST}.items():
            given = getattr(self, name, None)
            if given is None:
                continue
            number = as_radius(given) if low is None else as_number(given, name, low)
            if not isinstance(given, int | float):  # single precision would be compiled for apart
                object.__setattr__(self, name, number)

    @abstractmethod
    def update(
        self, belief: Any, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Belief:
        """The belief after some evidence, made from an earlier one, or from None."""


@dataclass(frozen=True)
class SparsePosterior(Posterior):
    """A sparse prior, sampled by sequential Monte Carlo; a subclass says which prior."""

    estimates_evidence: ClassVar[bool] = True
    takes_budget: ClassVar[bool] = True

    @abstractmethod
    def prior(self, evidence: Evidence) -> Prior:
        """The prior, with what is not given as vague as the rewards' scale allows."""

    def update(
        self, belief: Any, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> ParticleSystem:
        """The particles of the optimistic posterior, moved on from those of an earlier one."""
        return follow(belief, self.prior(evidence), evidence, tuning, rng)
