"""The same call with one thread of Numba and with two."""

import numba
import pytest

from soids.kernels import threads

needs_two_threads = pytest.mark.skipif(
    numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads: set NUMBA_NUM_THREADS=2"
)


def by_one_and_two_threads(call, monkeypatch):
    """What a call returns with one thread, and with two, however little there is to do."""
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    before, answers = numba.get_num_threads(), []
    for count in (1, 2):
        numba.set_num_threads(count)
        answers.append(call())
    numba.set_num_threads(before)
    return answers
