"""Theorems 1 to 3 as functions; `soids.theory` lists their assumptions."""

import math
from typing import NamedTuple

from soids.arrays import Floats, as_floats, as_number
from soids.rates import complexity
from soids.theory.lemmas import cubic_ratio, gap_factor, square_ratio
from soids.theory.problem import require


class Bound(NamedTuple):
    """A bound on regret: the smaller of the terms for two regimes, plus a constant."""

    rich: float
    poor: float  # infinite without C_min
    additive: float

    @property
    def value(self) -> float:
        return min(self.rich, self.poor) + self.additive

    @property
    def regime(self) -> str:
        return "data-poor" if self.poor < self.rich else "data-rich"


class Tally(NamedTuple):
    """The terms of Theorem 1 on one history."""

    complexity: float  # over the last learning rate
    regret: float  # twice the surrogate regret of all rounds
    gain: float  # 3/32 of the information gain of all rounds, each over its learning rate
    additive: float = 0.0

    @property
    def value(self) -> float:
        return self.complexity + self.regret - self.gain + self.additive


def theorem1(
    dimension: int, sparsity: int, rates: object, gains: object, regrets: object, *,
    gap: float | None = None,
) -> Tally:  # fmt: skip
    """Theorem 1 for learning rates that do not depend on the history.

    ``rates`` are ``lambda_0 .. lambda_{T-1}``; ``gains`` and ``regrets`` are the surrogate gains
    and regrets of the policies in rounds ``1 .. T``. The theorem bounds regret by the expectation
    of this value. In its proof the factor 2 of the surrogate regret needs ``2 rate gap <= 1.256``;
    with ``gap``, an upper bound on the gaps of all parameters, rounds with larger rates have the
    factor of `gap_factor`.

    >>> round(theorem1(100, 10, [0.5, 0.1], [0.0, 0.0], [1.0, 1.0]).value, 3)  # C_2 / 0.1 + 4
    853.146
    """
    require(dimension, sparsity)
    rate, gain, regret = as_histories(rates, gains, regrets)
    return tally(complexity(dimension, sparsity, len(rate)), rate, gain, regret, gap)


def theorem1_adaptive(
    dimension: int, sparsity: int, rates: object, gains: object, regrets: object, *,
    rise: float, peak: float, gap: float | None = None,
) -> Tally:  # fmt: skip
    """Theorem 1 for learning rates that depend on the history.

    ``rise`` is ``C_{1,T}``, a bound on ``1 / lambda_t - 1 / lambda_{t-1}`` known in advance and at
    least 1, and ``peak`` is ``C_{2,T}``, a bound on ``1 / lambda_{T-1}``.
    """
    require(dimension, sparsity)
    rate, gain, regret = as_histories(rates, gains, regrets)
    as_number(rise, "rise", 1.0)
    as_number(peak, "peak", 2.0)
    steepest = float((1.0 / rate[1:] - 1.0 / rate[:-1]).max(initial=0.0))
    for name, bound, seen in (("rise", rise, steepest), ("peak", peak, 1.0 / float(rate[-1]))):
        if seen > bound * (1.0 + 1e-12):
            raise ValueError(
                f"{name} must be at least {seen:g}, which the rates reach, got {bound:g}"
            )
    cost = adaptive_complexity(dimension, sparsity, len(rate), rise, peak)
    return tally(cost, rate, gain, regret, gap)._replace(additive=2.0)


def adaptive_complexity(
    dimension: int, sparsity: int, horizon: int, rise: float, peak: float
) -> float:
    """The complexity that replaces ``C_T`` if learning rates depend on the history."""
    log = 2.0 * math.log(dimension / sparsity) + 3.0 * math.log(horizon)
    log += math.log(4.0) + 3.0 + 2.0 * math.log(rise) + math.log(peak)
    return 2.0 + sparsity * log


def slowest(dimension: int, sparsity: int, horizon: int) -> float:
    """The largest ``1 / lambda_{T-1}`` of Theorem 3's rates, for rise and peak of Theorem 1.

    It is ``sqrt(2 d T / s)``, because no 2-ratio exceeds ``2 d``; the paper's text omits the 2.
    """
    require(dimension, sparsity, horizon)
    return math.sqrt(2.0 * dimension * horizon / sparsity)


def theorem2(dimension: int, sparsity: int, horizon: int, c_min: float | None = None) -> Bound:
    """Theorem 2: the regret of SOIDS with ``rate="theorem2"``.

    The additive constant is ``2 T_min``, as in the last lines of the proof.

    >>> bound = theorem2(100, 10, 1000, c_min=0.05)
    >>> round(bound.rich), round(bound.poor), round(bound.additive), bound.regime
    (123496, 104149, 1285, 'data-poor')
    """
    require(dimension, sparsity, horizon, c_min)
    return terms(dimension, sparsity, horizon, c_min)


def theorem3(
    dimension: int, sparsity: int, horizon: int, ratios: float, root_ratios: float = 0.0,
    c_min: float | None = None,
) -> Bound:  # fmt: skip
    """Theorem 3: the regret of SOIDS with ``rate="theorem3"``, from its information ratios.

    ``ratios`` is the sum of the 2-ratios of rounds ``1 .. T-1``, and ``root_ratios`` that of the
    square roots of their 3-ratios. The theorem bounds regret by the expectation of this value. Both
    sums end at ``T-1`` as in the proof, and the 2 of Theorem 1, which the paper omits, is kept.
    """
    require(dimension, sparsity, horizon, c_min)
    as_number(ratios, "ratios", 0.0)
    as_number(root_ratios, "root_ratios", 0.0)
    return adaptive_terms(dimension, sparsity, horizon, ratios, root_ratios, c_min)


def theorem3_worst(
    dimension: int, sparsity: int, horizon: int, c_min: float | None = None
) -> Bound:
    """Theorem 3 with every ratio as large as the lemmas allow."""
    require(dimension, sparsity, horizon, c_min)
    root = 0.0 if c_min is None else math.sqrt(cubic_ratio(sparsity, c_min))
    sums = (horizon - 1) * square_ratio(dimension), (horizon - 1) * root
    return adaptive_terms(dimension, sparsity, horizon, *sums, c_min)


def t_min(dimension: int, sparsity: int) -> float:
    """The paper's ``T_min``, from which both of Theorem 2's rates are at most one half.

    The proof requires ``T >= 4 sqrt(3 / s) C_T``, although ``T >= C_T / (4 sqrt(3 s))``, 48 times
    less, is enough: see `soids.theory.uncapped_from`.

    >>> round(t_min(100, 10), 2)
    642.6
    """
    require(dimension, sparsity)
    s = sparsity
    log = math.log(8.0 * math.e * math.sqrt(3.0) * dimension / math.sqrt(s))
    return 40.0 * math.sqrt(3.0 / s) + 16.0 * math.sqrt(3.0 * s) * log


# What the functions above share


def terms(dimension: int, sparsity: int, horizon: int, c_min: float | None) -> Bound:
    """Theorem 2 at any horizon, unchecked."""
    cost = complexity(dimension, sparsity, horizon)
    poor = math.inf
    if c_min is not None:
        poor = 30.0 * (cost * sparsity / c_min) ** (1 / 3) * float(horizon) ** (2 / 3)
    rich = 27.0 * math.sqrt(cost * dimension * horizon)
    return Bound(rich, poor, 2.0 * t_min(dimension, sparsity))


def adaptive_terms(
    d: int, s: int, horizon: int, ratios: float, root_ratios: float, c_min: float | None
) -> Bound:
    """Theorem 3 for given sums of ratios, unchecked but for the sparsity."""
    if 2 * s > d:
        raise ValueError(f"sparsity must be at most half the dimension {d} for Theorem 3, got {s}")
    factor = 2.0 / s + 80.0 / 3.0 + 5.0 * math.log(math.e * d * horizon / s)
    rich = factor * math.sqrt(s * (2.0 * d + ratios))
    poor = math.inf
    if c_min is not None:
        start = 3.0 * math.sqrt(6.0) * s / math.sqrt(c_min)
        poor = factor * s ** (1 / 3) * (start + root_ratios) ** (2 / 3)
    return Bound(rich, poor, 2.0)


def tally(
    cost: float, rates: Floats, gains: Floats, regrets: Floats, gap: float | None = None
) -> Tally:
    """The terms of Theorem 1, unchecked; the factor of the regret is 2 without a ``gap``."""
    factor = 2.0 if gap is None else gap_factor(rates, gap)
    gain = float(3.0 / 32.0 * (gains / rates).sum())
    return Tally(cost / float(rates[-1]), float((factor * regrets).sum()), gain)


def as_histories(rates: object, gains: object, regrets: object) -> tuple[Floats, Floats, Floats]:
    """Three checked sequences of one length, as Theorem 1 requires."""
    given = {"rates": rates, "gains": gains, "regrets": regrets}
    rate, gain, regret = (as_floats(values, name) for name, values in given.items())
    if not (rate.shape == gain.shape == regret.shape == (rate.size,) and rate.size > 0):
        raise ValueError(
            "rates, gains and regrets must be sequences of one length, one number a round, got "
            f"shapes {rate.shape}, {gain.shape} and {regret.shape}"
        )
    if not (rate[-1] > 0.0 and rate[0] <= 0.5 and (rate[1:] <= rate[:-1]).all()):
        raise ValueError("rates must lie in (0, 1/2] and never rise")
    if gain.min() < 0.0 or regret.min() < 0.0:
        raise ValueError("gains and regrets must not be negative")
    return rate, gain, regret
