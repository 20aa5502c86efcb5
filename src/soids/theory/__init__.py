"""The theorems of the paper as functions, and the lemmas that they rest on.

Bounds are on expected regret. They assume ``|theta|_1 <= 1`` with at most s non-zero coefficients,
actions in ``[-1, 1]^d``, noise that is 1-sub-Gaussian, and eta = 1/4. Terms with C_min also assume
that optimal actions have at most s non-zero features (Definition 1).

Notation, as in the paper
    dimension  d
    sparsity   s
    horizon    T
    c_min      C_min, in (0, 1]: the value of the exploratory design; None if it is unknown or the
               actions do not span the space, which leaves the data-rich term
"""

from soids.theory.horizons import (
    crossover,
    meaningful_from,
    rate_crossover,
    rich_alone_from,
    uncapped_from,
)
from soids.theory.lemmas import (
    cubic_ratio,
    gap_factor,
    minimiser_factor,
    mixture_ratio,
    poor_alone,
    prior_divergence,
    regret_by_ratio,
    rich_alone,
    square_ratio,
    young_constant,
)
from soids.theory.problem import WIDEST_GAP, covered_call, reward_unit
from soids.theory.theorems import (
    Bound,
    Tally,
    adaptive_complexity,
    slowest,
    t_min,
    tally,
    terms,
    theorem1,
    theorem1_adaptive,
    theorem2,
    theorem3,
    theorem3_worst,
)

__all__ = [
    "WIDEST_GAP", "Bound", "Tally", "adaptive_complexity", "covered_call", "crossover",
    "cubic_ratio", "gap_factor", "meaningful_from", "minimiser_factor", "mixture_ratio",
    "poor_alone", "prior_divergence", "rate_crossover", "regret_by_ratio", "reward_unit",
    "rich_alone", "rich_alone_from", "slowest", "square_ratio", "t_min", "tally", "terms",
    "theorem1", "theorem1_adaptive", "theorem2", "theorem3", "theorem3_worst", "uncapped_from",
    "young_constant",
]  # fmt: skip
