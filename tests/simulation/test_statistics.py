import math
import statistics
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from soids.simulation.results import Panel, Runs
from soids.simulation.statistics import compare, curve, interval, ranked, summarise
from some_panels import random_panels, runs

TRIALS = 1500


def coverage(draw, mean, count):
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(TRIALS):
        low, high = interval(draw(rng, count))
        hits += low <= mean <= high
    return hits / TRIALS


@pytest.mark.parametrize("count", [2, 5, 6, 10])
def test_the_interval_of_gaussian_values_covers_as_it_says(count):
    error = math.sqrt(0.95 * 0.05 / TRIALS)
    covered = coverage(lambda rng, n: rng.normal(3.0, 2.0, n), 3.0, count)
    assert covered > 0.94 - 4.0 * error  # it may fall short by 1 %; plain BCa does by 5 to 8


def test_the_interval_of_skewed_values_covers_better_than_students():
    covered = coverage(lambda rng, n: rng.exponential(1.0, n), 1.0, 10)
    rng, hits = np.random.default_rng(1), 0
    for _ in range(TRIALS):
        sample = rng.exponential(1.0, 10)
        half = stats.t.ppf(0.975, 9) * sample.std(ddof=1) / math.sqrt(10.0)
        hits += abs(sample.mean() - 1.0) <= half
    assert covered > hits / TRIALS + 0.005  # on the same samples: about 1.5 % better


@pytest.mark.parametrize("count", [6, 10, 30])
def test_the_interval_is_scipys_bca_at_a_wider_level(count):
    sample = np.random.default_rng(count).exponential(1.0, count)
    reach = stats.t.ppf(0.975, count - 1) * math.sqrt(count / (count - 1))
    level = 1.0 - 2.0 * stats.norm.sf(reach)
    theirs = stats.bootstrap(
        (sample,), np.mean, confidence_level=level, n_resamples=40_000, method="BCa", rng=0
    ).confidence_interval
    # Extreme quantiles of 4999 resamples: their error is some 3 % of the width.
    assert interval(sample) == pytest.approx(theirs, abs=0.12 * (theirs.high - theirs.low))


@given(
    st.lists(st.integers(-50, 50), min_size=2, max_size=12),
    st.sampled_from([0.25, 2.0, 8.0]),
    st.integers(-100, 100),
)
def test_the_interval_moves_with_the_values(values, scale, shift):
    low, high = interval(values)
    moved = interval(scale * np.array(values, dtype=float) + shift)
    assert moved == pytest.approx((scale * low + shift, scale * high + shift), abs=1e-9)
    assert low <= np.mean(values) + 1e-9
    assert high >= np.mean(values) - 1e-9


def test_one_value_has_no_interval_and_equal_values_have_a_point():
    assert all(math.isnan(end) for end in interval([3.0]))
    assert interval([0.1] * 7) == (0.1, 0.1)
    assert interval([0.0, 0.0]) == (0.0, 0.0)


def test_one_far_value_does_not_throw_the_interval_out_of_the_range():
    values = [40.0, 41.0, 39.0, 40.5, 39.5, 40.2, 40.1, 39.9, 39.8, 500.0]
    low, high = interval(values)
    assert 39.0 <= low < 86.0 < high <= 500.0


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([], 0.95, r"values must have shape \(N,\)"),
        ([[1.0]], 0.95, r"values must have shape \(N,\)"),
        ([1.0, math.nan], 0.95, "finite"),
        ([1.0, 2.0], 1.0, "level must lie strictly between 0 and 1, got 1"),
    ],
)
def test_bad_values_are_named(values, level, message):
    with pytest.raises(ValueError, match=message):
        interval(values, level)


def test_a_summary_is_what_the_statistics_module_says():
    values = [5.0, 1.0, 4.0, 9.0, 9.0, 2.0]
    panel = Panel("p", {}, {"SOIDS": runs(values, seeds=[9, 1, 2, 3, 0, 5], seconds=0.5)})
    (found,) = summarise(panel)
    assert found.seeds == 6
    assert found.mean == pytest.approx(statistics.mean(values))
    assert found.sd == pytest.approx(statistics.stdev(values))
    assert found.error == pytest.approx(found.sd / math.sqrt(6.0))
    assert found.median == statistics.median(values)
    tenths = statistics.quantiles(values, n=10, method="inclusive")
    assert (found.decile, found.last_decile) == pytest.approx((tenths[0], tenths[-1]))
    assert (found.best, found.worst, found.worst_seeds) == (1.0, 9.0, (0, 3))
    assert found.milliseconds == pytest.approx(10.0)  # half a second for 50 rounds


def test_differences_are_paired_by_seed_whatever_the_order():
    ours = runs([1.0, 2.0, 3.0, 50.0], seeds=[3, 1, 2, 8])
    theirs = runs([7.0, 2.0, 9.0], seeds=[2, 1, 3])
    (found,) = compare(Panel("p", {}, {"A": theirs, "B": ours}), "A")
    assert (found.policy, found.reference, found.seeds) == ("B", "A", 3)
    assert found.mean == pytest.approx((1.0 - 9.0 + 2.0 - 2.0 + 3.0 - 7.0) / 3.0)
    assert (found.won, found.tied) == (2, 1)
    assert found.verdict == "no claim"


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([-3.0, -4.0, -5.0, -4.0, -3.5, -4.5], "less regret"),
        ([3.0, 4.0, 5.0, 4.0, 3.5, 4.5], "more regret"),
        ([-3.0, 4.0, -5.0, 4.0, -3.5, 4.5], "no claim"),
        ([-3.0], "no claim"),  # one seed proves nothing
        ([2.0, 2.0], "no claim"),  # gaps are discrete, so a few seeds may well agree
        ([2.0] * 6, "more regret"),
        ([0.0, 0.0, 0.0], "no claim"),
    ],
)
def test_a_claim_needs_an_interval_without_zero(steps, verdict):
    base = np.linspace(10.0, 90.0, len(steps))
    panel = Panel("p", {}, {"A": runs(base), "B": runs(base + steps)})
    assert compare(panel, "A")[0].verdict == verdict


def test_an_interval_does_not_depend_on_the_order_of_the_values():
    values = np.random.default_rng(3).lognormal(size=10)
    assert interval(values) == interval(values[::-1])


def test_many_values_are_resampled_in_blocks_of_bounded_size():
    values = np.random.default_rng(3).normal(size=30_000)  # 5000 resamples at once would be 1.2 GB
    tracemalloc.start()
    low, high = interval(values)
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()
    error = values.std() / math.sqrt(30_000)
    assert (low, high) == pytest.approx(
        (values.mean() - 1.96 * error, values.mean() + 1.96 * error), abs=0.2 * error
    )


def test_equals_are_rarely_told_apart():
    rng, claims, trials = np.random.default_rng(2), 0, 600
    for _ in range(trials):
        luck = rng.normal(100.0, 30.0, 10)
        panel = Panel("p", {}, {p: runs(luck + rng.normal(0.0, 5.0, 10)) for p in "AB"})
        claims += compare(panel, "A")[0].verdict != "no claim"
    assert claims / trials < 0.06 + 4.0 * math.sqrt(0.06 * 0.94 / trials)


def test_policies_without_common_seeds_are_not_compared():
    panel = Panel("p", {}, {"A": runs([1.0]), "B": runs([2.0], seeds=[5])})
    assert compare(panel, "A") == []
    with pytest.raises(ValueError, match="reference must be a policy of the panel"):
        compare(panel, "C")


def test_a_curve_is_the_distribution_over_seeds_round_by_round():
    regret = np.random.default_rng(0).random((7, 1000)).cumsum(axis=1)
    found = curve(Runs(np.arange(7), np.arange(1, 1001), regret, np.ones(7)), points=100)
    assert len(found.rounds) == 100
    assert (found.rounds[0], found.rounds[-1]) == (1, 1000)
    for i in (0, 37, 99):
        column = regret[:, found.rounds[i] - 1].tolist()
        assert found.mean[i] == pytest.approx(statistics.mean(column))
        assert found.sd[i] == pytest.approx(statistics.stdev(column))
        assert found.median[i] == statistics.median(column)


def test_policies_are_ranked_by_their_regret():
    panels = random_panels()
    assert ranked(panels) == ["SOIDS", "LinUCB", "LinUCB, radius 1"]
    for panel in panels:
        panel.runs["floor"] = runs([0.1])
    assert ranked(panels)[0] == "floor"
