"""Pooled p-values: how tests of random draws decide, and how often they err.

A *scene* is one comparison of many averages of random draws with the values that they should have.
``pooled`` combines the p-values of all its averages into one (Cauchy combination, Liu & Xie 2020,
which allows for any dependence between them). If the pooled p-value of a scene is below ALPHA, the
scene is drawn once more, by other random numbers and with MORE times the draws, and the test fails
if that p-value is below ALPHA, too. So right code fails with probability ALPHA squared, 1e-6 per
scene, on any random path: below 1e-3 for the few hundred scenes of all tests together. A bug does
not go away: in the second draw its z-scores are twice as large.
"""

from collections.abc import Callable

import numpy as np
from scipy import stats

from soids.arrays import Floats

ALPHA, MORE = 1e-3, 4


def pooled(p_values: Floats) -> float:
    """One p-value for several."""
    p_values = np.clip(p_values, 1e-15, 0.99)
    return float(stats.cauchy.sf(np.mean(1.0 / np.tan(np.pi * p_values))))


def two_sided(z: Floats) -> Floats:
    """The p-values of standard normal scores."""
    return 2.0 * stats.norm.sf(np.abs(z))


def of_zero_means(rows: Floats) -> Floats:  # (n, k) -> (k,)
    """The p-values of the claim that the independent rows have a mean of zero.

    A column that is zero throughout agrees; any other constant column does not.
    """
    means, errors = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
    z = np.divide(means, errors, out=np.where(means == 0.0, 0.0, np.inf), where=errors > 0.0)
    return 2.0 * stats.t.sf(np.abs(z), len(rows) - 1)


def assert_plausible(scene: Callable[[np.random.Generator, int], Floats]) -> None:
    """Fail if the p-values ``scene(rng, times)`` are too small twice.

    ``times`` is the factor by which the scene multiplies its number of draws: 1, then MORE.
    """
    first = pooled(scene(np.random.default_rng(0), 1))
    if not first > ALPHA:
        second = pooled(scene(np.random.default_rng(1), MORE))
        assert second > ALPHA, f"pooled p-values of two draws: {first:.2g}, then {second:.2g}"
