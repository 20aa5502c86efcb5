"""``soids.run`` from Python: results, notices, errors; nothing is printed or left behind."""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import soids
from absent import hide
from soids.experiments.run import Watch, read_results
from soids.simulation.experiment import parse_experiment, read_experiment

FILE = """
horizon = 4
seeds = 2
bandit = { family = "paper", dimension = 20 }
policies.Uniform = { policy = "uniform" }
policies.Mine = { policy = "own_policies:Constant" }
quick = { seeds = 1 }
"""
MODULE = """
from own_index import INDEX
class Constant:
    def __init__(self, dimension): pass
    def choose(self, actions, rng):
        from own_late import check
        check(INDEX)
        return INDEX
    def observe(self, decision, reward): pass
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(FILE)
    (tmp_path / "own_policies.py").write_text(MODULE)
    (tmp_path / "own_index.py").write_text("INDEX = 3")
    (tmp_path / "own_late.py").write_text("def check(index): assert index == 3")
    return path


@pytest.fixture
def heard():
    """What a watch is given, and the watch."""
    said = []

    @contextmanager
    def follow(trials, board):
        yield lambda: said.append(int(board.numbers[:, 0].sum()))

    return said, Watch(said.append, lambda text: said.append(f"! {text}"), follow)


def test_a_run_gives_results_prints_nothing_and_changes_nothing(file, tmp_path, capfd):
    path, environment, finders = sys.path[:], dict(os.environ), sys.meta_path[:]
    handler = signal.getsignal(signal.SIGTERM)
    results = soids.run(file, out=tmp_path / "out", workers=1)
    assert capfd.readouterr() == ("", "")
    assert (sys.path, dict(os.environ), sys.meta_path) == (path, environment, finders)
    assert signal.getsignal(signal.SIGTERM) == handler
    assert (results.missing, results.failures, results.folder) == (0, {}, tmp_path / "out")
    assert [path.name for path in results.pictures] == ["small.png"]
    assert [row[0] for row in results.tables()[0].rows] == ["Uniform", "Mine"]
    again = read_results(tmp_path / "out")
    assert again.experiment == results.experiment
    assert again.panels[0].runs["Mine"].final.tolist() == (
        results.panels[0].runs["Mine"].final.tolist()
    )


def test_a_watch_is_given_progress_and_notices(file, tmp_path, heard):
    said, watch = heard
    asked = {"out": str(tmp_path / "out"), "workers": 1, "watch": watch}
    soids.run(str(file), **asked)
    assert len(said) == 4
    assert said == sorted(said)  # the worker may be ahead
    assert said[-1] == 16
    said.clear()
    assert soids.run(read_experiment(file, quick=True), **asked).experiment.quick
    assert said[0].startswith("! Figure, report and numbers of the whole experiment give way")
    assert said[1:] == ["2 of 2 trials are there already."]


def test_a_long_search_for_finished_trials_is_announced(file, tmp_path, heard, monkeypatch):
    said, watch = heard
    monkeypatch.setattr("soids.experiments.run.MANY", 4)
    soids.run(str(file), out=str(tmp_path / "out"), workers=1, watch=watch)
    assert said[0] == "Looking for finished ones among 4 trials."


def test_failures_are_results(file, tmp_path):
    (tmp_path / "own_late.py").write_text("def check(index): raise ArithmeticError('lost')")
    results = soids.run(file, out=tmp_path / "out", workers=1)
    assert {trial.player.label for trial in results.failures} == {"Mine"}
    assert results.missing == 2
    assert (tmp_path / "out" / "failures.txt").read_text().count("ArithmeticError: lost") >= 2
    (tmp_path / "own_late.py").write_text("def check(index): pass")
    assert not soids.run(file, out=tmp_path / "out", workers=1).failures
    assert not (tmp_path / "out" / "failures.txt").exists()


def test_modules_of_two_folders_may_have_the_same_name(file, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for path in [file, *tmp_path.glob("own_*.py")]:
        (other / path.name).write_text(path.read_text().replace("3", "5"))
    for folder, index in ((tmp_path, 3), (other, 5), (tmp_path, 3)):
        soids.run(folder / "small.toml", out=folder / "out", workers=1)
        assert index == sys.modules["own_index"].INDEX


def test_without_the_extra_there_are_numbers_and_a_warning(file, tmp_path, heard, monkeypatch):
    hide("matplotlib", monkeypatch)
    said, watch = heard
    results = soids.run(file, out=tmp_path / "out", workers=1, watch=watch)
    assert results.pictures == ()
    assert "! No figure and no report: " in said[-1]
    assert (tmp_path / "out" / "regret.csv").exists()


def test_errors_of_the_user_say_what_is_wrong(file, tmp_path):
    with pytest.raises(FileNotFoundError, match="did you mean 'figure1'"):
        soids.run("figur1")
    with pytest.raises(IsADirectoryError, match="is a folder: name a file in it"):
        soids.run(tmp_path)
    with pytest.raises(ValueError, match="workers must"):
        soids.run(file, workers=0)
    with pytest.raises(ValueError, match="must be given to read_experiment, got an Experiment"):
        soids.run(read_experiment(file), quick=True)
    with pytest.raises(ValueError, match=r"name must be one of .* did you mean 'figure1'"):
        soids.reproduce("figure2")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(OSError, match=r"cannot write to .*taken.*: Not a directory"):
        soids.run(file, out=tmp_path / "taken" / "out")
    file.write_text(FILE.replace("own_policies", "no_policies"))
    with pytest.raises(ValueError, match=r"^small.toml: policies.Mine: .* No module named"):
        soids.run(file, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="must be a folder that soids run has written to"):
        read_results(tmp_path)


def test_an_experiment_may_be_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_policies.py").write_text(MODULE.replace("from own_late", "from own_index"))
    (tmp_path / "own_index.py").write_text("INDEX = 2\ndef check(index): assert index == 2")
    table = {
        "horizon": 3, "seeds": 1, "bandit": {"family": "paper", "dimension": 20},
        "policies": {"Mine": {"policy": "own_policies:Constant"}},
    }  # fmt: skip
    results = soids.run(parse_experiment(table, "mine"), workers=1)
    assert results.folder == Path("results/mine")
    assert results.missing == 0


def test_the_papers_figure_is_reproduced_by_name(monkeypatch):
    asked = []
    module = sys.modules["soids.experiments.run"]
    monkeypatch.setattr(module, "run", lambda path, **how: asked.append((path.name, how)))
    soids.reproduce("figure1", quick=True)
    assert asked == [("figure1.toml", {"quick": True})]


@pytest.mark.parametrize("given", [{}, 3])
def test_what_is_no_experiment_is_refused_with_a_remedy(given):
    with pytest.raises(ValueError, match=r"experiment must be a file, .*parse_experiment"):
        soids.run(given)


def test_the_address_of_a_cluster_is_checked_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="scheduler must be as tcp://HOST:PORT, got 'foo'"):
        soids.run("figure1", quick=True, out=tmp_path / "x", scheduler="foo")
    assert not (tmp_path / "x").exists()
