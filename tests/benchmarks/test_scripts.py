"""The benchmarks of one file run, on sizes that take no time."""

import pytest
from click.testing import CliRunner
from numba import config

from benchmarks import budget, langevin, large, pending, replay, rounds
from benchmarks.__main__ import main
from benchmarks.problems import random_evidence
from soids import paper_instance

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")


@pytest.mark.parametrize("name", main.commands)
def test_every_benchmark_says_what_it_measures_and_what_each_option_means(name):
    command = main.commands[name]
    assert command.help
    assert all(option.help for option in command.params)
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def test_a_budget_is_compared_with_none(monkeypatch):
    monkeypatch.setattr(budget, "HORIZON", 8)
    bandit = paper_instance(20, 0, sparsity=2, actions=30)
    free, bound = (budget.run(bandit, limit, 0) for limit in (None, 0.1))
    assert free.behind == 0.0
    assert bound.effective > 0.0


def test_a_replay_is_timed_in_a_process_of_its_own(tmp_path):
    counts = []
    for kind in replay.KINDS:
        path = tmp_path / f"{kind}.jsonl"
        replay.write_log(path, kind, 20)
        found = replay.times(path, "linucb", replay.HERE)
        assert 0.0 < found.laws < found.whole
        counts.append(found.number)
    assert counts == [1, 1, 10]


def test_a_large_run_says_what_it_found(monkeypatch):
    for name, value in {"DIMENSION": 30, "ACTIONS": 200, "SPARSITY": 3, "HORIZON": 80}.items():
        monkeypatch.setattr(large, name, value)
    assert large.row(0)[3] == "3 of 3"


@pytest.mark.parametrize("changing", [False, True])
def test_the_memory_of_pending_decisions_grows_with_their_number(changing):
    few, many = (pending.megabytes(count, changing) for count in (300, 1300))
    assert 0.8 < many - few < 2.0


@pytest.mark.parametrize("name", pending.POLICIES)
def test_decisions_are_timed_beside_pending_ones(name):
    assert min(pending.milliseconds(pending.POLICIES[name], 3, 10)) > 0.0


def test_rounds_are_timed_in_two_processes_in_turn(monkeypatch):
    monkeypatch.setattr(rounds, "ROUNDS", 50)
    own, other = rounds.milliseconds("Uniform(100)", [rounds.HERE, rounds.HERE], runs=2)
    assert 0.0 < own < 10.0 * other < 100.0 * own


@pytest.mark.parametrize("evidence", [random_evidence, langevin.chosen_evidence])
def test_evidence_for_the_papers_sampler_has_its_rounds(evidence):
    assert evidence(paper_instance(20, 0), 7, 0).rounds == 7
