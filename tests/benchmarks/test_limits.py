"""The benchmark limits: floors, ratios, and what the command prints and refuses."""

import csv
import math
import time
from functools import partial

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.limits.figure import draw_limits
from benchmarks.limits.measure import fastest, measure_limits, repeats
from benchmarks.limits.tasks import DIMENSION, PARTICLES, setup, tasks
from command_line import called, words
from soids.posteriors.arms import MOST

KERNELS = ["sweep", "all_rewards", "optimism", "fits", "appraise", "minimise_ratio"]


run = partial(called, main, "limits")


@pytest.fixture(scope="module")
def limits():
    return list(measure_limits(20, turns=2, seconds=0.001))


def test_every_kernel_has_a_floor_and_ratios_to_it(limits):
    assert [one.kernel for one in limits] == KERNELS
    for one in limits:
        assert (one.dimension, one.actions, one.particles) == (DIMENSION, 20, PARTICLES)
        assert one.floor > 0.0
        assert one.ratio == pytest.approx(one.milliseconds / one.floor)


def test_only_those_that_make_rewards_stand_beside_the_product(limits):
    for one in limits:
        if one.kernel in ("sweep", "all_rewards"):
            assert one.product_ratio == pytest.approx(one.milliseconds / one.product)
        else:
            assert math.isnan(one.product)
            assert math.isnan(one.product_ratio)


def test_data_to_touch_are_those_of_the_arrays(limits):
    touched = {one.kernel: one.megabytes * 2**20 / 8 for one in limits}  # numbers
    rewards, thetas, columns = PARTICLES * 20, PARTICLES * DIMENSION, DIMENSION * 20
    assert touched["all_rewards"] == pytest.approx(thetas + columns + rewards)
    assert touched["appraise"] == pytest.approx(rewards + PARTICLES + 2 * 20)
    assert touched["minimise_ratio"] == pytest.approx(2 * 20)
    assert touched["sweep"] > 2 * (rewards + thetas) + columns + DIMENSION**2


def test_kernels_leave_what_they_read_as_it_was():
    for task in tasks(setup(20), np.random.default_rng(0)):
        before = [array.copy() for array in task.reads]
        task.run()
        for old, array in zip(before, task.reads, strict=True):
            np.testing.assert_array_equal(old, array)


def test_of_very_many_actions_moves_see_the_promising_ones():
    found = {one.kernel: one for one in measure_limits(MOST + 50, turns=1, seconds=0.0)}
    assert list(found) == [*KERNELS, "closeness"]
    assert found["sweep"].seen == found["optimism"].seen == MOST
    assert found["appraise"].seen == found["closeness"].seen == MOST + 50


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_task_that_takes_three_times_as_long_is_three_times_as_slow():
    own, other = fastest([lambda: burn(0.003), lambda: burn(0.001)], turns=5, seconds=0.01)
    assert own / other == pytest.approx(3.0, rel=0.1)


def test_a_task_is_repeated_until_it_takes_long_enough():
    assert repeats(lambda: burn(0.01), 0.001) == 1
    assert 8 <= repeats(lambda: burn(0.001), 0.01) <= 11


def test_the_figure_has_a_row_for_each_kernel(limits):
    (axes,) = draw_limits(limits).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == KERNELS[::-1]


def test_a_run_prints_a_table_and_writes_numbers_and_a_figure(tmp_path):
    answer = run("--actions", 20, "--turns", 1, "--seconds", 0.001, "--out", tmp_path)
    assert answer.exit_code == 0, answer.output
    assert all(kernel in answer.output for kernel in KERNELS)
    assert {"limits-kernels.csv", "limits.json", "limits.png"} < {
        path.name for path in tmp_path.iterdir()
    }
    with (tmp_path / "limits-kernels.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["kernel"] for row in rows] == KERNELS


def test_help_is_there():
    answer = run("--help")
    assert answer.exit_code == 0
    assert "floor" in answer.output
    assert "limits" in called(main, "--help").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--actions", 1), "1 is not in the range x>=2"),
        (("--turns", 0), "0 is not in the range x>=1"),
        (("--seconds", -1), "-1.0 is not in the range x>=0"),
    ],
)
def test_bad_input_is_refused_with_its_value(arguments, said):
    answer = run(*arguments)
    assert answer.exit_code == 2
    assert said in words(answer)


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_measured(tmp_path):
    (tmp_path / "file").write_text("in the way")
    answer = run("--out", tmp_path / "file" / "folder")
    assert answer.exit_code == 1
    assert answer.output.startswith("Error: cannot write to")
