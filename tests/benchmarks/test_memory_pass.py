"""One pass over data."""

import numpy as np
import pytest

from benchmarks.limits.memory_pass import read_and_write


def test_all_is_read_and_all_is_written():
    numbers, room = np.random.default_rng(0).random(1001), np.ones(77)
    assert read_and_write(numbers, room) == pytest.approx(numbers.sum())
    assert not room.any()
    assert read_and_write(numbers[:0], room[:0]) == 0.0
