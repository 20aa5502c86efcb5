"""Learning rates: against values computed by hand, and against the play that drives them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soids import SOIDS
from soids.information import information_ratio
from soids.rates import (
    RATES,
    Progress,
    as_rate,
    experiment,
    rich,
    theorem2,
    theorem2_terms,
    theorem3,
)

BASIS = np.eye(10)  # C_min = 1 / 10
FLAT = np.ones((3, 10))  # C_min = 0


def progress(rounds, dimension=10, sparsity=2, **more):
    return Progress(rounds, dimension, sparsity, **more)


@pytest.mark.parametrize("dimension", [20, 40, 100])
@pytest.mark.parametrize(
    ("rounds", "rate"), [(0, 0.5), (1, 0.2218), (10, 0.0680), (100, 0.0184), (1000, 0.0047)]
)
def test_the_experiments_rate_is_the_same_in_all_three_dimensions(dimension, rounds, rate):
    now = progress(rounds, dimension, dimension // 10)
    assert experiment(now) == pytest.approx(rate, abs=5e-5)


def test_the_experiments_rate_has_a_rich_branch_and_a_cap():
    # 0.1 sqrt(log(10 e 1e5) / 1e6) = 0.1 sqrt(14.8155 / 1e6)
    assert experiment(progress(100_000, 100, 10)) == pytest.approx(3.84909e-4, rel=1e-5)
    assert experiment(progress(1, 1_000_000, 1)) == 0.5


def test_the_cautious_rate_grows_with_the_sparsity():
    for sparsity, share in [(1, 0.375), (8, 1.5), (64, 6.0)]:
        now = progress(30, 100, sparsity)
        assert RATES["cautious"](now) == pytest.approx(share * experiment(now))
    assert RATES["cautious"](progress(0, 100, 64)) == 0.5


def test_the_cautious_rate_decays_after_fifty_rounds():
    for rounds, share in [(50, 1.5), (200, 0.75), (5000, 0.15)]:
        now = progress(rounds, 100, 8)
        assert RATES["cautious"](now) == pytest.approx(share * experiment(now))


def test_the_default_rate_is_thrice_the_experiments_then_decays_and_is_at_most_a_half():
    for rounds, factor in ((50, 3.0), (100, 3.0), (400, 1.5), (10_000, 0.3)):
        now = progress(rounds, 20, 2)
        assert RATES["balanced"](now) == pytest.approx(factor * experiment(now), rel=1e-12)
    assert RATES["balanced"](progress(0)) == 0.5


def test_theorem_2_as_computed_by_hand():
    # C_10 = 5 + 4 log(50 e) = 24.648092, at t + 1 = 10
    now = progress(9, actions=BASIS)
    assert rich(now) == pytest.approx(math.sqrt(3 * 24.648092 / (128 * 10 * 10)), rel=1e-6)
    assert theorem2_terms(now)[1] == pytest.approx(0.0924844, rel=1e-6)
    assert theorem2(now) == theorem2_terms(now)[1] > rich(now)


def test_theorem_2_grows_rich_and_is_capped():
    late = progress(10**6, actions=BASIS)
    assert theorem2(late) == rich(late) > theorem2_terms(late)[1]
    first = progress(0, 10**4, 1, actions=np.eye(10))  # log(e d / s) is large
    assert theorem2_terms(first)[1] > 0.5
    assert theorem2(first) == 0.5


@given(st.floats(1e-3, 1e3))
def test_c_min_is_of_actions_in_the_unit_cube(size):
    actions = np.random.default_rng(0).uniform(-1, 1, (40, 5))
    actions /= np.abs(actions).max()
    unit = progress(9, 5, actions=actions).c_min
    assert 0.0 < unit < 1.0
    assert progress(9, 5, actions=size * actions, action_bound=size).c_min == pytest.approx(unit)
    by_itself = progress(9, 5, actions=size * actions).c_min
    assert by_itself == pytest.approx(unit * min(1.0, size) ** 2, rel=1e-4)


def test_c_min_is_never_above_one():
    signs = np.array([[1.0, 1.0], [1.0, -1.0]])
    assert 1.0 - 1e-9 < progress(9, 2, actions=7.0 * signs).c_min <= 1.0
    small, large = (theorem2(progress(9, 2, actions=size * signs)) for size in (1.0, 7.0))
    assert large == pytest.approx(small)


def test_theorem_3_as_computed_by_hand():
    # sqrt(2 / 20) = 0.316228, and 3 sqrt(6) 2 / sqrt(1 / 10) = 46.475800
    fresh = progress(5, actions=BASIS)
    assert theorem3(fresh) == pytest.approx(0.316228, rel=1e-5)
    poorly_informed = progress(5, actions=BASIS, ratios=1e6, root_ratios=3.5242)
    assert theorem3(poorly_informed) == pytest.approx((2 / 50) ** (2 / 3), rel=1e-6)


@pytest.mark.parametrize("dimension", [4, 30])  # rich, poor
def test_theorem_3_depends_on_the_ratios_of_the_policies_played(dimension):
    rng = np.random.default_rng(0)
    actions = rng.choice([-1.0, 1.0], (60, dimension))
    policy = SOIDS.theorem3(dimension, sparsity=1, radius=1.0, noise=1.0)
    ratios = root_ratios = 0.0
    for t in range(20):
        decision = policy.choose(actions, rng)
        now = Progress(t, dimension, 1, ratios, root_ratios, actions)
        assert decision.info.rate == pytest.approx(theorem3(now), rel=1e-12)
        policy.observe(decision, decision.action[0] + rng.standard_normal())
        regret, gain, ratio = decision.info[:3]
        ratios += ratio
        root_ratios += math.sqrt(information_ratio(regret, gain, 3))
    assert ratios > 0.0


def test_actions_that_do_not_span_leave_the_rich_rate():
    now = progress(9, actions=FLAT, ratios=12.0)
    assert theorem2_terms(now)[1] == 0.0
    assert theorem2(now) == rich(now)
    assert theorem3(now) == 0.25  # sqrt(2 / (20 + 12))


@given(st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 200))
@pytest.mark.parametrize("name", RATES)
def test_rates_never_rise(name, rounds, sparsity, more):
    rate, actions = RATES[name], np.eye(20)  # theorem 3 asks for s <= d / 2
    earlier, later = (progress(t, 20, sparsity, actions=actions) for t in (rounds, rounds + more))
    assert 0.0 <= rate(later) <= rate(earlier) <= 0.5


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_theorem_3_falls_with_the_ratios(ratios, root_ratios):
    larger = progress(5, actions=BASIS, ratios=ratios, root_ratios=root_ratios)
    assert 0.0 < theorem3(larger) <= theorem3(progress(5, actions=BASIS))


def test_a_rate_is_a_name_a_number_or_a_function():
    assert as_rate("theorem2") is theorem2
    assert as_rate(0.25)(progress(7)) == 0.25
    assert as_rate(np.float32(0.25))(progress(7)) == 0.25
    assert as_rate(lambda now: 1.0 / now.rounds)(progress(8)) == 0.125


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        ("fast", "rate must be a number, a function or one of balanced, .*, got 'fast'"),
        (-0.1, "rate must be at least 0, got -0.1"),
        (math.nan, "rate must be finite .*, got nan"),
        (True, "rate must be a real number, got True"),
        (None, "rate must be a real number, got None"),
    ],
)
def test_other_rates_are_refused(rate, message):
    with pytest.raises(ValueError, match=message):
        as_rate(rate)


def test_c_min_needs_actions():
    with pytest.raises(ValueError, match="actions must be given"):
        _ = progress(1).c_min
