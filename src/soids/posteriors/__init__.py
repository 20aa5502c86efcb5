"""Posteriors, which turn evidence into beliefs, and the contract that they share."""

from soids.posteriors.gaussian import Gaussian
from soids.posteriors.langevin import Langevin
from soids.posteriors.logistic import Logistic
from soids.posteriors.posterior import Belief, Posterior
from soids.posteriors.registry import POSTERIORS, as_posterior, posterior_called
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.spike_slab import SpikeSlab
from soids.posteriors.subset import Ample, Broad, Subset
from soids.posteriors.target import Tuning

__all__ = [
    "POSTERIORS", "Ample", "Belief", "Broad", "Gaussian", "Langevin", "Logistic", "Posterior",
    "Relaxed", "SpikeSlab", "Subset", "Tuning", "as_posterior", "posterior_called",
]  # fmt: skip
