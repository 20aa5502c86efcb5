"""A path for the log of a test."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "log.jsonl"
