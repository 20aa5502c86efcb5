"""Ridge regression, and confidence ellipsoids around its estimate.

Notation
    precision  (d, d)  penalty * I + sum of a a'       factor  its lower Cholesky factor
    length     of an action: its norm in the inverse of the precision
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs

from soids.arrays import STRIP, Floats
from soids.evidence import Evidence


class Ellipsoid(NamedTuple):
    """All parameters within a radius of the centre, in the norm of the precision."""

    centre: Floats  # (d,)
    factor: Floats  # (d, d)
    radius: float
    origin: Floats | None = None  # (d,)  with an intercept, the mean action: lengths are from there

    def holds(self, theta: Floats) -> bool:
        return bool(np.linalg.norm(self.factor.T @ (theta - self.centre)) <= self.radius)

    def lengths(self, actions: Floats) -> Floats:  # (K,)
        """Lengths of the actions, which times the radius are the uncertainty of their rewards."""
        lengths = np.empty(len(actions))
        for first in range(0, len(actions), STRIP):
            solved = self.whitened(actions[first : first + STRIP])
            np.einsum("ki,ki->k", solved, solved, out=lengths[first : first + STRIP])
        return np.sqrt(lengths, out=lengths)

    def whitened(self, actions: Floats) -> Floats:  # (K, d)
        """The actions in coordinates in which the ellipsoid is a ball."""
        deviations = self.deviations(actions)
        return np.asarray(dtrsm(1.0, self.factor, deviations, side=1, lower=1, trans_a=1))

    def deviations(self, actions: Floats) -> Floats:  # (K, d)
        """The actions seen from the origin."""
        return actions if self.origin is None else actions - self.origin


def ridge(evidence: Evidence, penalty: float) -> tuple[Floats, Floats]:
    """The ridge estimate (d,), and the Cholesky factor (d, d) of its precision."""
    precision = evidence.gram.copy()
    precision.flat[:: len(precision) + 1] += penalty
    factor, failed = dpotrf(precision.T, lower=1, overwrite_a=1)  # symmetric: nothing is copied
    if failed:
        raise ValueError(
            f"ridge must not vanish beside the squares of the actions, got {penalty:g}: "
            "rescale the actions, or raise it"
        )
    return dpotrs(factor, evidence.moment, lower=1)[0], factor


def self_normalised_radius(
    factor: Floats, penalty: float, noise: float, norm: float, delta: float
) -> float:
    """The radius with which all ellipsoids hold the parameter, with probability ``1 - delta``.

    Theorem 2 of Abbasi-Yadkori, Pal, Szepesvari (2011): the noise is ``noise``-sub-Gaussian, and
    ``norm`` bounds the parameter's l2 norm.

    >>> round(self_normalised_radius(np.eye(3), 1.0, noise=1.0, norm=2.0, delta=0.01), 4)
    5.0349
    """
    log_growth = float(np.log(factor.diagonal()).sum()) - 0.5 * len(factor) * math.log(penalty)
    return noise * math.sqrt(2.0 * (log_growth - math.log(delta))) + math.sqrt(penalty) * norm
