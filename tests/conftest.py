"""Sums round alike on every machine, and judges explain themselves when they fail."""

import pytest

import rounding  # noqa: F401  before anything imports NumPy

pytest.register_assert_rewrite("judging", "p_values")


@pytest.fixture
def one_thread():
    """Many small calls lose more by waiting for threads than they gain."""
    from soids.kernels import threads

    with threads.one_thread():
        yield
