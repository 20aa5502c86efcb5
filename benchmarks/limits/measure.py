"""Each kernel's time against its floor: the time that one pass over its data takes.

The floor is one compiled pass over as many numbers as a kernel must touch: it sums the numbers that
the kernel reads and writes zeros for those that it computes. A kernel that computes rewards is also
compared with the BLAS product of parameters and actions. Kernel and floor take turns in one thread,
and the fastest turn of each counts, because other work on the machine can only make them slower.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.limits.memory_pass import read_and_write
from benchmarks.limits.tasks import DIMENSION, PARTICLES, Task, setup, tasks
from soids.kernels.threads import one_thread


class Limit(NamedTuple):
    """A kernel's time and its floor."""

    kernel: str
    dimension: int
    actions: int
    particles: int
    seen: int  # actions that the kernel works on: of very many, moves see the promising ones
    megabytes: float  # that it must touch
    milliseconds: float  # of CPU time
    floor: float  # milliseconds of one pass
    ratio: float  # kernel over floor
    product: float  # milliseconds of the BLAS product, if the kernel computes rewards
    product_ratio: float


def measure_limits(actions: int, turns: int, seconds: float) -> Iterator[Limit]:
    """All kernels with their floors, by the fastest of some turns of at least some seconds."""
    with one_thread():
        given = setup(actions)
        problem = DIMENSION, actions, PARTICLES
        for task in tasks(given, np.random.default_rng(1)):
            rivals: list[Callable[[], object]] = [task.run, one_pass(task)]
            if task.product is not None:
                rivals.append(partial(np.matmul, given.thetas, task.product))
            spent = fastest(rivals, turns, seconds)
            own, floor, product = (*spent, math.nan)[:3]
            touched = sum(array.nbytes for array in (*task.reads, *task.writes))
            yield Limit(
                task.kernel, *problem, task.seen, touched / 2**20,
                own, floor, own / floor, product, own / product,
            )  # fmt: skip


def one_pass(task: Task) -> Callable[[], object]:
    """A function that touches as many numbers as a kernel must touch, each once."""
    read, written = (
        np.concatenate([np.empty(0), *(array.ravel() for array in arrays)])
        for arrays in (task.reads, task.writes)
    )
    return partial(read_and_write, read, written)


def fastest(rivals: list[Callable[[], object]], turns: int, seconds: float) -> list[float]:
    """Milliseconds of CPU time of each task, by the fastest of its turns."""
    counts = [repeats(rival, seconds) for rival in rivals]
    best = [math.inf] * len(rivals)
    for _ in range(turns):
        for place, (rival, count) in enumerate(zip(rivals, counts, strict=True)):
            best[place] = min(best[place], 1e3 * time_of(rival, count) / count)
    return best


def repeats(task: Callable[[], object], seconds: float) -> int:
    """The number of repetitions that take at least some seconds; the first call compiles."""
    task()
    count = 1
    while (spent := time_of(task, count)) < seconds:
        count = max(2 * count, math.ceil(count * seconds / max(spent, 1e-9)))
        if count > 1_000_000:
            break
    return count


def time_of(task: Callable[[], object], count: int) -> float:
    """Seconds of CPU time of some repetitions of a task."""
    began = time.process_time()
    for _ in range(count):
        task()
    return time.process_time() - began
