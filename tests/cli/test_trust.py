"""Results, recipes and checkpoints are data: reading them never runs the code that they name."""

import json
import shutil
import subprocess
import sys
from functools import partial

import pytest

import soids
from command_line import called, words
from soids.cli import main
from soids.cli.trust import announce
from soids.simulation.experiment import read_experiment
from soids.simulation.provenance import fingerprint
from soids.simulation.trial import policy_called
from soids.simulation.user_policies import modules_in
from soids.simulation.worker import Failure, Post, perform

MINE = """
from pathlib import Path
Path(__file__).with_name("imported").touch()
class Mine:
    def __init__(self, dimension):
        Path(__file__).with_name("made").touch()
    def choose(self, actions, rng):
        return 0
    def observe(self, decision, reward):
        pass
def function(dimension):
    Path(__file__).with_name("called").touch()
"""
FILE = """
horizon = 20
seeds = 2
bandit = { family = "paper", dimension = 10, actions = 6 }
policies.Mine = { policy = "mine_of_trust:Mine" }
policies.Uniform = { policy = "uniform" }
"""
ask = partial(called, main, width=200)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A file beside a policy, and the results of its run."""
    folder = tmp_path_factory.mktemp("original")
    beside, out = folder / "beside", folder / "results"
    beside.mkdir()
    (beside / "mine_of_trust.py").write_text(MINE)
    (beside / "small.toml").write_text(FILE)
    soids.run(beside / "small.toml", out=out, workers=1)
    for name in ("imported", "made"):
        (beside / name).unlink()
    return folder


@pytest.fixture
def played(original, tmp_path, monkeypatch):
    """A copy of both, of which nothing is imported yet."""
    beside, out = tmp_path / "beside", tmp_path / "results"
    for folder in (beside, out):
        shutil.copytree(original / folder.name, folder)
    change_manifest(out, beside=str(beside))
    monkeypatch.chdir(tmp_path)
    forget()
    yield beside, out
    forget()


def change_manifest(out, **facts):
    manifest = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(manifest | facts))


def forget():
    sys.modules.pop("mine_of_trust", None)


def traces(beside):
    return {path.name for path in beside.iterdir()} & {"imported", "made", "called"}


def trial_file(out, policy):
    return sorted(out.glob(f"trials/*/{policy}-*/000.npz"))[0]


@pytest.mark.parametrize("command", ["table", "plot"])
def test_tables_and_figures_need_no_code(command, played):
    beside, out = played
    answer = ask(command, out)
    assert answer.exit_code == 0, answer.output
    assert not traces(beside)


@pytest.mark.parametrize("of_a_file", [True, False])
def test_a_trial_is_played_again_with_its_code_only_if_that_is_trusted(of_a_file, played):
    beside, out = played
    run = (trial_file(out, "mine_of_trust_Mine"),) if of_a_file else (
        out, "--policy", "Mine", "--seed", 0
    )  # fmt: skip
    refused = ask("inspect", *run)
    assert refused.exit_code == 2
    assert f"{run[0]} asks for the policy 'mine_of_trust:Mine'" in words(refused)
    assert "if you trust it, add --trust" in words(refused)
    assert not traces(beside)
    shown = ask("inspect", *run, "--trust")
    assert shown.exit_code == 0, shown.output
    assert f"Imported as --trust asks: mine_of_trust:Mine from {beside}" in words(shown)
    assert "all 20 rounds are as stored" in words(shown)


def test_a_family_of_policies_is_said_to_come_from_its_own_file(tmp_path, capsys):
    file = tmp_path / "family_of_trust.py"
    file.write_text("from soids import Uniform\nMINE = Uniform\n")
    with modules_in(str(tmp_path)):
        announce("family_of_trust:MINE")
    assert capsys.readouterr().err.strip().endswith(f"family_of_trust:MINE from {file}")


@pytest.mark.parametrize("trust", [[], ["--trust"]])
def test_nothing_is_imported_from_a_folder_of_results(trust, played):
    beside, out = played
    change_manifest(out, beside=str(out))
    (beside / "mine_of_trust.py").rename(out / "mine_of_trust.py")
    answer = ask("inspect", trial_file(out, "mine_of_trust_Mine"), *trust)
    assert answer.exit_code == 2
    assert not traces(out)


def test_a_module_in_the_folder_hides_none_that_is_installed(played):
    _, out = played
    for hidden in ("matplotlib", "numpy", "html", "mine_of_trust"):
        (out / f"{hidden}.py").write_text("raise SystemExit('this ran')")
    answer = subprocess.run(
        [sys.executable, "-m", "soids", "plot", "."], cwd=out, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "this ran" not in answer.stdout + answer.stderr


@pytest.mark.parametrize(
    "name",
    ["../evil", "/tmp/evil", "..", ".", "", "a/b", "a\\b", "a\0b", 3, None, ["small"], "x" * 300],
    ids=repr,
)
def test_a_name_in_a_manifest_cannot_leave_the_folder(name, played):
    _, out = played
    change_manifest(out, name=name)
    before = sorted(out.parent.rglob("*"))
    answer = ask("plot", out)
    assert answer.exit_code == 2, answer.output
    assert "manifest.json must name the experiment" in words(answer)
    assert sorted(out.parent.rglob("*")) == before


def test_a_link_among_results_is_not_written_through(played):
    beside, out = played
    (out / "small.pdf").unlink()
    (out / "small.pdf").symlink_to(beside / "small.toml")
    answer = ask("plot", out)
    assert answer.exit_code == 1
    assert "path must lie in" in words(answer)
    assert (beside / "small.toml").read_text() == FILE


@pytest.mark.parametrize("name", ["mine_of_trust:function", "os:system", "subprocess:Popen"])
def test_what_is_no_policy_is_refused_without_a_call(name, played):
    beside, _ = played
    file = beside / "other.toml"
    file.write_text(FILE.replace("mine_of_trust:Mine", name))
    with pytest.raises(ValueError, match="must be a class with choose and observe"):
        read_experiment(file).check()
    assert traces(beside) <= {"imported"}


def test_outside_of_a_run_no_policy_is_imported(played):
    beside, _ = played
    with pytest.raises(ValueError, match="if you trust it, add --trust"):
        policy_called("mine_of_trust:Mine")
    assert not traces(beside)


def test_results_and_the_code_of_a_policy_do_not_share_a_folder(played):
    beside, _ = played
    with pytest.raises(ValueError, match="out must be another folder"):
        soids.run(beside / "small.toml", out=beside, workers=1)


def test_a_changed_helper_of_a_policy_is_other_code(tmp_path):
    for name, text in {
        "policy_of_parts": "from helper_of_parts import A\nclass P(A): pass\n",
        "helper_of_parts": "import deeper_of_parts\nclass A: choose = observe = print\n",
        "deeper_of_parts": "x = 1\n",
        "stranger_of_parts": "x = 1\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    with modules_in(str(tmp_path)):
        before = fingerprint("policy_of_parts:P")
        (tmp_path / "stranger_of_parts.py").write_text("x = 2\n")
        assert fingerprint("policy_of_parts:P") == before
        (tmp_path / "deeper_of_parts.py").write_text("x = 2\n")
        assert fingerprint("policy_of_parts:P") != before


RAISING = """
class Quit(BaseException):
    pass
class Mine:
    def __init__(self, dimension):
        pass
    def choose(self, actions, rng):
        raise {error}("oh")
    def observe(self, decision, reward):
        pass
"""


@pytest.mark.parametrize("error", ["Quit", "SystemExit", "GeneratorExit"])
def test_whatever_a_policy_raises_is_a_failed_trial(error, played):
    beside, _ = played
    (beside / "mine_of_trust.py").write_text(RAISING.format(error=error))
    for trial in read_experiment(beside / "small.toml").trials()[:1]:
        outcome = perform(trial, Post(str(beside)), 0)
        assert isinstance(outcome, Failure)
        assert outcome.reason.startswith(f"{error}: oh")


def test_ctrl_c_is_no_failed_trial(played):
    beside, _ = played
    (beside / "mine_of_trust.py").write_text(RAISING.format(error="KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        perform(read_experiment(beside / "small.toml").trials()[0], Post(str(beside)), 0)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ("[9223372036854775808]", "seeds must be in 0..9223372036854775807"),
        ("{ from = 9223372036854775808, to = 9223372036854775809 }", "seeds.from must be in 0"),
        ("{ from = 0, to = 9223372036854775807 }", "seeds.to must be in 0..9999999"),
        ("[" * 5000, "must be TOML"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_it_is_played(seeds, message, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(FILE.replace("seeds = 2", f"seeds = {seeds}"))
    with pytest.raises(ValueError, match=message):
        read_experiment(file)


def test_the_largest_seed_is_stored_and_shown(tmp_path):
    file, last = tmp_path / "small.toml", 2**63 - 1
    without = FILE.replace('policies.Mine = { policy = "mine_of_trust:Mine" }', "")
    file.write_text(without.replace("seeds = 2", f"seeds = [{last}]"))
    results = soids.run(file, out=tmp_path / "out", workers=1)
    assert results.panels[0].runs["Uniform"].seeds.tolist() == [last]
