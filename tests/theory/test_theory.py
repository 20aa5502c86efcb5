"""The bounds of the paper: by hand, against the chain of inequalities that proves them, and the
lemmas on random posteriors.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import exploration_mixture
from soids import rates as formulas
from soids import theory
from soids.designs import exploratory_design
from soids.information import (
    information_ratio,
    minimise_ratio,
    probability_matching,
    surrogate_gain,
    surrogate_regret,
)
from soids.particles import Particles
from soids.theory import Bound, theorem1, theorem1_adaptive, theorem2, theorem3, theorem3_worst

PROBLEMS = [(100, 10, 0.05), (20, 2, 0.3), (1000, 3, 1.0), (7, 7, 1e-3), (1, 1, 1.0)]


def test_theorem_2_as_computed_by_hand():
    # log(e 100 1000 / 10) = 1 + log(10000) = 10.2103404, so C_T = 5 + 20 * 10.2103404 = 209.206807
    assert formulas.complexity(100, 10, 1000) == pytest.approx(209.206807, rel=1e-8)
    bound = theorem2(100, 10, 1000, c_min=0.05)
    # 27 sqrt(209.206807 * 100 * 1000) = 27 * 4573.91306
    assert bound.rich == pytest.approx(123495.653, rel=1e-8)
    # 30 * (209.206807 * 10 / 0.05)^(1/3) * 1000^(2/3) = 30 * 34.7162... * 100
    assert bound.poor == pytest.approx(3000 * 41841.3614 ** (1 / 3), rel=1e-8)
    # T_min = 40 sqrt(0.3) + 16 sqrt(30) log(800 e sqrt(3) / sqrt(10)) = 21.908902 + 620.690185
    assert bound.additive == pytest.approx(2 * 642.599087, rel=1e-8)
    assert bound.value == bound.poor + bound.additive
    assert bound.regime == "data-poor"


def test_without_c_min_the_data_rich_term_remains():
    alone, both = theorem2(100, 10, 1000), theorem2(100, 10, 1000, c_min=0.05)
    assert alone.poor == math.inf
    assert alone.value == both.rich + both.additive
    assert alone.regime == "data-rich"


@given(st.integers(1, 10**9), st.integers(1, 50), st.integers(0, 1000), st.floats(1e-6, 1.0))
def test_theorem_2_grows_with_horizon_dimension_and_sparsity_and_falls_with_c_min(
    horizon, sparsity, more, c_min
):
    dimension = sparsity + more
    bound = theorem2(dimension, sparsity, horizon, c_min)
    later = theorem2(dimension, sparsity, horizon + 1, c_min)
    wider = theorem2(dimension + 1, sparsity, horizon, c_min)
    denser = theorem2(dimension + 1, sparsity + 1, horizon, c_min)
    better = theorem2(dimension, sparsity, horizon, min(1.0, 2 * c_min))
    assert bound.value <= later.value
    assert bound.value <= wider.value <= denser.value
    assert better.value <= bound.value
    assert later.value / (horizon + 1) <= bound.value / horizon


def largest_regrets(dimension, sparsity, c_min, gains):
    """What the lemmas allow at most for these gains."""
    square, cubic = theory.square_ratio(dimension), theory.cubic_ratio(sparsity, c_min)
    return np.minimum(np.sqrt(square * gains), np.cbrt(cubic * gains))


@pytest.mark.parametrize(("dimension", "sparsity", "c_min"), PROBLEMS)
@pytest.mark.parametrize("horizon", [1, 10, 1000])
def test_theorem_1_with_the_lemmas_stays_below_theorem_2(dimension, sparsity, c_min, horizon):
    rounds = range(1, horizon + 1)
    rich = np.array([formulas.rich_rate(dimension, sparsity, t) for t in rounds])
    poor = np.array([formulas.poor_rate(dimension, sparsity, t, c_min) for t in rounds])
    rates = np.minimum(0.5, np.maximum(rich, poor))
    # what makes 2 sqrt(2 d g) - 3 g / (32 rate) largest, and the same for the cubic ratio
    squarely = 2 * dimension * (32 / 3 * rates) ** 2
    cubicly = (64 / 9 * rates) ** 1.5 * math.sqrt(theory.cubic_ratio(sparsity, c_min))
    bound = theorem2(dimension, sparsity, horizon, c_min)
    for gains in (squarely, cubicly, np.where(rich > poor, squarely, cubicly)):
        regrets = largest_regrets(dimension, sparsity, c_min, gains)
        regret = theorem1(dimension, sparsity, rates, gains, regrets).value
        assert regret <= bound.value
        if horizon >= theory.uncapped_from(dimension, sparsity, c_min):
            assert regret <= min(bound.rich, bound.poor)  # then the proof needs no constant


@pytest.mark.parametrize(("dimension", "sparsity", "c_min"), PROBLEMS[:3])
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0])
def test_theorem_1_with_the_lemmas_stays_below_theorem_3(dimension, sparsity, c_min, scale):
    horizon = 500
    gains = scale * np.random.default_rng(1).random(horizon)
    regrets = largest_regrets(dimension, sparsity, c_min, gains)
    ratios = np.concatenate(([0.0], np.cumsum(regrets**2 / gains)))[:-1]
    roots = np.concatenate(([0.0], np.cumsum(np.sqrt(regrets**3 / gains))))[:-1]
    start = 3 * math.sqrt(6) * sparsity / math.sqrt(c_min)
    rates = np.maximum(
        np.sqrt(sparsity / (2 * dimension + ratios)), (sparsity / (start + roots)) ** (2 / 3)
    )
    limit = theory.slowest(dimension, sparsity, horizon)
    assert limit == pytest.approx(math.sqrt(2 * dimension * horizon / sparsity))  # with the 2
    tally = theorem1_adaptive(dimension, sparsity, rates, gains, regrets, rise=limit, peak=limit)
    bound = theorem3(dimension, sparsity, horizon, ratios[-1], roots[-1], c_min)
    assert tally.value <= bound.value <= theorem3_worst(dimension, sparsity, horizon, c_min).value


def test_theorem_1_as_computed_by_hand():
    # C_4 = 5 + 4 log(20 e) = 5 + 4 * 3.99573227 = 20.9829291, over 1/4; gains 4 * 0.02 * 4 * 3/32
    rates, gains, regrets = np.full(4, 0.25), np.full(4, 0.02), np.full(4, 0.5)
    tally = theorem1(10, 2, rates, gains, regrets)
    assert tally == pytest.approx((83.9317164, 4.0, 0.03, 0.0))
    assert tally.value == pytest.approx(83.9317164 - 0.03 + 4.0)
    # 2 log(4 e^3 100 64 4 5 / 4) = 2 (3 + log(128000)) = 2 * 14.7597854, and 2 + that over 1/4
    adaptive = theorem1_adaptive(10, 2, rates, gains, regrets, rise=2.0, peak=5.0)
    assert adaptive.value == pytest.approx(4 * (2 + 2 * 14.7597854) - 0.03 + 4.0 + 2.0)


def test_large_rates_count_regret_more_often_if_gaps_are_wide():
    rates, gains, regrets = [0.5, 0.5, 0.25], np.zeros(3), np.array([1.0, 0.5, 0.5])
    plain = theorem1(10, 2, rates, gains, regrets)
    assert theorem1(10, 2, rates, gains, regrets, gap=1.0) == plain  # 2 rate gap is 1
    wide = theorem1(10, 2, rates, gains, regrets, gap=2.0)
    assert wide.regret == pytest.approx(1.5 * math.expm1(2.0) / 2.0 + 2.0 * 0.5)
    assert wide._replace(regret=plain.regret) == plain


def test_theorem_3_as_computed_by_hand():
    # 2 / 2 + 80 / 3 + 5 log(500 e) = 1 + 26.6666667 + 36.0730405 = 63.7397072
    bound = theorem3(10, 2, 100, ratios=30.0, root_ratios=8.0, c_min=0.25)
    assert bound.rich == pytest.approx(63.7397072 * 10)  # sqrt(2 (20 + 30))
    assert bound.poor == pytest.approx(63.7397072 * 2 ** (1 / 3) * 37.3938769 ** (2 / 3))
    assert bound.additive == 2.0
    assert theorem3(10, 2, 100, ratios=30.0) == Bound(bound.rich, math.inf, 2.0)


def test_the_worst_of_theorem_3_as_computed_by_hand():
    worst = theorem3_worst(10, 2, 100, c_min=0.25)
    assert worst.rich == pytest.approx(63.7397072 * math.sqrt(2 * 20 * 100))
    # 54 * 2 / 0.25 = 432, and 3 sqrt(6) 2 / 0.5 = 29.3938769
    start = 29.3938769 + 99 * math.sqrt(432)
    assert worst.poor == pytest.approx(63.7397072 * 2 ** (1 / 3) * start ** (2 / 3))


def test_the_largest_problems_have_bounds_too():
    largest = 10**12
    for theorem in (theorem2, theorem3_worst):
        assert 2 * largest < theorem(largest, 1, largest, c_min=1e-300).value < math.inf
    assert theory.meaningful_from(largest, largest) > largest
    assert theory.crossover(largest, 1, 1.0) > largest


@pytest.mark.parametrize(("dimension", "sparsity", "c_min"), PROBLEMS)
def test_the_terms_and_the_rates_are_equal_where_they_cross(dimension, sparsity, c_min):
    horizon = theory.crossover(dimension, sparsity, c_min)
    if horizon == 0.0:
        assert theorem2(dimension, sparsity, 1, c_min).regime == "data-rich"
    else:
        at = theory.terms(dimension, sparsity, horizon, c_min)
        assert at.rich == pytest.approx(at.poor, rel=1e-10)
        before, after = math.floor(horizon), math.ceil(horizon + 1e-9)
        assert theorem2(dimension, sparsity, before, c_min).regime == "data-poor"
        assert theorem2(dimension, sparsity, after, c_min).regime == "data-rich"
    rounds = theory.rate_crossover(dimension, sparsity, c_min)
    if rounds > 0.0:
        rich = formulas.rich_rate(dimension, sparsity, rounds)
        assert rich == pytest.approx(formulas.poor_rate(dimension, sparsity, rounds, c_min))


def test_some_problems_cross_and_some_do_not():
    assert theory.crossover(100, 10, 0.05) > theory.rate_crossover(100, 10, 0.05) > 1.0
    assert theory.crossover(7, 7, 1e-3) == theory.rate_crossover(7, 7, 1e-3) == 0.0


@pytest.mark.parametrize(("dimension", "sparsity"), [(100, 10), (10_000, 100), (1000, 1), (40, 4)])
def test_the_cap_is_needed_until_the_round_returned_and_not_after(dimension, sparsity):
    start = theory.uncapped_from(dimension, sparsity, c_min=1.0)
    assert start > 1
    assert formulas.poor_rate(dimension, sparsity, start - 1, 1.0) > 0.5
    assert formulas.poor_rate(dimension, sparsity, start, 1.0) <= 0.5
    assert formulas.rich_rate(dimension, sparsity, 1) <= 0.5
    assert start <= theory.t_min(dimension, sparsity) / 48
    # the lemma on gaps needs rates of a quarter, and the paper's T_min is late enough for that too
    assert (
        formulas.poor_rate(dimension, sparsity, math.ceil(theory.t_min(dimension, sparsity)), 1.0)
        <= 0.25
    )


@pytest.mark.parametrize(("dimension", "sparsity", "c_min"), [*PROBLEMS, (100, 10, None)])
@pytest.mark.parametrize("gap", [2.0, 0.3])
def test_the_bound_is_below_the_trivial_one_from_there_on(dimension, sparsity, c_min, gap):
    start = theory.meaningful_from(dimension, sparsity, c_min, gap)
    assert theorem2(dimension, sparsity, start - 1, c_min).value >= gap * (start - 1)
    for horizon in (start, 2 * start, 100 * start):
        assert theorem2(dimension, sparsity, horizon, c_min).value < gap * horizon


def test_one_rate_alone_guarantees_less_than_three_fifths_of_theorem_2():
    both = theorem2(100, 10, 1000, 0.05)
    assert theory.rich_alone(100, 10, 1000) == pytest.approx(both.rich * 16 * math.sqrt(2 / 3) / 27)
    assert theory.poor_alone(100, 10, 1000, 0.05) == pytest.approx(both.poor * 0.4 * 6 ** (1 / 3))
    horizon, alone = 1000, range(1, 1001)
    cost = formulas.complexity(100, 10, horizon)
    rich = [formulas.rich_rate(100, 10, t) for t in alone]
    assert cost / rich[-1] + 32 / 3 * sum(rich) * 200 <= theory.rich_alone(100, 10, horizon)
    poor = [formulas.poor_rate(100, 10, t, 0.05) for t in alone]
    roots = sum(math.sqrt(3 * rate * theory.cubic_ratio(10, 0.05)) for rate in poor)
    paid = cost / poor[-1] + 16 / 3 * theory.young_constant(3) * roots
    assert paid <= theory.poor_alone(100, 10, horizon, 0.05)


# The lemmas, on posteriors with optimal actions that are sparse: the corners of the cube, and the
# sign vectors with s non-zero entries, one of which is optimal for every s-sparse parameter.

DIMENSION, SPARSITY = 5, 2
CORNERS = np.array(list(itertools.product([-1.0, 1.0], repeat=DIMENSION)))
SPARSE = np.array(
    [
        a
        for a in itertools.product([-1.0, 0.0, 1.0], repeat=DIMENSION)
        if np.abs(a).sum() == SPARSITY
    ]
)
ACTION_SETS = [SPARSE, np.vstack([CORNERS, SPARSE])]


def random_particles(seed):
    """A random posterior on s-sparse parameters in the unit ball."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    thetas = np.zeros((count, DIMENSION))
    for theta in thetas:
        size = int(rng.integers(1, SPARSITY + 1))
        theta[rng.choice(DIMENSION, size, replace=False)] = rng.uniform(-1, 1, size)
        theta /= max(1.0, np.abs(theta).sum())
    return Particles(thetas, thetas != 0, rng.dirichlet(np.full(count, 0.5)))


@pytest.mark.parametrize("chosen", [0, 1])
@pytest.mark.parametrize("seed", range(40))
def test_ratios_satisfy_the_lemmas_where_optimal_actions_are_sparse(chosen, seed):
    actions, particles = ACTION_SETS[chosen], random_particles(seed)
    regret, gain = surrogate_regret(particles, actions), surrogate_gain(particles, actions)
    design = exploratory_design(actions)
    sampled = probability_matching(particles.thetas @ actions.T, particles.weights, actions)
    explore = exploration_mixture(sampled, design.weights, regret)

    def ratio(law, power):
        return information_ratio(float(law @ regret), float(law @ gain), power)

    best = minimise_ratio(regret, gain)
    paid, learned = best.mean(regret), best.mean(gain)
    slack = 1.0 + 1e-9
    assert best.ratio <= ratio(sampled, 2) * slack <= theory.square_ratio(DIMENSION) * slack
    assert ratio(explore, 3) <= theory.mixture_ratio(SPARSITY, design.value) * slack
    cubic = information_ratio(paid, learned, 3)
    assert cubic <= theory.cubic_ratio(SPARSITY, design.value) * slack
    assert cubic <= theory.minimiser_factor(3) * minimise_ratio(regret, gain, 3).ratio * slack
    for power, multiplier in itertools.product((2, 3), (0.1, 1.0, 10.0)):
        most = theory.regret_by_ratio(
            learned, information_ratio(paid, learned, power), multiplier, power
        )
        assert paid <= most * slack


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_with_the_optimal_multiplier_regret_equals_its_bound(power):
    gain, ratio = 0.3, 7.0
    multiplier = power * gain ** ((power - 1) / power) / ratio ** (1 / power)
    most = theory.regret_by_ratio(gain, ratio, multiplier, power)
    assert most == pytest.approx((gain * ratio) ** (1 / power))


def test_the_prior_is_as_close_as_the_lemma_says():
    for dimension, sparsity in [(10, 1), (100, 10), (7, 7)]:
        masses = sum(2.0**-k for k in range(1, sparsity + 1))
        support = 2.0**-sparsity / (math.comb(dimension, sparsity) * masses)
        for width in (0.5, 0.01):
            divergence = -math.log(support) - sparsity * math.log(width)
            assert divergence <= theory.prior_divergence(dimension, sparsity, width)


def test_scaling_rewards_and_actions_changes_only_the_unit():
    assert theory.reward_unit(3 * 2.0, 1.5, 3 * 1.0) == 3 * theory.reward_unit(2.0, 1.5, 1.0)
    assert theory.reward_unit(2.0, 1.5, 1.0) == theory.reward_unit(2.0 / 8, 8 * 1.5, 1.0) == 3.0
    assert theory.reward_unit(0.1, 1.0, 4.0) == 4.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((100, 200, 10), "sparsity must be in 1..100, got 200"),
        ((100, 0, 10), "sparsity must be in 1..100, got 0"),
        ((100, 2.5, 10), "sparsity must be a whole number, got 2.5"),
        ((0, 1, 10), "dimension must be at least 1, got 0"),
        ((100, 10, 0), "horizon must be at least 1, got 0"),
        ((100, 10, 10**400), "horizon must be finite and at most 1e[+]12"),
        ((100, 10, 10, 0.0), "c_min must be above 0, got 0"),
        ((100, 10, 10, -1), "c_min must be above 0, got -1"),
        ((100, 10, 10, 1.5), "c_min must be at most 1, .*, got 1.5"),
        ((100, 10, 10, math.nan), "c_min must be finite"),
    ],
)
@pytest.mark.parametrize("theorem", [theorem2, theorem3_worst])
def test_invalid_problems_are_refused(theorem, arguments, message):
    with pytest.raises(ValueError, match=message):
        theorem(*arguments)


def test_theorem_3_requires_at_most_half_of_the_features():
    with pytest.raises(ValueError, match=r"at most half the dimension 10 .*, got 6"):
        theorem3(10, 6, 100, ratios=1.0)


@pytest.mark.parametrize(
    ("rates", "gains", "regrets", "message"),
    [
        ([0.6], [1.0], [1.0], "rates must lie in"),
        ([0.1, 0.2], [1.0, 1.0], [1.0, 1.0], "rates must lie in .* never rise"),
        ([0.1, 0.0], [1.0, 1.0], [1.0, 1.0], "rates must lie in"),
        ([0.1], [1.0, 2.0], [1.0], "one length"),
        ([], [], [], "one length"),
        ([0.1], [-1.0], [1.0], "must not be negative"),
        ([0.1], [1.0], [-1.0], "must not be negative"),
    ],
)
def test_theorem_1_refuses_histories_that_it_does_not_cover(rates, gains, regrets, message):
    with pytest.raises(ValueError, match=message):
        theorem1(10, 2, rates, gains, regrets)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"rise": 1.0, "peak": 10.0}, "rise must be at least 8, which the rates reach, got 1"),
        ({"rise": 8.0, "peak": 9.0}, "peak must be at least 10, which the rates reach, got 9"),
        ({"rise": 0.5, "peak": 9.0}, "rise must be at least 1, got 0.5"),
    ],
)
def test_bounds_on_the_rates_must_hold(bounds, message):
    with pytest.raises(ValueError, match=message):
        theorem1_adaptive(10, 2, [0.5, 0.1], [0.0, 0.0], [1.0, 1.0], **bounds)
