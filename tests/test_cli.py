"""The command line: help, version, exit codes, and the parts that a reproduction is made of."""

import io
import subprocess
import sys
from importlib.metadata import version
from multiprocessing import active_children

import pytest
from click.testing import CliRunner
from rich.console import Console

from soids.cli import main
from soids.cli.reproduce import Outcome, Trial, run, run_all, tabulate
from soids.cli.rows import BASELINES, DIMENSIONS, FIGURE1, TABLES
from soids.policies import POLICIES


def told(*arguments):
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", [[], ["bound"], ["reproduce"], ["reproduce", "baselines"]])
def test_every_command_explains_itself(command, flag):
    answer = told(*command, flag)
    assert answer.exit_code == 0
    assert answer.output.startswith(f"Usage: main {' '.join(command)}".rstrip())


def test_the_version_is_the_packages():
    answer = told("--version")
    assert answer.exit_code == 0
    assert version("soids") in answer.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dance"], "No such command 'dance'"),
        (["reproduce", "figure9"], "No such command 'figure9'"),
        (["reproduce", "figure1", "--slow"], "No such option"),
        (["reproduce", "figure1", "--workers", "0"], "0 is not in the range x>=1"),
        (["reproduce", "figure1", "--workers", "many"], "'many' is not a valid integer"),
    ],
)
def test_what_is_not_understood_is_an_error_of_usage(arguments, message):
    answer = told(*arguments)
    assert answer.exit_code == 2
    assert message in answer.output


def test_the_module_is_the_command():
    answer = subprocess.run(
        [sys.executable, "-m", "soids", "--help"], capture_output=True, text=True, check=True
    )
    assert "reproduce" in answer.stdout


@pytest.mark.parametrize(
    ("table", "row"), [(table, row) for table in TABLES for row in range(len(TABLES[table]))]
)
def test_a_trial_comes_to_the_same_each_time(table, row):
    trial = Trial(table, row, dimension=20, seed=1, horizon=3)
    if "horizon" in TABLES[table][row].told:
        trial = trial._replace(horizon=100)
    once, again = (run(trial) for _ in range(2))
    assert once.regret == again.regret > 0.0
    assert once.seconds > 0.0


def test_the_table_of_baselines_holds_every_policy():
    assert {row.policy for row in BASELINES} == set(POLICIES)


@pytest.mark.slow
def test_workers_come_to_the_same_as_this_process():
    trials = [Trial("figure1", 0, 20, seed, 3) for seed in range(2)]
    outcomes = dict(run_all(trials, workers=2))
    assert {trial: o.regret for trial, o in outcomes.items()} == {t: run(t).regret for t in trials}


@pytest.mark.slow
def test_who_stops_listening_stops_the_workers():
    results = run_all(
        [Trial("figure1", 0, 20, seed, 3 if seed == 0 else 10**6) for seed in range(9)], 2
    )
    assert next(results)[0].seed == 0
    results.close()
    assert active_children() == []


def test_the_table_holds_mean_error_worst_and_pace():
    outcomes = {
        Trial("figure1", row, dimension, seed, 50): Outcome(row + dimension + 10.0 * seed, 0.1)
        for row in range(len(FIGURE1))
        for dimension in DIMENSIONS
        for seed in (0, 1)
    }
    paper = io.StringIO()
    Console(width=200, file=paper).print(tabulate("figure1", outcomes, horizon=50))
    lines = paper.getvalue().splitlines()
    assert "50 rounds" in lines[0]
    labels = tuple(row.label for row in FIGURE1)
    rows = [line for line in lines if line.strip().startswith(labels)]
    assert len(rows) == len(FIGURE1)
    assert "25 ± 5 [30]" in rows[0]
    assert "113 ± 5 [118]" in rows[-1]
    assert "2.00" in rows[0]  # ms a round: 0.1 s for 50 rounds
