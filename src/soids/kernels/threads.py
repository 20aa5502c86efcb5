"""Rows shared among threads.

Compiled loops release the interpreter's lock, so plain threads are enough. Unlike a compiled
parallel loop they wait without spinning, survive a fork, and serve several callers at once.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

from numba import get_num_threads, set_num_threads
from threadpoolctl import threadpool_limits

WORTHWHILE = 200_000  # numbers touched, below which one thread ends before others have started


@cache
def pool(threads: int) -> ThreadPoolExecutor:
    """The other threads, made when first needed."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="soids")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads: make new ones
    os.register_at_fork(after_in_child=pool.cache_clear)


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread, here and in linear algebra: waiting costs time, and sums keep their order."""
    before = get_num_threads()
    set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        set_num_threads(before)


def by_rows(kernel, work, count, *arguments) -> None:
    """Call ``kernel(first, last, *arguments)`` for shares of the rows, each on one thread."""
    threads = min(get_num_threads(), count) if work * count >= WORTHWHILE else 1
    if threads <= 1:
        kernel(0, count, *arguments)
        return
    bounds = [count * share // threads for share in range(threads + 1)]
    submit = pool(threads).submit
    tasks = [submit(kernel, first, last, *arguments) for first, last in pairwise(bounds[1:])]
    kernel(0, bounds[1], *arguments)
    for task in tasks:
        task.result()
