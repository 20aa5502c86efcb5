"""Bounds on the information ratios of weighted particles, and the learning rate's term in force.

The bounds are those of Lemma IR_bound, whose proof holds for any distribution over parameters, and
so for the particles. The 3-ratio is bounded with their largest l1 norm in place of 1, and with the
non-zero features of the densest action that is best for some particle in place of s. Definition 1
says that these are no more than s.
"""

import math

import numpy as np

from soids import rates, theory
from soids.arrays import Floats
from soids.designs import c_min
from soids.policies.appraisal import GAINS
from soids.policies.coverage import RICH
from soids.policies.posterior_rule import PosteriorRule
from soids.rates import Progress


def most_features(rewards: Floats, actions: Floats) -> int:
    """The most non-zero features of an action that is best for some row of the rewards (M, K)."""
    features = np.count_nonzero(actions, axis=1)
    if (features == features[0]).all():
        return int(features[0])
    order = np.argsort(features, kind="stable")  # ties go to the sparsest, as the lemma asks
    return int(features[order[rewards[:, order].argmax(axis=1)]].max())


def exploration(actions: Floats) -> tuple[float, float]:
    """C_min of the actions divided by their largest entry, and the size of that entry."""
    size = float(np.abs(actions).max())
    return (c_min(actions, size) if size else 0.0), size


def ratio_bounds(
    rule: PosteriorRule, sparsity: int, c_min: float, reach: float
) -> tuple[float, float]:
    """The lemma's bounds on the 2- and 3-ratio if no reward exceeds ``reach`` times the noise.

    The 2-ratio has no unit; the 3-ratio has that of the rewards. The lemma does not cover gains
    that account for the noise, as they may be smaller than it allows.
    """
    if not rule.bounded_ratios or GAINS[rule.gain].noisy:
        return math.nan, math.nan
    square = theory.square_ratio(rule.dimension)
    if 3 not in rule.bounded_ratios:
        return square, math.nan
    return square, theory.cubic_ratio(sparsity, c_min) * reach if c_min > 0.0 else math.inf


def regime(rate: object, progress: Progress) -> str:
    """The term of a named learning rate that is in force; empty for rates without such terms."""
    if rate in RICH:
        return "data-rich"
    if not isinstance(rate, str) or rate not in rates.TERMS:
        return ""
    rich, poor = rates.TERMS[rate](progress)
    if max(rich, poor, rates.RATES[rate](progress)) >= rates.CAP:
        return "cap"
    return "data-poor" if poor > rich else "data-rich"
