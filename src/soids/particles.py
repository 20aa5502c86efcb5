"""A weighted cloud of parameters standing in for a posterior."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats


class Particles(NamedTuple):
    """Parameters with weights; every expectation under the posterior is a weighted average over
    them.
    """

    thetas: Floats  # (M, d)
    included: Bools  # (M, d)  which features each particle holds to matter
    weights: Floats  # (M,)  non-negative, sum to one

    def mean(self) -> Floats:  # (d,)
        return self.weights @ self.thetas

    def inclusion(self) -> Floats:  # (d,)
        """The posterior probability that each feature matters."""
        return np.minimum(self.weights @ self.included, 1.0)

    def effective_size(self) -> float:
        """How many equally weighted particles would be as good."""
        return float(1.0 / (self.weights**2).sum())
