"""How close actions come to the best one."""

import numba
import numpy as np
import pytest

from soids.kernels.rewards import closeness


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("first", "last"), [(0, 5000), (7, 2100), (3, 4)])
def test_closeness_is_the_least_shortfall_over_all_rows(first, last, threads):
    rewards = np.random.default_rng(0).standard_normal((6, 5000))
    part = rewards[:, first:last]
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    try:
        near = closeness(rewards, first, last)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(near, (part - part.max(axis=1)[:, None]).max(axis=0))
