"""From evidence to beliefs: the posteriors, and the contract they share."""

from typing import Protocol

from soids.arrays import Floats
from soids.evidence import Menu
from soids.particles import Particles
from soids.posteriors.calling import POSTERIORS, as_posterior, posterior_called
from soids.posteriors.gaussian import Gaussian
from soids.posteriors.langevin import Langevin
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.spike_slab import SpikeSlab
from soids.posteriors.subset import Ample, Broad, Subset
from soids.posteriors.target import Tuning


class Belief(Protocol):
    """What a posterior believes after some evidence."""

    def particles(self) -> Particles: ...

    def rewards_on(self, menu: Menu) -> Floats: ...

    def noise(self) -> float: ...


__all__ = [
    "POSTERIORS",
    "Ample",
    "Belief",
    "Broad",
    "Gaussian",
    "Langevin",
    "Relaxed",
    "SpikeSlab",
    "Subset",
    "Tuning",
    "as_posterior",
    "posterior_called",
]
