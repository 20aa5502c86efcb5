"""``soids run`` from outside: what it leaves behind, whatever happens to it on the way."""

import csv
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import soids
from soids.cli import main
from soids.experiments import run as experiments

SUPPORT = Path(__file__).parents[1] / "support"
NUMBERS = ("regret.csv", "summary.csv", "comparison.csv", "curves.csv")
FILE = """
# Does it work?
title = "Small [really]"
horizon = 60
seeds = 3
[bandit]
family = "paper"
dimension = [20, 30]
[policies]
SOIDS = { policy = "soids", told = ["sparsity", "radius", "noise"], particles = 20 }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }
Mine = { policy = "strangers:Slow", index = 3 }
"""
TRIALS = 3 * 2 * 4


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(FILE)
    (tmp_path / "strangers.py").write_text((SUPPORT / "strangers.py").read_text())
    return path


def command(file, out, *more):
    return [sys.executable, "-m", "soids", "run", str(file), "--out", str(out), *more]


def run(file, out, *more, **settings):
    return subprocess.run(command(file, out, *more), capture_output=True, text=True, **settings)


def left(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(folder, trials):
    deadline = time.monotonic() + 120.0
    while len(list(folder.rglob("*.npz"))) < trials:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def numbers(out):
    return {name: (out / name).read_bytes() for name in NUMBERS}


def test_a_run_leaves_table_numbers_figure_and_report_the_same_however_it_came_about(
    file, tmp_path
):
    straight = tmp_path / "straight"
    answer = run(file, straight, "--workers", "1")
    assert answer.returncode == 0, answer.stderr
    assert "LinUCB, alpha = 3" in answer.stdout
    assert "Small [really]" in answer.stdout
    for name in ("small.png", "small.pdf", "report.html", "times.csv", "experiment.toml"):
        assert (straight / name).stat().st_size > 0
    assert numbers(straight)["regret.csv"].count(b"\n") == 1 + TRIALS

    killed = tmp_path / "killed"
    for number in (1, 5, 12):  # kill it when so many trials are done
        process = subprocess.Popen(command(file, killed), stdout=subprocess.DEVNULL)
        wait_for(killed, number)
        process.kill()
        process.wait()
        assert number <= len(list(killed.rglob("*.npz"))) < TRIALS
        assert not (killed / "regret.csv").exists()
    assert run(file, killed, "--workers", "2").returncode == 0
    assert numbers(killed) == numbers(straight)
    assert len(list(killed.rglob("*.npz"))) == TRIALS

    again = run(file, killed)
    assert f"{TRIALS} of {TRIALS} trials are there already" in again.stdout
    next(iter(killed.rglob("*.npz"))).write_bytes(b"scribble")
    assert f"{TRIALS - 1} of {TRIALS} trials" in run(file, killed).stdout
    assert numbers(killed) == numbers(straight)


TINY = """
# Who replaces whom?
title = "Tiny"
horizon = 3
seeds = 1
[bandit]
family = "paper"
dimension = 20
[policies]
uniform = { policy = "uniform" }
[quick]
horizon = 2
"""


def test_a_run_says_whose_figure_it_replaces(tmp_path):
    files = [tmp_path / name / "tiny.toml" for name in ("one", "other", "moved")]
    for file in files:
        file.parent.mkdir()
        file.write_text(TINY.replace("Who", file.parent.name))
    files[2].write_text(files[1].read_text())
    renamed = files[2].with_name("renamed.toml")
    renamed.write_text(TINY)

    def said(file, *more):
        answer = CliRunner().invoke(
            main, ["run", str(file), "--out", str(tmp_path / "out"), "--workers", "1", *more]
        )
        assert answer.exit_code == 0, answer.output
        return " ".join(answer.output.split())  # however lines were broken

    assert "give way" not in said(files[0])
    assert "give way to those of --quick" in said(files[0], "--quick")
    for form in ("markdown", "latex", "csv"):
        answer = CliRunner().invoke(main, ["table", str(tmp_path / "out"), "--format", form])
        assert "T = 2, 1 seed (--quick)" in answer.output
    assert "T = 2, 1 seed (--quick)" in said(files[0], "--quick")
    assert "T = 2, 1 seed (--quick)" in (tmp_path / "out" / "report.html").read_text()
    assert "seed (--quick)" not in said(files[0])
    assert "(--quick)" not in CliRunner().invoke(main, ["table", str(tmp_path / "out")]).output
    assert "give way" not in said(files[0])
    assert "had results of another file" in said(files[1])
    assert "give way" not in said(files[1])
    assert "give way" not in said(files[2])  # the same text elsewhere
    assert "had results of another file" in said(renamed)
    assert "its figures renamed*.png stay" in said(files[0])
    said(files[2])
    assert "had results of another file" not in said(files[1])


def test_a_second_experiment_in_a_folder_is_announced_first_and_last(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.toml").write_text(TINY)
    for name in ("first", "second"):
        command = [sys.executable, "-m", "soids", "run", f"{name}.toml", "--out", "x"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "had results of another file" in lines[0]
    assert lines[-1] == lines[0]
    with pytest.warns(RuntimeWarning, match="had results of another file"):
        soids.run(tmp_path / "first.toml", out=tmp_path / "x", workers=1)


def test_an_interrupt_stops_all_and_says_how_to_go_on(file, tmp_path):
    file.write_text(FILE.replace("horizon = 60", "horizon = 1000"))
    process = subprocess.Popen(
        command(file, tmp_path / "out"), stdout=subprocess.PIPE, text=True, start_new_session=True,
        # Tests may run in the background of a shell, where interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    wait_for(tmp_path / "out", 1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, _ = process.communicate(timeout=120.0)
    assert process.returncode == 130
    assert "the same command goes on" in output
    deadline = time.monotonic() + 60.0
    while left(process.pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not left(process.pid)


def test_a_disk_that_is_full_is_said_in_one_line_and_loses_nothing(file, tmp_path):
    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))  # outcomes of SOIDS are larger

    out = tmp_path / "out"
    whole = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or Python would cache half a module
    answer = run(file, out, preexec_fn=little_room, env=whole)
    assert answer.returncode == 1
    assert answer.stderr.startswith("Error: ")
    assert "finished trials are kept" in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not [path for path in out.rglob(".*")]
    assert run(file, out).returncode == 0


def test_a_folder_that_cannot_be_written_to_is_said_before_anything_is_played(file, tmp_path):
    (tmp_path / "taken").write_text("a file")
    answer = run(file, tmp_path / "taken" / "out")
    assert answer.returncode == 1
    assert answer.stderr.startswith("Error: cannot write to")
    assert "Not a directory" in answer.stderr
    assert answer.stderr.count("\n") == 1


def test_a_policy_that_raises_costs_its_own_trials_only(file, tmp_path):
    file.write_text(FILE.replace("strangers:Slow", "strangers:Raising").replace(", index = 3", ""))
    answer = run(file, tmp_path / "out")
    assert answer.returncode == 1
    assert "Mine: 6 trials failed: ArithmeticError: lost (strangers.py, line" in answer.stdout
    assert "6 of 24 trials are missing" in answer.stdout
    assert "6 of 24 trials are missing" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "failures.txt").read_text().count("Mine, dimension = ") == 6
    assert len(list((tmp_path / "out").rglob("*.npz"))) == TRIALS - 6
    assert (tmp_path / "out" / "report.html").exists()


def test_results_by_other_code_are_kept_and_told(file, tmp_path, monkeypatch):
    file.write_text(FILE.replace("horizon = 60", "horizon = 5"))
    out = tmp_path / "out"
    assert run(file, out).returncode == 0
    (tmp_path / "strangers.py").write_text((SUPPORT / "strangers.py").read_text() + "\n")
    answer = run(file, out)
    assert "strangers:Slow were played by other code" in " ".join(answer.stdout.split())
    assert "played by other code" not in run(file, out, "--fresh").stdout


def test_tables_and_plots_come_from_what_is_there(file, tmp_path):
    file.write_text(FILE.replace("horizon = 60", "horizon = 5"))
    out = tmp_path / "out"
    assert run(file, out).returncode == 0
    drawn = (out / "small.png").read_bytes()
    (out / "small.png").unlink()
    runner = CliRunner()
    assert runner.invoke(main, ["plot", str(out)]).exit_code == 0
    assert (out / "small.png").read_bytes() == drawn
    for form, sign in (("markdown", "| --- |"), ("latex", r"\toprule"), ("csv", "panel,policy")):
        answer = runner.invoke(main, ["table", str(out), "--format", form])
        assert answer.exit_code == 0
        assert sign in answer.output
    next(out.rglob("000.npz")).unlink()
    answer = runner.invoke(main, ["table", str(out)])
    assert "1 of 24 trials are missing" in answer.output
    assert "(2 of 3 seeds)" in answer.output
    for path in out.rglob("*.npz"):
        path.unlink()
    answer = runner.invoke(main, ["table", str(out)])
    assert answer.exit_code == 1
    assert "no trial" in answer.output


def test_several_figures_are_files_of_their_own_and_one_report(file, tmp_path):
    figures = """
    [[figure]]
    title = "All | of it"
    [[figure]]
    name = "radii"
    title = "Radii"
    caption = "What a radius costs."
    policies = ["Mine", "LinUCB"]
    x = "alpha"
    """
    file.write_text(FILE.replace("horizon = 60", "horizon = 5") + figures)
    out = tmp_path / "out"
    answer = run(file, out)
    assert answer.returncode == 0, answer.stderr
    said = " ".join(answer.stdout.split())
    assert said.index("All | of it") < said.index("Radii") < said.index("What a radius costs.")
    assert "small.png and " in said
    assert "small-radii.png (and .pdf) the figures" in said
    for name in ("small.png", "small.pdf", "small-radii.png", "small-radii.pdf"):
        assert (out / name).stat().st_size > 0
    page = (out / "report.html").read_text()
    assert page.index("All | of it") < page.index("What a radius costs.")
    with (out / "sweep-radii.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["dimension"], row["policy"], row["alpha"]) for row in rows} == {
        (d, policy, alpha)
        for d in ("20", "30")
        for policy in ("Mine", "LinUCB")
        for alpha in ("1.0", "3.0")
    }
    with (out / "comparison.csv").open() as lines:
        pairs = {(row["policy"], row["reference"]) for row in csv.DictReader(lines)}
    assert ("LinUCB, alpha = 3", "Mine") in pairs
    assert ("LinUCB, alpha = 3", "SOIDS") in pairs
    answer = CliRunner().invoke(main, ["table", str(out)])
    assert answer.output.index("**All \\| of it**") < answer.output.index("**Radii**")


def test_workers_that_are_replaced_are_not_mentioned(tmp_path, monkeypatch):
    play = experiments.on_processes

    def growing(trials, post, workers):
        warnings.warn("A worker was restarted while some jobs were given", stacklevel=2)
        yield from play(trials, post, workers)

    monkeypatch.setattr(experiments, "on_processes", growing)
    (tmp_path / "tiny.toml").write_text(TINY)
    asked = ["run", str(tmp_path / "tiny.toml"), "--out", str(tmp_path / "out"), "--workers", "1"]
    answer = CliRunner().invoke(main, asked)
    assert answer.exit_code == 0, answer.exception
    assert "restarted" not in answer.output


def test_the_list_names_what_there_is():
    answer = CliRunner().invoke(main, ["list"])
    assert answer.exit_code == 0
    for name in ("oracle_thompson", "hypercube", "figure1", "posterior", "exploration"):
        assert name in answer.output


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds = 3", "seeds = = 3", "Error: small.toml must be TOML: Invalid value (at line 5"),
        ('"soids"', '"soid"', "Error: small.toml: policies.SOIDS: policy must be"),
        ("particles = 20", "particles = 0", "Error: small.toml: policies.SOIDS: particles must"),
    ],
)
def test_a_file_that_cannot_be_played_is_one_line_and_leaves_nothing(
    file, tmp_path, old, new, message
):
    file.write_text(FILE.replace(old, new))
    answer = CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / "out")])
    assert answer.exit_code == 2
    assert answer.output.startswith(message)
    assert answer.output.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_reproduction_comes_out_the_same_after_ten_kills_alone_in_pairs_and_on_a_cluster(
    tmp_path,
):
    from distributed import LocalCluster

    def reproduce(out, *more):
        called = [sys.executable, "-m", "soids", "reproduce", "figure1", "--quick", "--out", out]
        return subprocess.Popen([*map(str, called), *more], stdout=subprocess.DEVNULL)

    ways = {name: tmp_path / name for name in ("pair", "alone", "killed", "cluster")}
    assert reproduce(ways["pair"], "--workers", "2").wait() == 0
    assert reproduce(ways["alone"], "--workers", "1").wait() == 0
    rng = np.random.default_rng(0)
    for number in range(1, 11):
        process = reproduce(ways["killed"])
        wait_for(ways["killed"], 3 * number)
        time.sleep(rng.uniform(0.0, 1.0))
        process.kill()
        process.wait()
    assert reproduce(ways["killed"]).wait() == 0
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0") as cluster:
        address = cluster.scheduler_address
        assert reproduce(ways["cluster"], "--engine", "dask", "--scheduler", address).wait() == 0
    for out in ways.values():
        assert numbers(out) == numbers(ways["pair"])
        assert (out / "figure1.png").read_bytes() == (ways["pair"] / "figure1.png").read_bytes()
