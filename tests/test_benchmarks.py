"""The scripts of benchmarks/ run, on sizes that take no time."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from numba import config

from soids import paper_instance

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")
HERE = Path(__file__).parent.parent / "benchmarks"


def script(name):
    spec = spec_from_file_location(f"benchmark_{name}", HERE / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("*.py")))
def test_a_script_can_be_loaded_and_says_what_it_is_for(name):
    assert script(name).__doc__


def test_a_budget_is_compared_with_none(monkeypatch):
    budget = script("budget")
    monkeypatch.setattr(budget, "HORIZON", 8)
    bandit = paper_instance(20, 0, sparsity=2, actions=30)
    free, bound = (budget.run(bandit, limit, 0) for limit in (None, 0.1))
    assert free.behind == 0.0
    assert bound.effective > 0.0


def test_a_large_run_says_what_it_found(monkeypatch):
    large = script("large")
    for name, value in {"DIMENSION": 30, "ACTIONS": 200, "SPARSITY": 3, "HORIZON": 80}.items():
        monkeypatch.setattr(large, name, value)
    assert large.row(0)[3] == "3 of 3"


@pytest.mark.parametrize("kind", ["random_evidence", "chosen_evidence"])
def test_evidence_for_the_papers_sampler_has_its_rounds(kind):
    gathered = getattr(script("langevin"), kind)(paper_instance(20, 0), 7)
    assert gathered.rounds == 7
