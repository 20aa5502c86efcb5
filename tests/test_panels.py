"""Panels hold what the store holds, seed by seed."""

import numpy as np
import pytest

from soids.simulation.experiment import parse_experiment
from soids.simulation.panels import POINTS, gather, versions_of
from soids.simulation.play import Trace
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
