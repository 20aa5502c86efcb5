"""Weighted particles, which represent a posterior."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats


class Particles(NamedTuple):
    """Weighted parameters; expectations under the posterior are averages over them."""

    thetas: Floats  # (M, d)
    included: Bools  # (M, d)  features with a non-zero coefficient in each particle
    weights: Floats  # (M,)  non-negative, sum to one

    def mean(self) -> Floats:  # (d,)
        return self.weights @ self.thetas

    def inclusion(self) -> Floats:  # (d,)
        """The posterior inclusion probability of each feature."""
        return np.minimum(self.weights @ self.included, 1.0)

    def effective_size(self) -> float:
        """The number of equally weighted particles that would be as accurate."""
        return float(1.0 / (self.weights**2).sum())
