"""``soids replay``: the numbers, the doubts, the exit code."""

import csv
import gzip
import json
import sys
from functools import partial

import numpy as np
import pytest

from command_line import called
from realdata import DATA, needs_obd
from soids.cli import main
from soids.cli.replay import as_setting
from soids.logs import LogWriter, limits

MEN = DATA / "obd" / "bts" / "men.csv.gz"


ask = partial(called, main, "replay", width=160)


def answer(*words):
    """The same as an object, whatever the exit code says of it."""
    result = ask(*words, "--json")
    assert result.exit_code in (0, 3), result.output
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Two thousand rounds of four actions, the second of which pays; ten rewards never came."""
    path = tmp_path_factory.mktemp("logs") / "made.jsonl"
    rng = np.random.default_rng(0)
    actions = np.array([[0.0, 1.0], [1.0, 0.0], [0.2, -1.0], [-1.0, 0.5]])
    with LogWriter(path, sets={"all": actions}) as writer:
        for i in range(2000):
            k = int(rng.integers(4))
            reward = None if i % 200 == 0 else float(actions[k, 0] + 0.1 * rng.standard_normal())
            writer.decide(
                i, actions="all", chosen=k, probabilities=[0.25] * 4, reward=reward,
                target=[0.1, 0.7, 0.1, 0.1],
            )  # fmt: skip
    return path


def test_the_usual_question_is_answered_in_a_table(log):
    result = ask(log)
    assert result.exit_code == 0, result.output
    assert "Mean reward on 1,990 rounds of made.jsonl" in result.stdout
    title = " ".join(result.stdout.partition("policy")[0].split())
    assert "rounds of made.jsonl (10 decisions without a reward are left out)" in title
    assert "Difference from logged, in the same rounds" in result.stdout
    for word in ("logged", "uniform", "IPS", "SNIPS", "DM", "DR", "95% interval"):
        assert word in result.stdout


def test_several_policies_are_compared_with_the_first(log, tmp_path):
    found = answer(log, "--policy", "uniform", "--policy", "target", "--out", tmp_path)
    uniform, target = found["policies"]
    (one,) = found["differences"]
    assert (one["label"], one["baseline"]) == ("target", "uniform")
    for part, ours, theirs in zip(
        one["estimates"], target["estimates"], uniform["estimates"], strict=True
    ):
        assert part["value"] == pytest.approx(ours["value"] - theirs["value"], abs=1e-12)
    truth = (0.7 - 0.1 + 0.02) - 0.05
    assert one["estimates"][3]["low"] < truth < one["estimates"][3]["high"]
    with (tmp_path / "differences.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy"], row["baseline"], row["method"]) for row in rows] == [
        ("target", "uniform", method) for method in ("IPS", "SNIPS", "DM", "DR")
    ]


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    """A table of two thousand rounds of three items, one of which the young click on."""
    path = tmp_path_factory.mktemp("tables") / "sales.csv"
    rng = np.random.default_rng(0)
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "item", "p", "click", "place"])
        for i in range(2000):
            age, k = int(rng.integers(20, 60)), int(rng.choice(3, p=[0.5, 0.3, 0.2]))
            rate = (0.1, 0.5, 1.0 - (age - 20) / 39)[k]
            click = "" if i % 100 == 0 else int(rng.random() < rate)
            writer.writerow([age, "abc"[k], (0.5, 0.3, 0.2)[k], click, "x"])
    return path


COLUMNS = ("--reward", "click", "--chosen", "item", "--propensity", "p")


def test_any_table_is_replayed_by_the_names_of_its_columns(sales):
    found = answer(sales, *COLUMNS)
    assert (found["log"], found["rounds"], found["unrewarded"]) == ("sales.csv", 1980, 20)
    shown = ask(sales, *COLUMNS).stdout
    title = " ".join(shown.partition("policy")[0].split())
    assert title.endswith("1,980 rounds of sales.csv (20 decisions without a reward are left out)")
    uniform = found["policies"][1]["estimates"][0]
    assert uniform["low"] < (0.1 + 0.5 + 0.5) / 3 < uniform["high"]


def test_a_policy_learns_from_the_context_in_a_table(sales):
    asked = ("--policy", "lints", "--features", "age", "--seed", 1)
    (ours,) = answer(sales, *COLUMNS, *asked)["policies"]
    (blind,) = answer(sales, *COLUMNS, "--policy", "lints", "--seed", 1)["policies"]
    assert ours["estimates"][3]["low"] > 0.54  # the best item alone is worth 0.5, the best law 0.63
    assert blind["estimates"][3]["low"] < 0.52
    assert ask(sales, *COLUMNS, "--policy", "lints", "--features", "others").exit_code == 0


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("--probabilities", "age", "--probabilities", "p"), "must be given once, got age, p"),
        (("--policy", "uniform", "--policy", "uniform"), "must differ, got 'uniform' twice"),
    ],
)
def test_what_is_asked_for_twice_is_refused(sales, asked, why):
    result = ask(sales, *COLUMNS, *asked)
    assert result.exit_code == 2
    assert why in result.output


def test_a_table_without_names_is_refused_with_its_columns_and_the_options(sales):
    result = ask(sales)
    assert result.exit_code == 2
    assert result.output == (
        "Error: sales.csv must have a column 'reward', it has age, item, p, click, place: say what "
        "they are by reward=, propensity= and chosen= (--reward, --propensity, --chosen)\n"
    )


def test_a_file_that_unpacks_to_too_much_is_refused_and_read_on_request(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE", 1000)
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress(b"reward,propensity\n" + b"1,0.5\n0,0.5\n" * 5000))
    refused = ask(path)
    assert refused.exit_code == 2
    assert "--expansion 2000" in refused.output
    assert ask(path, "--policy", "logged", "--expansion", 1000).exit_code == 0


def test_the_logging_policy_is_worth_its_mean_reward(log):
    found = answer(log, "--policy", "logged")
    assert found["policies"][0]["estimates"][0]["value"] == pytest.approx(found["mean_reward"])
    assert (found["rounds"], found["unrewarded"], found["trained"]) == (1990, 10, 0)


def test_policies_that_learn_are_evaluated_beside_those_that_do_not(log):
    found = answer(
        log, "--policy", "soids", "--policy", "best-constant", "--policy", "logged",
        "--set", "sparsity=1", "--set", "noise=0.1", "--train", 0.2,
    )  # fmt: skip
    assert found["trained"] == 398
    ours, constant, logged = found["policies"]
    assert ours["label"] == "soids"
    assert ours["reliable"]
    dr = ours["estimates"][3]
    assert dr["method"] == "DR"
    assert dr["low"] < 1.0 < dr["high"]
    assert constant["estimates"][3]["value"] == pytest.approx(1.0, abs=0.05)
    assert logged["overlap"]["rounds"] == 1592


def test_a_setting_may_be_of_one_policy_and_comes_before_that_of_all(log):
    usual = (log, "--train", 0.1)
    settings = ("--set", "soids.noise=50.0", "--set", "noise=0.1", "--set", "linucb.alpha=1.0")
    both = answer(*usual, "--policy", "soids", "--policy", "linucb", *settings)
    assert [one["label"] for one in both["policies"]] == ["soids", "linucb"]
    loud, quiet = (
        answer(*usual, "--policy", "soids", "--set", f"noise={noise}")["policies"][0]
        for noise in (50.0, 0.1)
    )
    assert both["policies"][0] == loud
    assert loud != quiet


def test_the_same_seed_gives_the_same_numbers(log):
    words = (log, "--policy", "thompson", "--seed", 3)
    assert answer(*words) == answer(*words)


def test_the_target_in_the_log_is_evaluated(log):
    found = answer(log, "--policy", "target")
    truth = 0.7 - 0.1 + 0.02
    assert found["policies"][0]["estimates"][3]["value"] == pytest.approx(truth, abs=0.02)
    assert [one["label"] for one in answer(log, "--probabilities", "target")["policies"]] == [
        "logged",
        "target",
    ]
    missing = ask(log, "--probabilities", "elsewhere")
    assert missing.exit_code == 2
    assert "made.jsonl, line 3: target must be there" in missing.output


def test_a_learning_policy_is_replayed_by_rejection(log):
    found = answer(log, "--mode", "rejection", "--policy", "lints", "--policy", "uniform")
    ours, uniform = found["policies"]
    assert found["mode"] == "rejection"
    assert ours["estimate"]["value"] > 0.8
    assert abs(uniform["accepted"] - 1990 / 4) < 4 * np.sqrt(1990 * 3 / 16)
    shown = ask(log, "--mode", "rejection", "--policy", "lints")
    assert "rounds accepted" in shown.stdout
    assert "unchecked" not in shown.stdout


def test_a_policy_of_the_user_is_found_in_the_working_directory(log, tmp_path, monkeypatch):
    (tmp_path / "always_second.py").write_text(
        "class Second:\n"
        "    def __init__(self, dimension): pass\n"
        "    def choose(self, actions, rng): return 1\n"
        "    def observe(self, decision, reward): pass\n"
    )
    monkeypatch.chdir(tmp_path)
    path = sys.path.copy()
    asked = ("--policy", "always_second:Second", "--mode", "rejection")
    refused = ask(log, *asked)
    assert refused.exit_code == 2
    assert "if you trust it, add --trust" in refused.output
    assert "always_second" not in sys.modules
    (found,) = answer(log, *asked, "--trust")["policies"]
    assert found["estimate"]["value"] == pytest.approx(1.0, abs=0.05)
    assert sys.path == path


def test_rejection_says_so_where_the_log_cannot_tell_what_was_never_tried(tmp_path):
    path = tmp_path / "made.jsonl"
    rng = np.random.default_rng(0)
    with LogWriter(path) as writer:
        for i in range(600):
            k = int(rng.integers(2))
            writer.decide(i, actions=2, chosen=k, propensity=0.5, reward=k + rng.random())
    shown = ask(path, "--mode", "rejection", "--policy", "uniform")
    assert shown.exit_code == 0, shown.output
    assert "is unchecked" in " ".join(shown.stdout.split())


def test_what_the_log_cannot_tell_is_not_told(log):
    result = ask(log, "--policy", "uniform", "--floor", 5000)
    assert result.exit_code == 3
    assert "Not reliable: uniform: effective size 1990.0 of 1990 rounds is below 5000" in (
        result.stdout
    )
    assert " to " not in result.stdout
    assert result.stdout.count("none") == 4
    found = answer(log, "--policy", "uniform", "--floor", 5000)
    assert not found["policies"][0]["reliable"]
    assert all(one["low"] is None for one in found["policies"][0]["estimates"])


def test_numbers_are_written(log, tmp_path):
    result = ask(log, "--out", tmp_path / "new")
    assert result.exit_code == 0
    with (tmp_path / "new" / "replay.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["policy"], row["method"]) for row in rows][:2] == [
        ("logged", "IPS"),
        ("logged", "SNIPS"),
    ]
    kept = json.loads((tmp_path / "new" / "replay.json").read_text())
    assert kept == answer(log)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policy", "sods"), "did you mean 'soids'?"),
        (
            ("--policy", "no.such:Thing", "--trust"),
            "must be a class in the working directory, in PYTHONPATH",
        ),
        (("--policy", "soids", "--set", "speed=3"), "speed"),
        (("--policy", "soids", "--set", "sparsity=9"), "sparsity must be in 1..2, got 9"),
        (("--policy", "soids", "--set", "sparsity"), "must be NAME=VALUE"),
        (
            ("--policy", "soids", "--set", "sods.eta=1"),
            "(soids), got 'sods': did you mean 'soids'?",
        ),
        (("--policy", "soids", "--policy", "logged", "--set", "logged.eta=1"), "got 'logged'"),
        (("--policy", "soids", "--set", ".eta=1"), "(soids), got ''"),
        (("--policy", "linucb"), "linucb: norm must be given"),
        (("--set", "sparsity=1"), "--set is for policies that learn"),
        (("--policy", "best-constant", "--train", "1.5"), "train must lie strictly between"),
        (("--confidence", "95"), "confidence must lie strictly between"),
        (("--features", "items"), "features is for logs of obd, dsjson, table; this one is"),
        (("--mode", "rejection", "--policy", "logged"), "logged learns nothing"),
        (("--policy", "estc", "--set", "exploration=5"), "ESTC cannot learn from choices"),
        (("--format", "obd"), "must have its items beside it"),
    ],
)
def test_what_cannot_be_asked_is_said(words, message, log):
    result = ask(log, *words)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("text", "value"), [(".3", 0.3), ("-.5e1", -5.0), ("3.", 3.0), ("0.3", 0.3), ("a.b", "a.b")]
)
def test_a_number_may_begin_or_end_with_its_point(text, value):
    assert as_setting(f"noise={text}") == ("noise", value)


def test_an_error_in_a_policy_of_the_user_is_said_in_one_line(log):
    result = ask(log, "--policy", "strangers:Raising", "--mode", "rejection", "--trust")
    assert result.exit_code == 1
    assert "Error: a policy failed: ArithmeticError: lost (strangers.py, line" in result.output
    assert "Traceback" not in result.output


def test_a_program_is_not_taken_for_a_log(tmp_path):
    file = tmp_path / "w.py"
    file.write_text("import a, b\n")
    result = ask(file)
    assert result.exit_code == 2
    assert "w.py must be a log of soids" in result.output
    assert "its first line is 'import a, b'" in result.output


def test_a_bad_log_is_refused_with_its_line(log, tmp_path):
    lines = log.read_text().splitlines(keepends=True)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("".join(lines[:50]) + lines[49] + "".join(lines[50:]))
    result = ask(bad)
    assert result.exit_code == 2
    assert result.output == (
        "Error: bad.jsonl, line 51: id must be new, it was given at 50 already: "
        "log each decision once\n"
    )
    bad.write_text("".join(lines)[:-20])
    assert "line 2001: the last line is cut off" in ask(bad).output
    assert ask(bad, "--torn", "skip").exit_code == 0


@needs_obd
def test_the_open_bandit_is_replayed_as_it_lies_there():
    found = answer(MEN, "--policy", "uniform", "--policy", "lints", "--train", 0.3)
    uniform, ours = found["policies"]
    assert found["rounds"] == 7000
    assert uniform["overlap"]["largest"] == pytest.approx(1 / 34 / 0.000165)
    assert ours["overlap"]["effective"] < uniform["overlap"]["effective"]
