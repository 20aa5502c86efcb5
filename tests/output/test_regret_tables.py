"""What the figures of one experiment share: references, titles, policies without a setting."""

import csv
import io
import math

import pytest

from soids.output.regret_tables import as_latex, as_markdown, comparison_csv
from soids.simulation.sweeps import series
from some_panels import random_panels, stepped_panels


def test_every_figure_is_compared_with_its_own_first_policy():
    first, second = random_panels(dimensions=(20,)), random_panels(dimensions=(20,))
    second[0] = second[0]._replace(runs=dict(reversed(second[0].runs.items())))
    rows = list(csv.DictReader(io.StringIO(comparison_csv([first, second, first]))))
    pairs = [(row["policy"], row["reference"]) for row in rows]
    assert pairs == [
        ("LinUCB", "SOIDS"),
        ("LinUCB, radius 1", "SOIDS"),
        ("LinUCB", "LinUCB, radius 1"),
        ("SOIDS", "LinUCB, radius 1"),
    ]


def test_tables_stand_under_their_titles():
    panels = random_panels(dimensions=(20,))
    assert as_markdown(panels, "a | b") == f"**a \\| b**\n\n{as_markdown(panels)}"
    assert as_latex(panels, "two\nlines") == f"% two lines\n{as_latex(panels)}"


def test_a_policy_without_the_setting_has_the_same_regret_everywhere_and_no_slope():
    found = series(stepped_panels(dimensions=(20,)), "steps")
    assert [line.policy for line in found] == ["exact", "Langevin"]
    assert [line.level for line in found] == [True, False]
    assert math.isnan(found[0].slope)
    assert found[0].mean.tolist() == pytest.approx([20.0] * 3)
    assert found[1].values.tolist() == [25.0, 50.0, 100.0]
    assert found[1].slope < 0.0
