"""Figures of experiment files: what they show, and against what."""

import functools

import pytest

from soids.simulation.figures import parse_figures
from some_files import FILE, read_in


@pytest.fixture
def read(tmp_path):
    return functools.partial(read_in, tmp_path)


FIGURES = (
    FILE.partition("[quick]")[0]
    + """
[[figure]]
caption = \"\"\"Two
  lines.\"\"\"
policies = ["ESTC", "SOIDS"]

[[figure]]
name = "radii"
title = "Radii"
policies = ["LinUCB", "SOIDS"]
x = "alpha"

[[figure]]
name = "slow"
policies = ["Late", "SOIDS"]
"""
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[20, 40]", "[20, 40]\nnoise = 2.0", "x must have at least two values, noise has one$"),
        ("alpha = [1.0, 3.0]", "noise = 2.0", "two values, noise has one on each problem$"),
    ],
)
def test_regret_against_a_setting_with_a_single_value_is_refused(read, old, new, message):
    with pytest.raises(ValueError, match=message):
        read(FILE.replace(old, new) + '[figure]\nx = "noise"\n')


def test_quick_may_play_a_single_value_of_what_regret_is_drawn_against(read):
    text = FILE + "bandit = { family = 'paper', dimension = 20 }\n[figure]\nx = 'dimension'\n"
    assert [read(text, quick=quick).figures[0].x for quick in (False, True)] == ["dimension"] * 2


def test_a_misspelt_setting_is_not_the_fault_of_the_figure(read):
    with pytest.raises(
        ValueError, match=r"^two.toml: policies\.LinUCB, aplha = 1: .* mean 'alpha'"
    ):
        read(FIGURES.replace("alpha = [", "aplha = ["))


def test_a_file_without_figures_has_one_of_everything(read):
    experiment = read(FILE)
    (figure,) = experiment.figures
    assert (figure.title, figure.policies, figure.x) == ("Two sizes", (), "round")
    assert figure.among(experiment.players[0]) == list(experiment.players[0])
    assert figure.stem(experiment.name) == "two"


def test_figures_show_what_they_list_in_its_order_and_late_ones_come_with_full(read):
    experiment = read(FIGURES)
    first, radii = experiment.figures
    assert (first.title, first.caption) == ("Two sizes", "Two lines.")
    assert [player.label for player in first.among(experiment.players[1])] == ["ESTC", "SOIDS"]
    assert [player.label for player in radii.among(experiment.players[0])] == [
        "LinUCB, alpha = 1",
        "LinUCB, alpha = 3",
        "SOIDS",
    ]
    assert [figure.stem("two") for figure in read(FIGURES, full=True).figures] == [
        "two",
        "two-radii",
        "two-slow",
    ]


def test_a_sweep_of_which_every_policy_is_slow_comes_with_full(read):
    text = FIGURES.replace("[1.0, 3.0] }", "[1.0, 3.0], slow = true }")
    assert [figure.name for figure in read(text).figures] == [""]
    assert [figure.name for figure in read(text, full=True).figures] == ["", "radii", "slow"]


def test_figures_without_a_title_are_told_apart_by_their_names():
    figures = parse_figures([{}, {"name": "more"}], "Tiny", ["a"])
    assert [figure.title for figure in figures.values()] == ["Tiny", "Tiny: more"]
