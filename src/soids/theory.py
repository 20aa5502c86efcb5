"""What the paper proves, in numbers: Theorems 1 to 3 and the lemmas that they rest on.

Bounds are on expected regret. They assume ``|theta|_1 <= 1`` with at most s non-zero coefficients,
actions in ``[-1, 1]^d``, noise that is 1-sub-Gaussian, and eta = 1/4. What uses C_min also assumes
that optimal actions have at most s non-zero features (Definition 1).

Notation, as in the paper
    dimension  d
    sparsity   s
    horizon    T
    c_min      C_min, in (0, 1]: the best smallest eigenvalue of a design; None if the actions do
               not span the space or it is not known, which leaves the data-rich term
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from scipy.special import lambertw

from soids.arrays import Floats, as_count, as_floats, as_number
from soids.rates import complexity

WIDEST_GAP = 2.0  # rewards lie in [-1, 1]


class Bound(NamedTuple):
    """A bound on regret that holds in two regimes: the smaller term counts."""

    rich: float
    poor: float  # infinite without C_min
    additive: float

    @property
    def value(self) -> float:
        """What the regret is at most."""
        return min(self.rich, self.poor) + self.additive

    @property
    def regime(self) -> str:
        """The regime whose term is the smaller one."""
        return "data-poor" if self.poor < self.rich else "data-rich"


# Theorems


def theorem1(dimension: int, sparsity: int, rates: object, gains: object, regrets: object) -> float:
    """Theorem 1 for learning rates that do not depend on the history.

    ``rates`` are ``lambda_0 .. lambda_{T-1}``, the others the surrogate gains and regrets of the
    policies in rounds ``1 .. T``; the theorem takes the expectation of what this returns. Its proof
    needs ``2 rate gap <= 1``, so rates above 1/4 are covered only while no gap exceeds 1/(2 rate).

    >>> round(theorem1(100, 10, [0.5, 0.1], [0.0, 0.0], [1.0, 1.0]), 3)  # C_2 / 0.1 + 4
    853.146
    """
    require(dimension, sparsity)
    rate, gain, regret = as_histories(rates, gains, regrets)
    return complexity(dimension, sparsity, len(rate)) / float(rate[-1]) + paid(rate, gain, regret)


def theorem1_adaptive(
    dimension: int,
    sparsity: int,
    rates: object,
    gains: object,
    regrets: object,
    *,
    rise: float,
    peak: float,
) -> float:
    """Theorem 1 for learning rates that depend on the history.

    ``rise`` is ``C_{1,T}``, a bound on ``1 / lambda_t - 1 / lambda_{t-1}`` known in advance, and
    ``peak`` is ``C_{2,T}``, one on ``1 / lambda_{T-1}``. Larger bounds are as valid, and the proof
    asks for a rise of at least 1.
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
    rounds, s = len(rate), sparsity
    log = 2.0 * math.log(dimension / s) + 3.0 * math.log(rounds)
    log += math.log(4.0) + 3.0 + 2.0 * math.log(rise) + math.log(peak)
    return (2.0 + s * log) / float(rate[-1]) + paid(rate, gain, regret) + 2.0


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
    dimension: int,
    sparsity: int,
    horizon: int,
    ratios: float,
    root_ratios: float = 0.0,
    c_min: float | None = None,
) -> Bound:
    """Theorem 3: the regret of SOIDS with ``rate="theorem3"``, by the ratios of what it played.

    ``ratios`` is the sum of the 2-ratios of rounds ``1 .. T-1``, and ``root_ratios`` that of the
    square roots of their 3-ratios; the theorem takes the expectation of what this returns. Both
    end at ``T-1`` as in the proof, and the 2 that Theorem 1 adds, lost on the way, is kept.
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
    before = horizon - 1
    roots = 0.0 if c_min is None else before * math.sqrt(cubic_ratio(sparsity, c_min))
    ratios = before * square_ratio(dimension)
    return adaptive_terms(dimension, sparsity, horizon, ratios, roots, c_min)


# Horizons


def t_min(dimension: int, sparsity: int) -> float:
    """The paper's ``T_min``, from which both of Theorem 2's rates are at most one half.

    The proof asks for ``T >= 4 sqrt(3 / s) C_T`` where ``T >= C_T / (4 sqrt(3 s))`` would do, 48
    times less: see `uncapped_from`.

    >>> round(t_min(100, 10), 2)
    642.6
    """
    require(dimension, sparsity)
    s = sparsity
    log = math.log(8.0 * math.e * math.sqrt(3.0) * dimension / math.sqrt(s))
    return 40.0 * math.sqrt(3.0 / s) + 16.0 * math.sqrt(3.0 * s) * log


def uncapped_from(dimension: int, sparsity: int, c_min: float | None = None) -> int:
    """The first round in which Theorem 2's rate does not need its cap of one half.

    >>> uncapped_from(100, 10, c_min=1.0)
    5
    """
    require(dimension, sparsity, c_min=c_min)
    if c_min is None:
        return 1  # lambda^(2) is at most one half in every round
    factor = math.sqrt(c_min) / (4.0 * math.sqrt(3.0 * sparsity))
    return max(1, math.ceil(crossing(factor, dimension, sparsity)))


def crossover(dimension: int, sparsity: int, c_min: float) -> float:
    """The horizon at which Theorem 2's terms are equal: before it data are poor, after it rich.

    Zero if data are rich from the first round on.
    """
    require(dimension, sparsity, c_min=c_min)
    factor = 0.9**6 * dimension * (dimension * c_min / sparsity) ** 2  # 0.9 is 27 over 30
    return crossing(factor, dimension, sparsity)


def rate_crossover(dimension: int, sparsity: int, c_min: float) -> float:
    """The round in which Theorem 2's rates are equal, or zero if it lies before the first."""
    require(dimension, sparsity, c_min=c_min)
    factor = 4.0**6 / 6.0**5 * dimension * (dimension * c_min / sparsity) ** 2
    return crossing(factor, dimension, sparsity)


def meaningful_from(
    dimension: int, sparsity: int, c_min: float | None = None, gap: float = WIDEST_GAP
) -> int:
    """The first horizon at which Theorem 2 says more than that no round costs more than ``gap``.

    >>> meaningful_from(20, 2)
    248072
    """
    require(dimension, sparsity, c_min=c_min)
    return first_below(lambda horizon: terms(dimension, sparsity, horizon, c_min).value, gap)


def rich_alone_from(dimension: int, sparsity: int, gap: float = WIDEST_GAP) -> int:
    """The same for the data-rich rate alone, which needs no Definition 1.

    >>> rich_alone_from(20, 2)
    52648
    """
    require(dimension, sparsity)
    return first_below(lambda horizon: rich_alone(dimension, sparsity, horizon), gap)


# Lemmas


def square_ratio(dimension: int) -> float:
    """What the 2-ratio of SOIDS and of FGTS is at most (Lemma IR_bound)."""
    return 2.0 * as_count(dimension, "dimension")


def cubic_ratio(sparsity: int, c_min: float) -> float:
    """What the 3-ratio of SOIDS is at most (Lemma IR_bound): twice that of its forerunner."""
    return minimiser_factor(3.0) * mixture_ratio(sparsity, c_min)


def mixture_ratio(sparsity: int, c_min: float) -> float:
    """What the 3-ratio of `soids.information.exploring` is at most (Lemma IR_bound)."""
    require(sparsity, sparsity, c_min=c_min)
    return 27.0 * sparsity / c_min


def minimiser_factor(power: float) -> float:
    """How many times the least p-ratio SOIDS pays, at most (Lemma GIR_minimizer)."""
    return float(2.0 ** (as_number(power, "power", 2.0) - 2.0))


def young_constant(power: float) -> float:
    """The constant ``c*_p`` of the generalised AM-GM inequality (Lemma Gen_AM_GM).

    >>> young_constant(2), young_constant(3) == 2 / 3**1.5
    (0.25, True)
    """
    as_number(power, "power", 1.0, strict=True)
    return float((power - 1.0) * power ** (-power / (power - 1.0)))


def regret_by_ratio(gain: float, ratio: float, price: float, power: float = 2.0) -> float:
    """What surrogate regret is at most, at any ``price`` of information (Lemma regret_GIR_bound).

    >>> regret_by_ratio(gain=1.0, ratio=4.0, price=1.0)  # regret 2, from 2**2 / 1
    2.0
    """
    as_number(gain, "gain", 0.0)
    as_number(ratio, "ratio", 0.0)
    as_number(price, "price", 0.0, strict=True)
    rest: float = (price * ratio) ** (1.0 / (power - 1.0))
    return gain / price + young_constant(power) * rest


def rich_alone(dimension: int, sparsity: int, horizon: int) -> float:
    """What the rate ``lambda^(2)`` alone guarantees (Lemma history_indep_learning_rates)."""
    require(dimension, sparsity, horizon)
    return 16.0 * math.sqrt(
        2.0 / 3.0 * complexity(dimension, sparsity, horizon) * dimension * horizon
    )


def poor_alone(dimension: int, sparsity: int, horizon: int, c_min: float) -> float:
    """What the rate ``lambda^(3)`` alone guarantees (Lemma history_indep_learning_rates)."""
    require(dimension, sparsity, horizon, c_min)
    cost = sparsity * complexity(dimension, sparsity, horizon) / c_min
    return float(12.0 * (6.0 * cost) ** (1 / 3) * horizon ** (2 / 3))


def prior_divergence(dimension: int, sparsity: int, width: float) -> float:
    """How far the prior is from one within ``width`` of theta (Lemma prior_comparator_bound)."""
    require(dimension, sparsity)
    as_number(width, "width", 0.0, strict=True)
    return sparsity * math.log(2.0 * math.e * dimension / (width * sparsity))


# Units


def reward_unit(radius: float, size: float, noise: float) -> float:
    """What to divide rewards by for the theorems to apply, and to multiply their bounds by.

    With ``|theta|_1 <= radius``, actions of entries up to ``size`` and noise that is
    ``noise``-sub-Gaussian, rewards over this unit and actions over their size are as assumed, and
    C_min is that of the actions over their size.

    >>> reward_unit(radius=10.0, size=1.0, noise=1.0)
    10.0
    """
    as_number(radius, "radius", 0.0, strict=True)
    as_number(size, "size", 0.0, strict=True)
    as_number(noise, "noise", 0.0)
    return max(radius * size, noise)


# What the functions above share


def terms(dimension: int, sparsity: int, horizon: int, c_min: float | None) -> Bound:
    """Theorem 2 at any horizon, unchecked."""
    cost = complexity(dimension, sparsity, horizon)
    poor = math.inf
    if c_min is not None:
        poor = 30.0 * (cost * sparsity / c_min) ** (1 / 3) * float(horizon) ** (2 / 3)
    rich = 27.0 * math.sqrt(cost * dimension * horizon)
    return Bound(rich, poor, 2.0 * t_min(dimension, sparsity))


def first_below(bound: Callable[[int], float], gap: float) -> int:
    """The first horizon at which a bound is below ``gap`` a round; its share of a round falls."""
    as_number(gap, "gap", 0.0, strict=True)
    high = 1
    while bound(high) >= gap * high:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if bound(middle) >= gap * middle:
            low = middle
        else:
            high = middle
    return high


def adaptive_terms(
    dimension: int,
    sparsity: int,
    horizon: int,
    ratios: float,
    root_ratios: float,
    c_min: float | None,
) -> Bound:
    """Theorem 3 with sums of ratios of any size."""
    d, s = dimension, sparsity
    if 2 * s > d:
        raise ValueError(f"sparsity must be at most half the dimension {d} for Theorem 3, got {s}")
    factor = 2.0 / s + 80.0 / 3.0 + 5.0 * math.log(math.e * d * horizon / s)
    rich = factor * math.sqrt(s * (2.0 * d + ratios))
    poor = math.inf
    if c_min is not None:
        start = 3.0 * math.sqrt(6.0) * s / math.sqrt(c_min)
        poor = factor * s ** (1 / 3) * (start + root_ratios) ** (2 / 3)
    return Bound(rich, poor, 2.0)


def crossing(factor: float, dimension: int, sparsity: int) -> float:
    """The horizon at which ``T = factor C_T``, or zero if it lies before the first round.

    There is at most one, because ``T / C_T`` rises. With ``C_T = C_1 + 2 s log T`` it is a value of
    Lambert's W on its lower branch.
    """
    first = complexity(dimension, sparsity, 1)
    if factor * first < 1.0:
        return 0.0
    slope = 2.0 * sparsity * factor
    return float(-slope * lambertw(-math.exp(-first / (2.0 * sparsity)) / slope, -1).real)


def paid(rates: Floats, gains: Floats, regrets: Floats) -> float:
    """The sums of Theorem 1: twice the regret, less what the information gained is worth."""
    return float(2.0 * regrets.sum() - 3.0 / 32.0 * (gains / rates).sum())


def as_histories(rates: object, gains: object, regrets: object) -> tuple[Floats, Floats, Floats]:
    """Three sequences of one length, as Theorem 1 asks for them."""
    rate, gain, regret = (
        as_floats(values, name)
        for values, name in ((rates, "rates"), (gains, "gains"), (regrets, "regrets"))
    )
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


def require(dimension: int, sparsity: int, horizon: int = 1, c_min: float | None = None) -> None:
    """Refuse what is no problem of the kind, with a message that names the argument."""
    as_number(as_count(dimension, "dimension"), "dimension")  # the latter for the upper limit
    as_count(sparsity, "sparsity", 1, dimension)
    as_number(as_count(horizon, "horizon"), "horizon")
    if c_min is not None and as_number(c_min, "c_min", 0.0, strict=True) > 1.0:
        raise ValueError(
            f"c_min must be at most 1, the best that actions in [-1, 1]^d allow, got {c_min:g}"
        )
