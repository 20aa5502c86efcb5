"""``soids inspect``: the trial comes out again, and what is said of it is so."""

import csv
import json
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from command_line import called
from soids.cli import main
from soids.experiments.folder import prepare
from soids.policies import POLICIES
from soids.simulation.experiment import read_experiment
from soids.simulation.store import Store, read_outcome
from soids.simulation.worker import Post, perform

FILE = """
title = "Small"
horizon = 30
seeds = 2

[bandit]
family = "paper"
dimension = [10, 20]
actions = 12

[policies]
SOIDS = { policy = "soids", told = ["sparsity", "radius", "noise"] }
"[b]LinTS[/b]" = { policy = "lints" }
LinUCB = { policy = "linucb", alpha = [1.0, 3.0] }

[quick]
horizon = 10
seeds = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What soids run leaves behind."""
    place = tmp_path_factory.mktemp("results")
    file = place / "small.toml"
    file.write_text(FILE)
    experiment = read_experiment(file)
    prepare(place, experiment)
    for trial in experiment.trials():
        if not (trial.seed == 1 and trial.player.label == "SOIDS"):
            Store(place / "trials").write(trial, perform(trial, Post(), 0))
    return place


ask = partial(called, main, "inspect", width=120)


def the_one(folder, label, *more):
    """The answer for a policy on the smaller problem, seed 0."""
    choice = ("--policy", label, "--seed", 0, "--problem", "dimension = 10")
    answer = ask(folder, *choice, *more)
    assert answer.exit_code == 0, answer.output
    return answer


def trial_file(folder, policy):
    """The file of a trial of a policy."""
    return sorted(folder.glob(f"trials/*dimension=10*/{policy}-*/000.npz"))[0]


def test_a_trial_comes_out_as_stored(folder):
    shown = the_one(folder, "SOIDS").stdout
    assert "Played again: all 30 rounds are as stored, to the last bit." in shown
    assert "SOIDS on dimension = 10, seed 0" in shown
    for row in ("effective size, of 100", "3-ratio", "learning rate", "term of the learning rate"):
        assert row in shown
    assert "▁" in shown or "█" in shown


def test_the_regret_and_the_bounds_have_tables(folder):
    shown = the_one(folder, "SOIDS").stdout
    for words in (
        "information gain, surrogate", "information gain, true", "Regret by rounds", "11 to 30",
        "Regret by purpose", "committed, to the best action", "Regret by actions", "the best",
        "Theorem 1", "by the true gain", "Theorem 3", "not proven for this run", "trivial",
    ):  # fmt: skip
        assert words in shown
    text = " ".join(shown.split())
    assert "Theorems 1 and 3 are not proven for this run: eta must be 0.25, it is 1; the" in text
    assert (
        'A theorem covers this call: SOIDS(10, sparsity=1, radius=10, noise=10, rate="rich"' in text
    )
    assert "at most the true one, as it must be (Proposition SIG-TIG). In the median round" in text
    plain = the_one(folder, "LinUCB, alpha = 3").stdout
    assert "Regret by actions" in plain
    assert not any(words in plain for words in ("Regret by purpose", "Theorem", "exploring"))


def test_a_file_is_enough(folder):
    answer = ask(trial_file(folder, "lints"))
    assert answer.exit_code == 0, answer.output
    assert "lints on paper, seed 0" in answer.stdout
    assert "to the last bit" in answer.stdout


def test_labels_are_no_markup(folder):
    assert "[b]LinTS[/b] on dimension = 10" in the_one(folder, "[b]LinTS[/b]").stdout


def test_a_policy_without_a_posterior_is_shown_with_what_it_has(folder):
    shown = the_one(folder, "LinUCB, alpha = 3").stdout
    assert "This policy has no posterior" in shown
    assert "upper bound on the regret" in shown
    assert "effective" not in shown


def test_json_holds_the_same_and_nothing_else(folder):
    told = json.loads(the_one(folder, "SOIDS", "--json").stdout)
    assert told["reproduced"] is True
    assert told["recipe"]["horizon"] == 30
    assert list(told["rounds"]) == ["1", "10", "30"]
    assert len(told["rounds"]["30"]["inclusion"]) == 10
    assert told["rounds"]["1"]["surviving"] is None
    assert told["findings"]["square_excess"] == 0
    last = told["rounds"]["30"]
    assert 0.0 <= last["surrogate_gain"] <= last["true_gain"]
    losses, bounds = told["losses"], told["bounds"]
    assert sum(one["regret"] for one in losses["stretches"]) == pytest.approx(losses["regret"])
    assert losses["exploring"]["rounds"] == sum(one["exploring"] for one in losses["stretches"])
    terms = bounds["theorem1"]
    value = terms["complexity"] + terms["regret"] - terms["gain"] + terms["additive"]
    assert terms["value"] == pytest.approx(value)
    assert bounds["theorem3"]["value"] > 0.0
    assert bounds["unmet1"][0] == "eta must be 0.25, it is 1"
    assert json.loads(the_one(folder, "LinUCB, alpha = 3", "--json").stdout)["bounds"] is None


def test_a_folder_gets_figure_and_numbers(folder, tmp_path):
    shown = the_one(folder, "SOIDS", "--out", tmp_path / "new" / "place").stdout
    place = tmp_path / "new" / "place"
    assert (place / "diagnosis.png").read_bytes().startswith(b"\x89PNG")
    assert (place / "diagnosis.pdf").read_bytes().startswith(b"%PDF")
    assert shown.count("Written: ") == 3
    with (place / "diagnosis.csv").open() as file:
        rows = list(csv.DictReader(file))
    stored = read_outcome(trial_file(folder, "soids"))[1].trace
    assert [int(row["chosen"]) for row in rows] == stored.chosen.tolist()
    assert [float(row["reward"]) for row in rows] == stored.reward.tolist()
    assert rows[0]["surviving"] == ""
    assert {row["exploring"] for row in rows} <= {"True", "False"}
    for row in rows:
        assert float(row["surrogate_gain"]) <= float(row["true_gain"]) * (1 + 1e-9)
        assert float(row["surrogate_gain"]) == pytest.approx(float(row["information_gain"]))
    assert 0.0 <= float(rows[-1]["inclusion_9"]) <= 1.0


@pytest.mark.parametrize("label", ["[b]LinTS[/b]", "LinUCB, alpha = 1"])
def test_every_kind_of_policy_has_a_figure(folder, tmp_path, label):
    the_one(folder, label, "--out", tmp_path)
    assert (tmp_path / "diagnosis.png").stat().st_size > 10_000


# What can go wrong


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ([], "--policy must be one of 'SOIDS', '[b]LinTS[/b]', 'LinUCB, alpha = 1'"),
        (["--policy", "SOIDS"], "--problem must be one of 'dimension = 10', 'dimension = 20', got"),
        (["--problem", "dimension = 1"], "did you mean 'dimension = 10'?"),
        (["--problem", "dimension = 10"], "--policy must be one of 'SOIDS', '[b]LinTS[/b]', 'LinU"),
        (["--problem", "dimension = 10", "--policy", "SOID"], "did you mean 'SOIDS'?"),
        (["--problem", "dimension = 10", "--policy", "SOIDS"], "--seed must be one of 0, 1, got n"),
        (["--problem", "dimension = 10", "--policy", "SOIDS", "--seed", "7"], "got 7"),
        (["--problem", "dimension = 10", "--policy", "SOIDS", "--seed", "1"], "not been played"),
    ],
)
def test_an_ambiguous_choice_lists_what_there_is(folder, choice, message):
    answer = ask(folder, *choice)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert "Traceback" not in answer.output


def test_what_is_no_trial_is_refused_in_one_line(folder, tmp_path):
    empty, text = tmp_path / "empty.npz", tmp_path / "text.npz"
    empty.write_bytes(b"")
    text.write_text("hello")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    for path in (empty, text, tmp_path / "other.npz", folder / "small.toml", tmp_path):
        answer = ask(path)
        assert answer.exit_code == 2
        assert "that soids run has written" in answer.stderr
    assert ask(tmp_path / "missing").exit_code == 2
    answer = ask(trial_file(folder, "soids"), "--seed", 0)
    assert answer.exit_code == 2
    assert "are for folders" in answer.stderr


def test_an_unwritable_folder_is_said_in_one_line(folder, tmp_path):
    (tmp_path / "file").write_text("in the way")
    answer = ask(trial_file(folder, "lints"), "--out", tmp_path / "file" / "below")
    assert answer.exit_code == 1
    assert "Not a directory" in answer.stderr


def test_without_matplotlib_the_remedy_is_named(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = ask(trial_file(folder, "lints"), "--out", tmp_path)
    assert answer.exit_code == 1
    assert 'pip install "soids[plot]"' in answer.stderr


def test_a_policy_that_fails_is_said_in_one_line(folder, monkeypatch):
    def fails(dimension, **settings):
        raise FloatingPointError("too much\nof everything")

    monkeypatch.setitem(POLICIES, "lints", fails)
    answer = ask(trial_file(folder, "lints"))
    assert answer.exit_code == 1
    assert "could not be played again: FloatingPointError: too much" in answer.stderr


def test_choices_that_differ_are_said_to_and_why(folder, tmp_path):
    experiment = read_experiment(folder / "small.toml")
    trial = next(t for t in experiment.trials() if t.player.policy == "lints")
    store, outcome = Store(tmp_path), Store(folder / "trials").read(trial)
    chosen = outcome.trace.chosen.copy()
    chosen[16] += 1
    other_choice, other_reward = (
        outcome.trace._replace(chosen=chosen), outcome.trace._replace(reward=chosen / 2)
    )  # fmt: skip
    cases = [
        (other_choice, "older", "stored from round 17 on; they were played by other code"),
        (other_choice, outcome.code, "stored from round 17 on; the code is the same, so the mach"),
        (other_reward, "older", "choices are as stored, other numbers are not"),
    ]
    for trace, code, message in cases:
        store.write(trial, replace(outcome, trace=trace, code=code))
        answer = ask(store.path(trial))
        assert answer.exit_code == 0
        assert message in " ".join(answer.stdout.split())
