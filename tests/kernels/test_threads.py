"""Threads that share the rows of particles, and doing without them."""

import numba
import pytest
from threadpoolctl import threadpool_info

from soids.kernels.threads import one_thread


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_one_thread_is_for_a_while_and_others_are_back_after_an_error():
    before = numba.get_num_threads()
    numba.set_num_threads(2)
    with pytest.raises(KeyError), one_thread():  # noqa: PT012
        assert numba.get_num_threads() == 1
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())
        raise KeyError
    assert numba.get_num_threads() == 2
    numba.set_num_threads(before)
