"""``soids bench``: how to get the benchmarks."""

from functools import partial

from command_line import called
from soids.cli import main

bench = partial(called, main, "bench")


def test_the_command_says_how_to_get_and_run_the_benchmarks():
    answer = bench()
    assert answer.exit_code == 0
    assert all(command in answer.output for command in ("make peers", "python -m benchmarks"))
    assert all(line in bench("--help").output for line in answer.output.splitlines())


def test_a_benchmark_that_was_to_run_is_an_error_with_the_same_remedy():
    answer = bench("growth", "--quick", "--out", "somewhere")
    assert answer.exit_code == 2
    assert "cannot run 'growth --quick --out somewhere'" in answer.output
    assert "python -m benchmarks" in answer.output
