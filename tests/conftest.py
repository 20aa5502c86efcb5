"""Judges explain themselves when they fail, as tests do."""

import pytest

pytest.register_assert_rewrite("judging")
