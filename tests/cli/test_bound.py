"""``soids bound``: what it says, in which units, what it reads, and what it refuses."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest
from numba import config

import bounds
import pages
import record
import stored
from command_line import called, words
from soids import SOIDS, SparseLinearBandit, paper_instance, theory
from soids import rates as formulas
from soids.cli import main
from soids.designs import exploratory_design
from soids.features.columns import is_numeral
from soids.policies.coverage import shortfalls
from soids.rates import Progress
from soids.simulation.diagnosis import diagnose
from soids.simulation.guarantees import guarantees

invoke = partial(called, main, "bound")


def summary(*arguments):
    answer = invoke(*arguments, "--json")
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.output)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "actions.npy"
    np.save(path, paper_instance(20, seed=0).actions)
    return path


PROBLEM = ("--dimension", 100, "--sparsity", 10, "--horizon", 1000)


def test_the_numbers_are_those_of_the_theory():
    said = summary(*PROBLEM, "--c-min", 0.05)
    bound = theory.theorem2(100, 10, 1000, 0.05)
    assert (said["rich"], said["poor"], said["additive"]) == bound
    assert said["bound"] == bound.value
    assert said["regime"] == said["rate_branch"] == "data-poor"
    assert said["rate"] == formulas.poor_rate(100, 10, 1000, 0.05)
    assert said["theorem3"] == theory.theorem3_worst(100, 10, 1000, 0.05).value
    assert said["trivial"] == 2000.0
    assert said["vacuous"] is True
    assert said["meaningful_from"] == theory.meaningful_from(100, 10, 0.05)


KEYS = """
    dimension sparsity horizon radius noise action_bound c_min c_min_at_most sparse_optimal_actions
    unit complexity rich poor poor_at_best additive bound regime theorem3 trivial vacuous
    meaningful_from rate rate_branch crossover rate_crossover t_min uncapped_from rich_alone applies
    call theorem3_call
"""


def test_json_is_one_flat_object_with_these_keys(file):
    for command in (PROBLEM, ("--sparsity", 2, "--horizon", 1000, "--actions", file)):
        said = summary(*command)
        assert list(said) == KEYS.split()
        assert not any(isinstance(value, list | dict) for value in said.values())


def test_the_table_holds_the_same_in_words():
    answer = invoke(*PROBLEM, "--c-min", 0.05)
    assert answer.exit_code == 0
    assert "data-poor 104,149 30 (C_T s / C_min)^(1/3) T^(2/3) in force" in words(answer)
    assert "Vacuous at this horizon: no policy can lose more than 2,000." in words(answer)
    assert "says more from T = 7,043,499 on" in words(answer)
    assert "learning rate 0.008291 in the last round, the data-poor branch" in words(answer)


def test_far_away_the_bound_says_something():
    answer = invoke("--dimension", 20, "--sparsity", 2, "--horizon", 10**9, "--c-min", 0.3)
    assert "The bound says something: it is 2% of the 2e+09" in words(answer)
    assert "in the last round, the data-rich branch" in words(answer)


def test_early_the_rate_is_capped():
    said = summary("--dimension", 100, "--sparsity", 10, "--horizon", 2, "--c-min", 1)
    assert (said["rate"], said["rate_branch"], said["uncapped_from"]) == (0.5, "cap", 5)
    assert "the cap" in invoke(*PROBLEM[:4], "--horizon", 2, "--c-min", 1).output


def test_without_c_min_it_says_what_is_missing():
    said = summary(*PROBLEM)
    assert said["c_min"] is said["poor"] is said["crossover"] is None
    assert said["regime"] == "data-rich"
    assert said["poor_at_best"] == theory.theorem2(100, 10, 1000, 1.0).poor
    assert "give --actions FILE or --c-min NUMBER" in words(invoke(*PROBLEM))


def test_some_problems_are_data_rich_from_the_first_round_on():
    answer = invoke("--dimension", 7, "--sparsity", 7, "--horizon", 10, "--c-min", 0.001)
    assert "terms are equal never data-rich from the first round on" in words(answer)


def test_theorem_3_is_left_out_where_it_does_not_hold():
    dense = ("--dimension", 10, "--sparsity", 6, "--horizon", 10)
    assert summary(*dense)["theorem3"] is None
    assert "asks for s <= d / 2" in invoke(*dense).output


def test_c_min_and_dimension_come_from_the_file(file):
    design = exploratory_design(paper_instance(20, seed=0).actions)
    said = summary("--sparsity", 2, "--horizon", 1000, "--actions", file)
    assert (said["dimension"], said["c_min"]) == (20, design.value)
    assert said["c_min_at_most"] == design.bound
    answer = invoke("--sparsity", 2, "--horizon", 1000, "--actions", file)
    assert "C_min 0.2724 at most 0.2724, certified" in words(answer)


def test_whether_optimal_actions_are_sparse_is_checked(tmp_path, file):
    said = summary("--sparsity", 2, "--horizon", 1000, "--actions", file)
    assert said["sparse_optimal_actions"] is False
    assert said["applies"] == "rich_alone"
    assert said["bound"] == said["rich_alone"] == pytest.approx(theory.rich_alone(20, 2, 1000))
    assert said["meaningful_from"] == theory.rich_alone_from(20, 2)
    assert said["theorem3"] == theory.theorem3_worst(20, 2, 1000).value  # of the data-rich half
    assert said["rate"] == pytest.approx(formulas.rich_rate(20, 2, 1000))
    answer = words(invoke("--sparsity", 2, "--horizon", 1000, "--actions", file))
    assert "Optimal actions are not all sparse" in answer
    assert "Their data-rich halves are, for the data-rich rates alone." in answer
    assert "Theorem 2's data-rich half covers: SOIDS(20, sparsity=2, radius=1, noise=1, " in answer
    path = tmp_path / "sparse.npy"
    np.save(path, np.vstack([np.eye(3), -np.eye(3)]))
    command = ("--sparsity", 1, "--horizon", 1000, "--actions", path)
    assert summary(*command)["sparse_optimal_actions"] is True
    assert summary(*command)["applies"] == "theorem2"
    assert "checked: optimal actions have at most s non-zero features" in words(invoke(*command))
    assert summary(*PROBLEM)["sparse_optimal_actions"] is None
    assert "(not checked)" in words(invoke(*PROBLEM))


def test_actions_that_do_not_span_leave_the_data_rich_term(tmp_path):
    path = tmp_path / "flat.npy"
    np.save(path, np.random.default_rng(0).uniform(-1, 1, (8, 10)))
    command = ("--sparsity", 1, "--horizon", 10, "--actions", path)
    said = summary(*command)
    assert said["c_min"] is said["poor"] is None
    assert "The actions do not span the space, or only just: C_min is 0" in words(invoke(*command))


def test_units_of_actions_and_rewards_do_not_matter(tmp_path):
    actions = paper_instance(20, seed=0).actions
    actions = actions / np.abs(actions).max()
    paths = tmp_path / "one.npy", tmp_path / "eight.npy"
    for path, size in zip(paths, (1.0, 8.0), strict=True):
        np.save(path, size * actions)
    problem = ("--sparsity", 2, "--horizon", 1000, "--noise", 1)
    one = summary(*problem, "--actions", paths[0], "--radius", 10)
    eight = summary(*problem, "--actions", paths[1], "--radius", 1.25)
    assert one["c_min"] == pytest.approx(eight["c_min"])
    assert one["bound"] == pytest.approx(eight["bound"])
    assert one["unit"] == eight["unit"] == 10.0
    assert one["trivial"] == eight["trivial"] == 20_000.0
    thrice = summary(*problem[:4], "--actions", paths[0], "--radius", 30, "--noise", 3)
    assert thrice["bound"] == pytest.approx(3 * one["bound"])
    assert thrice["meaningful_from"] == one["meaningful_from"]
    answer = invoke(*problem, "--actions", paths[1], "--radius", 1.25)
    assert "C_min is that of the actions divided by their bound, 8." in words(answer)
    assert "Regret is in your units, 10 times the theorems'" in words(answer)


def test_an_action_bound_is_that_of_the_rates(tmp_path, file):
    problem = ("--sparsity", 2, "--horizon", 1000, "--actions", file)
    own, wider = summary(*problem), summary(*problem, "--action-bound", 4)
    assert (own["action_bound"], wider["action_bound"]) == (1.0, 4.0)
    assert wider["c_min"] == pytest.approx(own["c_min"] / 16)
    assert wider["unit"] == 4.0
    assert wider["trivial"] == 4 * own["trivial"]
    rule = eval(wider["call"], {"SOIDS": SOIDS}).rule
    actions = np.load(file)
    progress = Progress(0, 20, 2, actions=actions, action_bound=rule.action_bound)
    assert progress.c_min == pytest.approx(wider["c_min"])
    large = tmp_path / "large.npy"
    np.save(large, 3.0 * actions / np.abs(actions).max())
    assert summary(*problem[:4], "--actions", large)["action_bound"] == pytest.approx(3.0)
    answer = invoke(*problem[:4], "--actions", large, "--action-bound", 2)
    assert answer.exit_code == 2
    assert "must be at least the largest entry of the actions, 3, got 2" in words(answer)
    number = summary(*PROBLEM, "--c-min", 0.05, "--action-bound", 2)
    assert (number["c_min"], number["unit"]) == (0.05, 2.0)


COVERED = [
    ((), "SOIDS.theorem2(100, 10, radius=1, noise=1, action_bound=1)"),
    (("--radius", 10), "SOIDS.theorem2(100, 10, radius=10, noise=1, action_bound=1)"),
    (
        ("--radius", 0.1, "--noise", 0.25, "--action-bound", 1.5),
        "SOIDS.theorem2(100, 10, radius=0.1, noise=0.25, action_bound=1.5)",
    ),
    (("--noise", 0), "SOIDS.theorem2(100, 10, radius=1, noise=1, action_bound=1)"),
]


@pytest.mark.parametrize(("options", "call"), COVERED)
def test_the_call_is_the_one_that_is_covered(options, call):
    said = summary(*PROBLEM, *options)
    assert said["call"] == call
    assert said["theorem3_call"] == call.replace("theorem2", "theorem3")
    for line in (call, said["theorem3_call"]):
        assert f"    {line}\n" in invoke(*PROBLEM, *options).output
        rule = eval(line, {"SOIDS": SOIDS}).rule
        assert not list(shortfalls(rule))
        assert rule.noise == said["unit"]


@pytest.mark.parametrize("size", [1.0, 0.3, 7.0])
def test_where_definition_1_fails_the_call_is_for_the_data_rich_rate(tmp_path, size):
    bandit = paper_instance(20, seed=0)
    actions = size * bandit.actions / np.abs(bandit.actions).max()
    np.save(tmp_path / "a.npy", actions)
    said = summary(
        "--sparsity", 2, "--horizon", 1000, "--actions", tmp_path / "a.npy", "--radius", 10
    )
    for call, rate in ((said["call"], "rich"), (said["theorem3_call"], "theorem3_rich")):
        policy = eval(call, {"SOIDS": SOIDS})
        rule = policy.rule
        assert (rule.rate, rule.eta, rule.sparsity) == (rate, 0.25, 2)
        assert rule.noise == rule.radius * rule.action_bound == said["unit"]
        assert rule.action_bound == max(1.0, size)
        scaled = SparseLinearBandit(actions, bandit.theta, bandit.noise)
        found = guarantees(diagnose(scaled, policy, 5, seed=0))
        assert found.unmet1 == []
        assert found.unit == said["unit"]
        assert (found.unmet3 == []) == (rate == "theorem3_rich")


def test_more_than_half_of_the_features_leave_theorem_2():
    said = summary("--dimension", 10, "--sparsity", 6, "--horizon", 10)
    assert said["call"].startswith("SOIDS.theorem2(10, 6, ")
    assert said["theorem3_call"] is None


def test_loud_noise_makes_the_bound_larger_and_the_trivial_one_not():
    quiet, loud = (summary(*PROBLEM, "--noise", noise) for noise in (1, 5))
    assert loud["bound"] == 5 * quiet["bound"]
    assert loud["trivial"] == quiet["trivial"]
    assert loud["meaningful_from"] > quiet["meaningful_from"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dimension", 100, "--sparsity", 200, "--horizon", 10), "must be in 1..100, got 200"),
        (("--dimension", 100, "--sparsity", 10, "--horizon", 0), "horizon must be at least 1"),
        (("--dimension", 0, "--sparsity", 10, "--horizon", 10), "dimension must be at least 1"),
        (("--sparsity", 10, "--horizon", 10), "Missing option '--dimension'"),
        ((*PROBLEM, "--c-min", -1), "c_min must be above 0, got -1"),
        ((*PROBLEM, "--c-min", 0), "c_min must be above 0, got 0"),
        ((*PROBLEM, "--c-min", 1.5), "c_min must be at most 1"),
        ((*PROBLEM, "--c-min", "nan"), "c_min must be finite"),
        ((*PROBLEM, "--radius", 0), "radius must be above 0"),
        ((*PROBLEM, "--noise", -1), "noise must be at least 0"),
        ((*PROBLEM, "--action-bound", 0), "action_bound must be above 0"),
        ((*PROBLEM, "--actions", "nowhere.npy"), "'nowhere.npy' does not exist"),
    ],
)
def test_what_makes_no_sense_is_an_error_of_usage(arguments, message):
    answer = invoke(*arguments)
    assert answer.exit_code == 2
    assert message in words(answer)


def test_files_that_hold_no_actions_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,four\n")
    answer = invoke("--sparsity", 1, "--horizon", 10, "--actions", path)
    assert answer.exit_code == 2
    assert "Invalid value for '--actions': a.csv: action 2 must hold numbers" in words(answer)


def test_a_file_and_a_number_contradict_each_other(file):
    answer = invoke(*PROBLEM, "--actions", file, "--c-min", 0.1)
    assert answer.exit_code == 2
    assert "--actions and --c-min exclude each other" in words(answer)


def read(text):
    """The words of a text, numbers as numbers."""
    words_ = (word.replace(",", "") for word in text.split())
    return [float(word) if is_numeral(word) else word for word in words_]


def same(shown, printed):
    """Whether two texts have the same words, and numbers that agree to a thousandth."""
    return [word if isinstance(word, str) else pytest.approx(word, rel=1e-3) for word in shown] == (
        printed
    )


@pytest.mark.skipif(config.DISABLE_JIT, reason="commands would run without compiled code")
@pytest.mark.parametrize("name", ["bound", "inspect"])
def test_the_page_shows_what_the_commands_print(name, tmp_path):
    stored_ = stored.read(pages.results(pages.ROOT) / f"{name}.txt").body
    commands = [line[2:] for line in stored_.splitlines() if line.startswith("$ ")]
    printed = "".join(f"$ {command}\n{record.run(command, tmp_path)}" for command in commands)
    assert same(read(stored_), read(printed))


def test_the_stored_bounds_are_those_of_the_theory(capsys):
    bounds.main()
    printed = capsys.readouterr().out
    body = stored.read(pages.results(pages.ROOT) / "bounds.csv").body
    assert same(read(body.replace(",", " ")), read(printed.replace(",", " ")))


@pytest.mark.parametrize("dimension", [20, 40, 100])
def test_the_table_of_bounds_is_what_the_command_says(tmp_path, dimension, capsys):
    bounds.main()
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    row = next(row for row in rows if int(row["dimension"]) == dimension)
    path = tmp_path / "actions.npy"
    np.save(path, paper_instance(dimension, seed=0).actions)
    said = summary("--sparsity", dimension // 10, "--horizon", 1000, "--actions", path)
    assert said["rich_alone"] == said["bound"]
    said["theorem2"] = min(said["rich"], said["poor"]) + said["additive"]
    said["rich_alone_from"] = said["meaningful_from"]
    known = theory.theorem3_worst(dimension, dimension // 10, 1000, said["c_min"])
    assert float(row.pop("theorem3")) == pytest.approx(known.value, abs=0.5)
    for column, number in row.items():
        assert float(number) == pytest.approx(said[column], rel=1e-3)
