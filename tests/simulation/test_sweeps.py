"""Series of regret against a setting, their slopes, and the rates of theory."""

import math

import numpy as np
import pytest

from soids.simulation.results import Panel
from soids.simulation.sweeps import RATES, rates, series, slope
from some_panels import random_panels, runs, stepped_panels


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


def test_the_rates_of_theory_by_hand():
    data_rich, data_poor = RATES.values()
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


def test_a_policy_without_the_setting_has_the_same_regret_everywhere_and_no_slope():
    found = series(stepped_panels(dimensions=(20,)), "steps")
    assert [line.policy for line in found] == ["exact", "Langevin"]
    assert [line.level for line in found] == [True, False]
    assert math.isnan(found[0].slope)
    assert found[0].mean.tolist() == pytest.approx([20.0] * 3)
    assert found[1].values.tolist() == [25.0, 50.0, 100.0]
    assert found[1].slope < 0.0
