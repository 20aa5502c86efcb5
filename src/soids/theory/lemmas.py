"""The lemmas of the paper that the theorems rest on, as functions.

The p-ratio of a distribution over actions is ``regret**p / gain``, of its surrogate regret and its
surrogate information gain.
"""

import math

import numpy as np

from soids.arrays import Floats, as_count, as_floats, as_number
from soids.rates import complexity
from soids.theory.problem import require


def square_ratio(dimension: int) -> float:
    """Upper bound on the 2-ratio of SOIDS and of FGTS (Lemma IR_bound)."""
    return 2.0 * as_count(dimension, "dimension")


def cubic_ratio(sparsity: int, c_min: float) -> float:
    """Upper bound on the 3-ratio of SOIDS (Lemma IR_bound): twice that of the mixture."""
    return minimiser_factor(3.0) * mixture_ratio(sparsity, c_min)


def mixture_ratio(sparsity: int, c_min: float) -> float:
    """Upper bound on the 3-ratio of the paper's mixture of FGTS and design (Lemma IR_bound)."""
    require(sparsity, sparsity, c_min=c_min)
    return 27.0 * sparsity / c_min


def minimiser_factor(power: float) -> float:
    """The p-ratio of SOIDS is at most this many times the least one (Lemma GIR_minimizer)."""
    return float(2.0 ** (as_number(power, "power", 2.0) - 2.0))


def young_constant(power: float) -> float:
    """The constant ``c*_p`` of the generalised AM-GM inequality (Lemma Gen_AM_GM).

    >>> young_constant(2), young_constant(3) == 2 / 3**1.5
    (0.25, True)
    """
    as_number(power, "power", 1.0, strict=True)
    return float((power - 1.0) * power ** (-power / (power - 1.0)))


def regret_by_ratio(gain: float, ratio: float, multiplier: float, power: float = 2.0) -> float:
    """Upper bound on surrogate regret for any positive multiplier (Lemma regret_GIR_bound).

    >>> regret_by_ratio(gain=1.0, ratio=4.0, multiplier=1.0)  # regret 2, from 2**2 / 1
    2.0
    """
    as_number(gain, "gain", 0.0)
    as_number(ratio, "ratio", 0.0)
    as_number(multiplier, "multiplier", 0.0, strict=True)
    rest: float = (multiplier * ratio) ** (1.0 / (power - 1.0))
    return gain / multiplier + young_constant(power) * rest


def gap_factor(rates: object, gap: float) -> Floats:
    """Upper bound on the factor of a round's surrogate regret in Theorem 1 (Lemma gap_bound).

    ``gap`` bounds the gap of every action under every parameter of the prior, in the units of the
    theorem. The factor is the paper's 2 while ``2 rate gap <= 1.256``, and ``(exp(x) - 1) / x`` at
    ``x = 2 rate gap`` beyond (docs/theory.md).

    >>> gap_factor([0.25, 0.3, 0.5], gap=2.0).round(4).tolist()
    [2.0, 2.0, 3.1945]
    """
    reach = 2.0 * as_floats(rates, "rates") * as_number(gap, "gap", 0.0, strict=True)
    safe = np.maximum(reach, 1e-12)
    return np.maximum(2.0, np.expm1(safe) / safe)


def rich_alone(dimension: int, sparsity: int, horizon: int) -> float:
    """Regret bound of the rate ``lambda^(2)`` alone (Lemma history_indep_learning_rates)."""
    require(dimension, sparsity, horizon)
    cost = complexity(dimension, sparsity, horizon)
    return 16.0 * math.sqrt(2.0 / 3.0 * cost * dimension * horizon)


def poor_alone(dimension: int, sparsity: int, horizon: int, c_min: float) -> float:
    """Regret bound of the rate ``lambda^(3)`` alone (Lemma history_indep_learning_rates)."""
    require(dimension, sparsity, horizon, c_min)
    cost = sparsity * complexity(dimension, sparsity, horizon) / c_min
    return float(12.0 * (6.0 * cost) ** (1 / 3) * horizon ** (2 / 3))


def prior_divergence(dimension: int, sparsity: int, width: float) -> float:
    """Bound on the divergence of the proof's comparator from the prior (Lemma lem:spike_kl).

    The comparator is uniform on the parameters ``(1 - width) theta + width theta'`` with the
    support of theta. They lie within ``2 width`` of theta; the paper's Lemma
    prior_comparator_bound states ``width`` (docs/theory.md).
    """
    require(dimension, sparsity)
    as_number(width, "width", 0.0, strict=True)
    return sparsity * math.log(2.0 * math.e * dimension / (width * sparsity))
