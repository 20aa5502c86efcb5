"""The command line: help, version, exit codes."""

import subprocess
import sys
from functools import partial
from importlib.metadata import version

import click
import pytest
from click.testing import CliRunner

from command_line import called
from soids.cli import main
from soids.cli.errors import Commands, Unusable
from soids.experiments.run import PAPER

told = partial(called, main)


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(
    "command",
    [
        [],
        ["bound"],
        ["reproduce"],
        ["reproduce", "figure1"],
        ["run"],
        ["table"],
        ["plot"],
        ["list"],
    ],
    ids=" ".join,
)
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
        (["run"], "Missing argument 'FILE'"),
        (["run", "figur1"], "did you mean 'figure1'?"),
        (["run", "nothere.toml"], "value: no such file, got 'nothere.toml'\n"),
        (["run", "figure1.toml"], "figure1 without .toml is the shipped one"),
        (["run", "figure1", "--engine", "dask"], "belong together"),
        (["run", "figure1", "--scheduler", "tcp://here:1"], "belong together"),
        (
            ["run", "figure1", "--engine", "dask", "--scheduler", "here"],
            "must be as tcp://HOST:PORT",
        ),
        (["run", "."], ". is a folder"),
        (["run", "figure1", "--engine", "ray"], "'ray' is not one of 'processes', 'dask'"),
        (["table", "no_such_folder"], "'no_such_folder' does not exist"),
        (["table", "."], "must be a folder that soids run has written to"),
        (["plot", "."], "must be a folder that soids run has written to"),
    ],
)
def test_what_is_not_understood_is_an_error_of_usage(arguments, message):
    answer = told(*arguments)
    assert answer.exit_code == 2
    assert message in answer.output


def test_no_error_sends_control_characters_of_a_file_to_the_terminal(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("\x1b[2Jcleared,b\n1,2\n")
    answer = told("replay", file)
    assert answer.exit_code == 2
    assert r"it has \x1b[2Jcleared, b" in answer.output
    assert "\x1b" not in answer.output


@pytest.mark.parametrize("kind", [click.BadParameter, click.ClickException, Unusable])
def test_every_kind_of_error_shows_control_characters_and_keeps_its_exit_code(kind):
    @click.group(cls=Commands)
    def group():
        pass

    @group.command()
    def fail():
        raise kind("from a \x1b[2Jfile")

    answer = CliRunner().invoke(group, ["fail"])
    assert answer.exit_code == kind.exit_code
    assert r"from a \x1b[2Jfile" in answer.output


def test_a_name_that_is_like_no_other_brings_no_guess():
    answer = told("run", "nothere")
    assert answer.exit_code == 2
    assert "got 'nothere'" in answer.output
    assert "did you mean" not in answer.output


def test_the_module_is_the_command():
    answer = subprocess.run(
        [sys.executable, "-m", "soids", "--help"], capture_output=True, text=True, check=True
    )
    assert "reproduce" in answer.stdout


@pytest.fixture
def played(monkeypatch):
    """The experiments that a command plays, and the folders of their results."""
    found = []
    module = sys.modules["soids.cli.reproduce"]  # the package has a command of this name
    monkeypatch.setattr(module, "play", lambda name, **asked: found.append((name, asked["out"])))
    return found


@pytest.mark.parametrize("name", PAPER)
def test_the_command_reproduces_what_the_function_does(name, played):
    assert told("reproduce", name).exit_code == 0
    assert played == [(name, None)]


def test_the_full_reproduction_plays_the_langevin_steps_beside_figure_1(played, tmp_path):
    assert told("reproduce", "figure1", "--full", "--out", str(tmp_path)).exit_code == 0
    assert played == [("figure1", tmp_path), ("langevin_steps", tmp_path / "langevin_steps")]
