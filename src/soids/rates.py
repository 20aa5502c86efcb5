"""Learning rates of the optimistic posterior, as functions of the history.

The rate multiplies rewards in units of the noise. In the round after t observed rewards the
optimistic posterior has rate(progress) with ``progress.rounds = t``, the paper's ``lambda_t``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from soids.arrays import Floats, as_number
from soids.designs import c_min
from soids.spelling import meant


@dataclass(frozen=True)
class Progress:
    """The arguments of a learning rate."""

    rounds: float  # rewards observed so far; a fraction if old ones count less
    dimension: int
    sparsity: float  # as given, or as estimated so far
    ratios: float = 0.0  # sum of the 2-ratios of the policies played
    root_ratios: float = 0.0  # sum of the square roots of their 3-ratios
    actions: Floats | None = None  # (K, d)  the actions on offer
    action_bound: float | None = None  # on the size of their features, if known in advance

    @property
    def c_min(self) -> float:
        """C_min of the actions over their bound, or over their largest entry above 1."""
        if self.actions is None:
            raise ValueError("actions must be given to compute C_min, got None")
        return c_min(self.actions, self.action_bound or max(1.0, np.abs(self.actions).max()))


Rate = Callable[[Progress], float]

CAP = 0.5  # of every named rate


def constant(value: float) -> Rate:
    """The same learning rate in every round."""
    return lambda progress: value


def experiment(progress: Progress) -> float:
    """The schedule of the paper's experiments.

    >>> round(experiment(Progress(rounds=1000, dimension=100, sparsity=10)), 4)
    0.0047
    """
    return min(CAP, max(experiment_terms(progress)))


def experiment_terms(progress: Progress) -> tuple[float, float]:
    """The data-rich and the data-poor term of that schedule."""
    t, d, s = progress.rounds, progress.dimension, progress.sparsity
    if t == 0:
        return math.inf, math.inf
    log = math.log(math.e * d * t / s)
    return 0.1 * math.sqrt(s * log / (d * t)), 0.1 * float((log / t) ** (2 / 3))


def balanced(progress: Progress) -> float:
    """The default with a radius: three times the schedule of the experiments.

    From 100 rounds on it is multiplied by ``sqrt(100 / t)``: optimism has then explored enough, and
    its effect on the posterior would grow with rate times rounds.
    """
    decay = math.sqrt(100.0 / max(100, progress.rounds))
    return min(CAP, 3.0 * decay * experiment(progress))


def cautious(progress: Progress) -> float:
    """The default without a radius: ``1.5 (s / 8)^(2/3)`` times the schedule of the experiments.

    From 50 rounds on it is multiplied by ``sqrt(50 / t)``, so that rate times rounds does not grow.
    """
    decay = math.sqrt(50.0 / max(50, progress.rounds))
    factor: float = 1.5 * (progress.sparsity / 8.0) ** (2 / 3)
    return min(CAP, factor * decay * experiment(progress))


def rich(progress: Progress) -> float:
    """Theorem 2's data-rich rate, ``lambda^(2)``."""
    return rich_rate(progress.dimension, progress.sparsity, progress.rounds + 1)


def theorem2(progress: Progress) -> float:
    """The rate of Theorem 2: the larger of the two, at most one half."""
    return min(CAP, max(theorem2_terms(progress)))


def theorem2_terms(progress: Progress) -> tuple[float, float]:
    """Theorem 2's data-rich and data-poor rates."""
    now = progress.dimension, progress.sparsity, progress.rounds + 1
    return rich_rate(*now), poor_rate(*now, progress.c_min)


def theorem3_rich(progress: Progress) -> float:
    """Theorem 3's data-rich rate, from the 2-ratios of the policies played so far."""
    return math.sqrt(progress.sparsity / (2.0 * progress.dimension + progress.ratios))


def theorem3(progress: Progress) -> float:
    """The rate of Theorem 3, from the information ratios of the policies played so far."""
    return min(CAP, max(theorem3_terms(progress)))


def theorem3_terms(progress: Progress) -> tuple[float, float]:
    """Theorem 3's data-rich and data-poor rates."""
    s, c_min, many = progress.sparsity, progress.c_min, theorem3_rich(progress)
    if c_min == 0.0:
        return many, 0.0
    few = s / (3.0 * math.sqrt(6.0) * s / math.sqrt(c_min) + progress.root_ratios)
    return many, float(few ** (2 / 3))


# The formulas of Theorem 2. The sparsity may be an estimate, hence a fraction.


def complexity(dimension: int, sparsity: float, rounds: float) -> float:
    """``C_t = 5 + 2 s log(e d t / s)``, the complexity term of the bounds.

    >>> round(complexity(100, 10, 1000), 4)  # 5 + 20 log(10000 e)
    209.2068
    """
    if rounds < 1:
        raise ValueError(f"rounds must be at least 1, got {rounds}")
    return 5.0 + 2.0 * sparsity * math.log(math.e * dimension * rounds / sparsity)


def rich_rate(dimension: int, sparsity: float, rounds: float) -> float:
    """Theorem 2's data-rich rate ``lambda^(2)`` in the last of ``rounds`` rounds."""
    cost = complexity(dimension, sparsity, rounds)
    return math.sqrt(3.0 * cost / (128.0 * dimension * rounds))


def poor_rate(dimension: int, sparsity: float, rounds: float, c_min: float) -> float:
    """Theorem 2's data-poor rate ``lambda^(3)`` in the last of ``rounds`` rounds."""
    cost = complexity(dimension, sparsity, rounds)
    inner = cost * math.sqrt(c_min) / (rounds * math.sqrt(sparsity))
    return float(inner ** (2 / 3) / (4.0 * 6.0 ** (1 / 3)))


TERMS: dict[str, Callable[[Progress], tuple[float, float]]] = {  # data-rich, data-poor
    **dict.fromkeys(("balanced", "cautious", "experiment"), experiment_terms),
    "theorem2": theorem2_terms,
    "theorem3": theorem3_terms,
}

NAMED = balanced, cautious, experiment, rich, theorem2, theorem3, theorem3_rich
RATES: dict[str, Rate] = {rate.__name__: rate for rate in NAMED} | {"zero": constant(0.0)}


def as_rate(rate: object) -> Rate:
    """A learning rate from its name, a number, or a function of progress."""
    if isinstance(rate, str):
        if rate in RATES:
            return RATES[rate]
        known = f"a number, a function or one of {', '.join(RATES)}"
        raise ValueError(f"rate must be {known}{meant(rate, RATES)}")
    return rate if callable(rate) else constant(as_number(rate, "rate", 0.0))
