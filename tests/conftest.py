"""Sums round alike on every machine, and judges explain themselves when they fail."""

import pytest

import rounding  # noqa: F401  before anything imports NumPy

pytest.register_assert_rewrite("judging")
