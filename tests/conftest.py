"""Sums round alike on every machine, and judges explain themselves when they fail."""

import pytest

import rounding  # noqa: F401  before anything imports NumPy

pytest.register_assert_rewrite("judging", "p_values")


def pytest_addoption(parser):
    parser.addoption("--battery", action="store_true", help="Run each battery whole.")


@pytest.fixture
def cases(request):
    """The number of cases that a battery tries: of a sample in `make test`, of `make battery`."""
    is_whole = request.config.getoption("--battery")
    return lambda sample, whole: whole if is_whole else sample


@pytest.fixture
def one_thread():
    """Many small calls lose more by waiting for threads than they gain."""
    from soids.kernels import threads

    with threads.one_thread():
        yield
