"""Outcomes on disk: what is written is read, what is damaged counts as missing."""

from dataclasses import replace

import numpy as np
import pytest

from soids.simulation.play import Trace
from soids.simulation.store import Outcome, Store, read_outcome
from soids.simulation.trial import Player, Problem, Trial
from soids.simulation.worker import Post, perform

TRIAL = Trial(Problem("paper", {"dimension": 20}, 30), Player("linucb", (), {"alpha": 1.0}), 4)


@pytest.fixture(scope="module")
def outcome():
    return perform(TRIAL, Post(), 0)


@pytest.fixture
def store(tmp_path, outcome):
    made = Store(tmp_path / "trials")
    made.write(TRIAL, outcome)
    return made


def test_what_was_written_is_read(store, outcome):
    again = store.read(TRIAL)
    assert (again.seconds, again.code) == (outcome.seconds, outcome.code)
    for ours, theirs in zip(again.trace, outcome.trace, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert read_outcome(store.path(TRIAL))[0] == TRIAL.recipe


def test_what_was_not_written_is_missing(store):
    assert store.read(Trial(TRIAL.problem, TRIAL.player, 5)) is None


def test_a_file_that_is_damaged_anywhere_is_missing_or_whole(store, outcome):
    path = store.path(TRIAL)
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        assert store.read(TRIAL) is None
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        again = store.read(TRIAL)
        if again is not None:  # a byte that nobody reads, such as a date
            np.testing.assert_array_equal(again.trace.regret, outcome.trace.regret)


@pytest.mark.parametrize("horizon", [30_000, 2_000_000])
def test_a_trial_is_read_however_well_it_compresses(horizon, outcome, tmp_path):
    """A policy has settled on one action, and no reward came: less than a byte for each round."""
    zeros = np.zeros(horizon)
    trace = Trace(np.zeros(horizon, np.int64), zeros, zeros, zeros + 1.0, zeros, zeros)
    trial, store = Trial(replace(TRIAL.problem, horizon=horizon), TRIAL.player, 4), Store(tmp_path)
    store.write(trial, replace(outcome, trace=trace))
    assert store.path(trial).stat().st_size < horizon
    assert store.read(trial) is not None
    assert read_outcome(store.path(trial))[0] == trial.recipe


def test_a_file_of_another_recipe_is_missing(store):
    other = Trial(TRIAL.problem, TRIAL.player, 5)
    store.path(TRIAL).rename(store.path(other))
    assert store.read(other) is None


def test_a_write_that_fails_leaves_the_old_outcome_and_no_scrap(store, outcome, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.write(TRIAL, Outcome(outcome.trace, 99.0, "new", {}))
    assert store.read(TRIAL).seconds == outcome.seconds
    assert [path.name for path in store.path(TRIAL).parent.iterdir()] == ["004.npz"]
