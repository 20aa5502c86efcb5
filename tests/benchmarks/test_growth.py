"""The benchmark growth: exponents, points, and what the command prints and refuses."""

import csv
import json
import math
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from unittest.mock import MagicMock

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.growth import measure as measuring
from benchmarks.growth.figure import draw_growth
from benchmarks.growth.measure import Effort, Point, evidence_of, instance, measure
from benchmarks.growth.power_law import fits, power_law
from benchmarks.growth.sizes import AXES, Axis, Size
from command_line import called, words
from soids.evidence import Evidence, Menu

SHORT = Effort(settling=2, decisions=6, runs=2, seconds=10.0)
TINY = Size(dimension=20, actions=10, particles=10)


run = partial(called, main, "growth")


# Exponents


def made_up(axis, law, memory=lambda size: 1.0):
    return [
        Point(
            axis, getattr(size, axis), *size, 1, 30, law(getattr(size, axis)), math.nan, 1.0,
            memory(getattr(size, axis)), 200.0,
        )
        for size in AXES[axis].sizes(quick=False)
    ]  # fmt: skip


def test_exponents_are_those_of_made_up_power_laws():
    points = [
        *made_up("dimension", lambda d: 0.01 * d**0.9, lambda d: 3.0 * d),
        *made_up("rewards", lambda t: 5.0),
    ]
    found = {(law.axis, law.quantity): law for law in fits(points)}
    assert list(found) == [
        ("dimension", "milliseconds"), ("dimension", "megabytes"),
        ("rewards", "milliseconds"), ("rewards", "megabytes"),
    ]  # fmt: skip
    for law, exponent, scale in zip(found.values(), (0.9, 1, 0, 0), (0.01, 3, 5, 1), strict=True):
        assert law.exponent == pytest.approx(exponent, abs=1e-9)
        assert law.scale == pytest.approx(scale)
        assert law.error < 1e-9


def test_small_sizes_do_not_bend_the_exponent():
    (law, _) = fits(made_up("dimension", lambda d: 100.0 if d <= 200 else 0.01 * d))
    assert law.beyond == 200
    assert law.points == 5
    assert law.exponent == pytest.approx(1.0)


def test_the_standard_error_covers_the_exponent_of_noisy_times():
    rng = np.random.default_rng(0)
    sizes = np.geomspace(500.0, 10_000.0, 8)
    off = []
    for _ in range(400):
        exponent, error, _ = power_law(sizes, sizes * np.exp(0.1 * rng.standard_normal(8)))
        off.append((exponent - 1.0) / error)
    # Student's t with 6 degrees of freedom: variance 1.5, and 95 % within 2.45, each by 4 errors.
    assert abs(np.mean(off)) < 4.0 * math.sqrt(1.5 / 400)
    assert abs(np.mean(np.abs(off) < 2.447) - 0.95) < 4.0 * math.sqrt(0.95 * 0.05 / 400)


def test_two_points_have_a_law_without_error_and_one_has_none():
    points = made_up("actions", lambda k: 1.0 * k)
    upper = [point for point in points if point.size > 1_000]
    assert [math.isnan(law.error) for law in fits(upper[:2])] == [True, True]
    assert not list(fits(upper[:1]))


def test_memory_that_was_not_seen_to_grow_has_no_law():
    laws = list(fits(made_up("particles", lambda m: 1.0, lambda m: 0.0)))
    assert [law.quantity for law in laws] == ["milliseconds"]


# Points


def test_axes_reach_as_far_as_they_should_and_change_one_number():
    reach = {name: axis.values[-1] for name, axis in AXES.items()}
    assert reach == {
        "dimension": 10_000, "actions": 1_000_000, "particles": 1_600, "rewards": 1_000_000,
    }  # fmt: skip
    for axis in AXES.values():
        for quick in (False, True):
            sizes = axis.sizes(quick)
            assert len({size._replace(**{axis.what: 0}) for size in sizes}) == 1
            assert sum(getattr(size, axis.what) > axis.beyond for size in sizes) >= 3


def test_the_truth_is_one_on_ten_coordinates_but_in_twenty_dimensions():
    assert instance(Size(dimension=100), 0).theta[:11].tolist() == [1.0] * 10 + [0.0]
    assert np.count_nonzero(instance(Size(dimension=20), 0).theta) == 2


def test_evidence_made_in_advance_is_what_its_rewards_add_up_to():
    bandit = instance(TINY, seed=3)
    made = evidence_of(bandit, 50, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    ranks = np.minimum(rng.geometric(measuring.RANKS, 50), 10) - 1
    noises = rng.standard_normal(50)
    added, menu = Evidence.empty(20), Menu(bandit.actions)
    for index, noise in zip(np.argsort(bandit.gaps)[ranks], noises, strict=True):
        added = added.add(menu, bandit.actions[index], float(bandit.means[index] + noise))
    np.testing.assert_allclose(made.gram, added.gram, atol=1e-9)
    np.testing.assert_allclose(made.moment, added.moment, atol=1e-9)
    np.testing.assert_allclose(made.total, added.total, atol=1e-9)
    assert made.energy == pytest.approx(added.energy)
    assert (made.rounds, made.counts) == (added.rounds, added.counts)


def test_no_rewards_are_no_evidence():
    assert evidence_of(instance(TINY, 0), 0, np.random.default_rng(0)).rounds == 0


def test_a_point_has_times_and_memory():
    point = measure("rewards", TINY._replace(rewards=100), SHORT)
    assert point.size == 100
    assert (point.runs, point.decisions) == (2, 6)
    assert point.milliseconds > 0.0
    assert point.error > 0.0
    assert point.settling > 0.0
    assert 0.0 <= point.megabytes < point.process


def test_no_run_begins_once_time_is_up_but_one_is_there():
    point = measure("dimension", TINY, SHORT._replace(seconds=0.0))
    assert point.runs == 1
    assert math.isnan(point.error)


def test_a_process_that_is_ended_leaves_its_point_out(monkeypatch):
    pool = MagicMock()
    pool.return_value.__exit__.return_value = False  # errors go on
    pool.return_value.__enter__().submit().result.side_effect = BrokenProcessPool
    monkeypatch.setattr(measuring, "ProcessPoolExecutor", pool)
    said = []
    assert not list(measuring.measure_axes(["rewards"], SHORT, quick=True, aside=said.append))
    assert len(said) == len(AXES["rewards"].quick)
    assert "lack of memory" in said[0]


# Figure


def test_the_figure_has_a_panel_for_each_axis_and_a_line_for_each_law():
    points = [one for name in AXES for one in made_up(name, lambda x: 2.0 * x)]
    laws = list(fits(points))
    panels = draw_growth(points, laws).axes
    assert len(panels) == 4
    lines = [line for panel in panels for line in panel.lines]
    assert len([line for line in lines if line.get_linestyle() == "-"]) == len(laws) == 8
    assert "1.00 ± 0.00" in [text.get_text() for text in panels[0].texts]


def test_the_dotted_line_grows_in_proportion():
    points = made_up("actions", lambda x: 2.0 * x**0.5)
    axes = draw_growth(points, list(fits(points))).axes[0]
    (dotted,) = (line for line in axes.lines if line.get_linestyle() == ":")
    sizes, times = dotted.get_data()
    assert times[1] / times[0] == pytest.approx(sizes[1] / sizes[0])
    assert times[0] == pytest.approx(2.0 * sizes[0] ** 0.5)


def test_what_hardly_grows_looks_like_it():
    points = made_up("rewards", lambda x: 2.0 * x**0.01)
    low, high = draw_growth(points, list(fits(points))).axes[0].get_ylim()
    assert high >= 100.0 * low


# The command


@pytest.fixture
def tiny_axis(monkeypatch):
    monkeypatch.setitem(AXES, "actions", Axis("K", "actions", (9,), (10, 20, 40), 5, TINY))


def test_a_run_prints_tables_and_writes_numbers_and_a_figure(tiny_axis, monkeypatch, tmp_path):
    monkeypatch.setattr(measuring, "measure_apart", measure)
    answer = run("--quick", "--axis", "actions", "--runs", 1, "--decisions", 2, "--out", tmp_path)
    assert answer.exit_code == 0, answer.output
    assert "A decision by actions (d = 20, M = 10)" in words(answer)
    assert "milliseconds" in answer.output
    assert {"growth-points.csv", "growth-exponents.csv", "growth.json", "growth.png"} < {
        path.name for path in tmp_path.iterdir()
    }
    written = json.loads((tmp_path / "growth.json").read_text())
    assert [one["size"] for one in written["points"]] == [10, 20, 40]
    with (tmp_path / "growth-exponents.csv").open() as file:
        first = next(csv.DictReader(file))
    assert float(first["exponent"]) == written["exponents"][0]["exponent"]


def test_a_point_can_be_measured_in_a_process_of_its_own():
    point = measuring.measure_apart("dimension", TINY, SHORT._replace(runs=1))
    assert point.milliseconds > 0.0


def test_help_names_every_axis():
    answer = run("--help")
    assert answer.exit_code == 0
    assert all(name in answer.output for name in AXES)
    assert "growth" in called(main, "--help").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--axis", "horizon"), "'horizon' is not one of"),
        (("--decisions", 0), "0 is not in the range x>=1"),
        (("--settling", -1), "-1 is not in the range x>=0"),
        (("--runs", 0), "0 is not in the range x>=1"),
        (("--seconds", -2), "-2.0 is not in the range x>=0"),
    ],
)
def test_bad_input_is_refused_with_its_value(arguments, said):
    answer = run(*arguments)
    assert answer.exit_code == 2
    assert said in words(answer)
