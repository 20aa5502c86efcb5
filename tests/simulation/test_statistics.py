import csv
import io
import math
import statistics
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from soids.output.regret_tables import (
    as_latex,
    as_markdown,
    comparison_csv,
    curves_csv,
    regret_csv,
    summary_csv,
    sweep_csv,
    times_csv,
)
from soids.simulation.results import Panel, Runs
from soids.simulation.statistics import compare, curve, interval, ranked, summarise
from soids.simulation.sweeps import data_poor, data_rich, rates, series, slope
from some_panels import NASTY, odd_panels, random_panels, runs

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


# Sweeps


def powers(exponent, noise=0.0, values=(10, 20, 40, 80), **others):
    """Regret that grows by a power of the dimension."""
    rng = np.random.default_rng(3)
    return [
        Panel(
            f"dimension = {d}",
            {"dimension": d, "sparsity": 2, "horizon": 100, **others},
            {"SOIDS": runs(3.0 * d**exponent * np.exp(noise * rng.standard_normal(10)))},
        )
        for d in values
    ]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 2.0 / 3.0])
def test_a_power_law_has_its_power_as_slope(exponent):
    (line,) = series(powers(exponent), "dimension")
    assert line.slope == pytest.approx(exponent)
    assert (line.slope_low, line.slope_high) == pytest.approx((exponent, exponent))
    assert line.values.tolist() == [10.0, 20.0, 40.0, 80.0]


def test_a_slope_is_that_of_the_mean():
    (line,) = series(powers(0.5, noise=0.3), "dimension")
    fitted = np.polyfit(np.log(line.values), np.log(line.mean), 1)[0]
    assert line.slope == pytest.approx(fitted)


def test_the_interval_of_a_slope_covers_the_truth():
    rng, values, hits, trials = np.random.default_rng(4), np.array([10.0, 20.0, 40.0]), 0, 400
    for _ in range(trials):
        found = [runs(d**0.5 * np.exp(0.3 * rng.standard_normal(10))) for d in values]
        _, (low, high) = slope(values, found)
        hits += low <= 0.5 <= high
    assert hits / trials > 0.93 - 4.0 * math.sqrt(0.95 * 0.05 / trials)


def test_a_slope_uses_the_seeds_in_common():
    few, many = runs([4.0, 2.0], seeds=[7, 1]), runs([1.0, 8.0, 99.0], seeds=[1, 7, 3])
    estimate, _ = slope(np.array([1.0, 2.0]), [few, many])
    assert estimate == pytest.approx(math.log2(4.5 / 3.0))


def test_no_slope_where_there_is_none():
    (alone,) = series(powers(0.5, values=(10,)), "dimension")
    assert math.isnan(alone.slope)
    zero = [p._replace(runs={"SOIDS": runs(np.zeros(3))}) for p in powers(0.5)]
    assert math.isnan(series(zero, "dimension")[0].slope)


def test_other_settings_that_were_swept_have_series_of_their_own():
    panels = powers(0.5) + powers(1.0, noise=0.0, radius=5.0)
    found = series(panels, "dimension")
    assert [(line.others, round(line.slope, 6)) for line in found] == [
        ({}, 0.5),
        ({"radius": 5.0}, 1.0),
    ]


@pytest.mark.parametrize("setting", ["family", "typo"])
def test_what_is_not_a_number_cannot_be_swept(setting):
    with pytest.raises(ValueError, match=f"{setting} must be a positive number in every problem"):
        series(random_panels(), setting)


def test_rates_touch_the_series_from_above():
    panels = powers(0.3)
    (line,) = series(panels, "dimension")
    rich, poor = rates(panels, "dimension", line)
    for rate in (rich, poor):
        assert (rate.regret >= line.mean * (1.0 - 1e-12)).all()
        assert np.isclose(rate.regret, line.mean).any()
    assert rich.regret[-1] / rich.regret[0] == pytest.approx(math.sqrt(8.0))
    assert poor.regret[-1] == pytest.approx(poor.regret[0])


def test_rates_find_the_problems_of_their_series():
    panels = powers(0.5) + powers(1.0, radius=5.0)
    for line in series(panels, "dimension"):
        assert len(rates(panels, "dimension", line)[0].regret) == 4


def test_rates_need_to_know_the_sparsity():
    panels = [p._replace(problem={"dimension": p.problem["dimension"]}) for p in powers(0.3)]
    with pytest.raises(ValueError, match="bounds need the dimension, sparsity and horizon"):
        rates(panels, "dimension", series(panels, "dimension")[0])


# Text


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_numbers_survive_the_csv_bit_for_bit():
    panels = random_panels()
    rows = read(regret_csv(panels))
    assert len(rows) == 3 * 3 * 10
    for row in rows:
        panel = next(p for p in panels if str(p.problem["dimension"]) == row["dimension"])
        assert float(row["regret"]) == panel.runs[row["policy"]].final[int(row["seed"])]


def test_the_csv_does_not_depend_on_the_order_in_which_seeds_came_nor_on_time():
    panels = random_panels()
    shuffled = [
        panel._replace(
            runs={
                policy: Runs(r.seeds[::-1], r.rounds, r.regret[::-1], 2.0 * r.seconds)
                for policy, r in panel.runs.items()
            }
        )
        for panel in panels
    ]
    assert regret_csv(shuffled) == regret_csv(panels)
    assert times_csv(shuffled) != times_csv(panels)


@pytest.mark.parametrize("case", odd_panels())
def test_every_file_can_be_written_and_read(case):
    panels = odd_panels()[case]
    for text in (
        regret_csv(panels),
        times_csv(panels),
        curves_csv(panels),
        summary_csv(panels),
        comparison_csv([panels]),
        sweep_csv(panels, "dimension"),
    ):
        rows = list(csv.reader(io.StringIO(text)))
        assert len({len(row) for row in rows}) == 1
        assert text.endswith("\n")
    assert as_markdown(panels).count("\n") == as_latex(panels).count("\n") - 4  # rules


def test_a_table_says_mean_error_and_worst():
    panel = Panel("d = 20", {}, {"SOIDS": runs([40.0, 50.0, 60.0]), "other": runs([7.0])})
    assert as_markdown([panel]).splitlines()[2:] == [
        "| SOIDS | 50 ± 6 [60] |",
        "| other | 7.00 (1 of 3 seeds) |",
    ]
    close = Panel("d = 20", {}, {"SOIDS": runs([239.5, 239.7, 239.8])})
    assert "| SOIDS | 239.7 ± 0.1 [239.8] |" in as_markdown([close])


def test_labels_cannot_break_out_of_a_table():
    panels = random_panels(dimensions=(20,), policies=NASTY)
    for line in as_markdown(panels).splitlines():
        assert line.replace("\\|", "").count("|") == 3
    body = as_latex(panels)
    assert r"a\_b \& 50 \% \$x\$ \textless{}b\textgreater{}bold" in body
    assert r"\{x\}\textasciicircum{}2 \textasciitilde{} \#1 \textbackslash{}frac" in body
    assert r"{[}first{]} \textbar{} second" in body  # a bracket after \\ would be a length


def test_the_rates_of_theory_by_hand():
    assert data_rich(2, 8, 100) == pytest.approx(40.0)  # sqrt(1600)
    assert data_poor(2, 8, 500) == pytest.approx(100.0)  # 1000^(2/3)


def test_a_slope_reaches_as_far_as_resampled_seeds_do_on_either_side():
    rng = np.random.default_rng(5)
    final = np.column_stack([np.ones(40), rng.lognormal(0.0, 1.0, 40)])
    _, (low, high) = slope(np.array([1.0, math.e]), [runs(column) for column in final.T])
    picks = rng.integers(40, size=(20_000, 40))
    slopes = np.log(final[picks, 1].mean(axis=1))  # by definition: log e is 1
    ends = np.quantile(slopes, [0.025, 0.975])
    # First order in the log, and corrected for skewness: it leans to the high side, by a quarter
    # of the width at most. A wrong sign would lean to the other.
    width = ends[1] - ends[0]
    assert -0.05 * width < low - ends[0] < 0.25 * width
    assert -0.05 * width < high - ends[1] < 0.35 * width
