"""Engines: the same outcomes everywhere, dead workers replaced, failures reported, none left."""

import logging
import os
import signal
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_info

from soids.simulation.engines import DEATHS, EngineError, on_dask, on_processes
from soids.simulation.store import Outcome
from soids.simulation.trial import Player, Problem, Trial
from soids.simulation.worker import Post, perform, undisturbed

HERE = str(Path(__file__).parents[1] / "support")
POST = Post(HERE)
PAPER = Problem("paper", {"dimension": 20}, 40)
TOLD = ("sparsity", "radius", "noise")
PLAYERS = (Player("soids", TOLD, {}), Player("linucb", (), {"alpha": 1.0}))
TRIALS = [Trial(PAPER, player, seed) for seed in range(2) for player in PLAYERS]


def stranger(name, **settings):
    return Player(f"strangers:{name}", (), settings)


def local_cluster(workers):
    """A cluster on ports that nobody else has: several tests may run at once."""
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def two_workers():
    with local_cluster(2) as made:
        yield made


@pytest.fixture
def cluster(two_workers):
    """The cluster, with both workers there again after a test that killed them."""
    with Client(two_workers, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return two_workers


def collected(played):
    with closing(played):
        return dict(played)


def test_every_engine_comes_to_what_one_worker_comes_to(cluster):
    alone = {trial: perform(trial, POST, 0) for trial in TRIALS}
    for outcomes in (
        collected(on_processes(TRIALS, POST, 1)),
        collected(on_processes(TRIALS, POST, 2)),
        collected(on_dask(TRIALS, POST, cluster.scheduler_address)),
    ):
        assert outcomes.keys() == alone.keys()
        for trial, outcome in outcomes.items():
            assert outcome.code == alone[trial].code
            assert outcome.seconds > 0.0
            for ours, theirs in zip(outcome.trace, alone[trial].trace, strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_trials_of_a_worker_that_was_killed_are_played_again(engine, cluster, tmp_path):
    once = tmp_path / "once"
    once.touch()
    deadly = [Trial(PAPER, stranger("Deadly", once=str(once)), seed) for seed in range(3)]
    trials = [*deadly, *TRIALS]
    played = (
        on_processes(trials, POST, 2)
        if engine == "processes"
        else on_dask(trials, POST, cluster.scheduler_address)
    )
    outcomes = collected(played)
    assert not once.exists()
    assert outcomes.keys() == set(trials)
    assert all(isinstance(outcome, Outcome) for outcome in outcomes.values())


def test_a_trial_that_shares_a_worker_with_a_deadly_one_is_played():
    trials = [Trial(PAPER, stranger("Doomed"), 0), Trial(PAPER, stranger("Stubborn"), 0)]
    with local_cluster(1) as single:
        outcomes = collected(on_dask(trials, POST, single.scheduler_address))
    assert "died" in outcomes[trials[0]].reason
    assert isinstance(outcomes[trials[1]], Outcome)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_trial_that_kills_its_workers_fails_alone(engine, cluster):
    trials = [Trial(PAPER, stranger("Doomed"), 0), Trial(PAPER, stranger("Stubborn"), 0)]
    played = (
        on_processes(trials, POST, 2)
        if engine == "processes"
        else on_dask(trials, POST, cluster.scheduler_address)
    )
    outcomes = collected(played)
    assert "died" in outcomes[trials[0]].reason
    assert isinstance(outcomes[trials[1]], Outcome)


def test_workers_that_only_die_are_given_up():
    trials = [Trial(PAPER, stranger("Doomed", index=index), 0) for index in range(5)]
    with pytest.raises(EngineError, match=f"{DEATHS} workers died, and no trial is finished"):
        collected(on_processes(trials, POST, 2))


def test_threads_of_one_worker_take_turns():
    def limits():
        return [pool["num_threads"] for pool in threadpool_info()]

    seen = []

    def play():
        with undisturbed():
            time.sleep(0.2)
            seen.append(limits())

    threads = [threading.Thread(target=play) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 3
    assert all(set(counts) <= {1} for counts in seen)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_policy_that_raises_is_an_outcome_in_one_line(engine, cluster):
    names = [("Raising", 0), ("Stubborn", 7), ("Leaving", 0)]
    trials = [Trial(PAPER, stranger(name, index=index), 0) for name, index in names]
    played = (
        on_processes(trials, POST, 2)
        if engine == "processes"
        else on_dask(trials, POST, cluster.scheduler_address)
    )
    outcomes = collected(played)
    failed, left = outcomes[trials[0]], outcomes[trials[2]]
    assert failed.reason.startswith("ArithmeticError: lost (strangers.py, line ")
    assert "my way" in failed.details
    assert left.reason.startswith("SystemExit: 3 (strangers.py")
    assert set(outcomes[trials[1]].trace.chosen.tolist()) == {7}


def test_a_run_that_is_given_up_leaves_no_worker_behind():
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    long = Problem("paper", {"dimension": 20}, 10_000)
    trials = [Trial(long, stranger("Slow"), seed) for seed in range(4)]
    trials.append(Trial(PAPER, stranger("Stubborn"), 0))
    played = on_processes(trials[::-1], POST, 2)
    next(played)
    began = time.monotonic()
    played.close()
    assert time.monotonic() - began < 60.0  # a trial takes 200 s
    left = [
        child
        for child in psutil.Process().children(recursive=True)
        if child.pid not in before and "popen_loky" in command_of(child)
    ]
    assert left == []


def command_of(process):
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # gone since, or about to go
        return ""


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch):
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(EngineError, match="no Dask scheduler answers at tcp:"),
    ):
        collected(on_dask(TRIALS, POST, "tcp://127.0.0.1:9"))


def test_a_worker_of_a_cluster_that_is_killed_in_mid_run_loses_nothing(cluster):
    trials = [Trial(PAPER, stranger("Slow", index=index), 0) for index in range(6)]
    with Client(cluster, set_as_default=False) as client:
        victim = min(client.run(os.getpid).values())  # the cluster's own list may lag behind

    def kill():
        time.sleep(1.0)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = collected(on_dask(trials, POST, cluster.scheduler_address))
    killer.join()
    assert outcomes.keys() == set(trials)
    assert all(isinstance(outcome, Outcome) for outcome in outcomes.values())
