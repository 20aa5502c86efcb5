"""Panels hold what the store holds, seed by seed."""

import numpy as np
import pytest

from soids.simulation.experiment import parse_experiment
from soids.simulation.play import Trace
from soids.simulation.results import POINTS, gather, parts_of, versions_of
from soids.simulation.store import Outcome, Store

HORIZON = 2500
TABLE = {
    "horizon": HORIZON,
    "seeds": [4, 1, 2],
    "bandit": {"family": "paper", "dimension": [20, 30]},
    "policies": {"A": {"policy": "uniform"}, "B": {"policy": "linucb", "alpha": 1.0}},
}


def made_up(seed, version="1"):
    regret = np.random.default_rng(seed).random(HORIZON)
    rest = np.zeros((4, HORIZON))
    trace = Trace(np.zeros(HORIZON, dtype=np.int64), rest[0], regret, *rest[1:])
    return Outcome(trace, 0.5 + seed, "code", {"soids": version})


@pytest.fixture
def filled(tmp_path):
    experiment, store = parse_experiment(TABLE, "made up"), Store(tmp_path)
    for trial in experiment.trials():
        if (trial.player.label, trial.seed) != ("B", 2):
            version = "2" if trial.player.label == "B" else "1"
            store.write(trial, made_up(trial.seed, version))
    return experiment, store


def test_rows_are_seeds_in_order_with_the_regret_cumulated_until_each_round(filled):
    panels = gather(*filled)
    assert [panel.title for panel in panels] == ["dimension = 20", "dimension = 30"]
    runs = panels[0].runs["A"]
    assert runs.seeds.tolist() == [1, 2, 4]
    assert runs.seconds.tolist() == [1.5, 2.5, 4.5]
    assert len(runs.rounds) == POINTS
    assert (runs.rounds[0], runs.rounds[-1]) == (1, HORIZON)
    for seed, row in zip(runs.seeds, runs.regret, strict=True):
        regret = made_up(seed).trace.regret
        expected = [regret[:rounds].sum() for rounds in runs.rounds]
        np.testing.assert_allclose(row, expected)
        assert row[-1] == pytest.approx(regret.sum())


def test_what_is_missing_is_left_out(filled):
    experiment, store = filled
    assert gather(*filled)[1].runs["B"].seeds.tolist() == [1, 4]
    for trial in experiment.trials():
        if trial.player.label == "B":
            store.path(trial).unlink(missing_ok=True)
    assert [len(runs.seeds) for runs in gather(*filled)[0].runs.values()] == [3, 0]


def test_all_versions_that_had_a_part_are_named(filled):
    assert versions_of(gather(*filled)) == {"soids": "1, 2"}


SWEPT = {
    **TABLE,
    "policies": {
        "level": {"policy": "uniform"},
        "B": {
            "policy": "linucb",
            "alpha": {"by": "dimension", "20": [1.0, 3.0], "30": 1.0},
            "ridge": [1.0, 2.0],
        },
    },
    "figure": [
        {"policies": ["B"]},
        {"name": "radii", "policies": ["level", "B"], "x": "alpha"},
        {"name": "sizes", "x": "dimension"},
    ],
}


def test_a_figure_shows_its_policies_in_its_order_problem_by_problem(tmp_path):
    experiment, store = parse_experiment(SWEPT, "made up"), Store(tmp_path)
    for trial in experiment.trials():
        store.write(trial, made_up(trial.seed))
    whole = gather(experiment, store)
    first, radii, sizes = parts_of(experiment, whole)
    assert [list(panel.runs) for panel in first.panels] == [
        [f"B, alpha = {a}, ridge = {r}" for a in (1, 3) for r in (1, 2)],
        ["B, ridge = 1", "B, ridge = 2"],
    ]
    assert first.panels == first.problems
    assert [panel.title for panel in radii.panels] == [
        "dimension = 20, alpha = 1",
        "dimension = 20, alpha = 3",
        "dimension = 30, alpha = 1",
    ]
    for panel in radii.panels:
        assert list(panel.runs) == ["level", "B, ridge = 1", "B, ridge = 2"]
        assert panel.level == {"level"}
    assert radii.panels[1].runs["B, ridge = 2"] is whole[0].runs["B, alpha = 3, ridge = 2"]
    assert radii.panels[1].problem == whole[0].problem | {"alpha": 3.0}
    assert [len(panel.runs) for panel in radii.problems] == [5, 3]
    assert [panel.title for panel in sizes.panels] == ["dimension = 20", "dimension = 30"]


def test_a_figure_of_which_nothing_is_there_is_left_out(tmp_path):
    experiment, store = parse_experiment(SWEPT, "made up"), Store(tmp_path)
    for trial in experiment.trials():
        if trial.player.label == "level":
            store.write(trial, made_up(trial.seed))
    found = parts_of(experiment, gather(experiment, store))
    assert [part.figure.name for part in found] == ["radii", "sizes"]
