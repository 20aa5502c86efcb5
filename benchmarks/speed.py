"""``speed``: a whole run by one thread and by several, and the minimiser.

Wall-clock times are those of this machine; how time grows with the size of a problem is measured by
``growth``.
"""

import time
from collections.abc import Callable

import click
import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, paper_instance, play
from soids.arrays import Floats
from soids.information import minimise_ratio

DIMENSION = 100


def seconds(task: Callable[[], object], repeats: int = 3) -> float:
    """Wall-clock seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return min(times)


def whole_run() -> Floats:
    """The regrets of a thousand rounds of SOIDS at d = 100, K = 200."""
    policy = SOIDS(DIMENSION, sparsity=DIMENSION // 10, radius=10.0, noise=1.0)
    return play(paper_instance(DIMENSION, 0), policy, horizon=1000, seed=0).regret


@click.command()
def speed() -> None:
    """Measure a thousand rounds and the minimiser. The rounds are played by one thread and by
    several, which must give the same results.
    """
    table = Table(title="Speed of SOIDS at d = 100, K = 200, default settings")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("limit", justify="right")
    threads = numba.get_num_threads()
    whole_run()
    regrets = {}
    for count in sorted({1, threads}):
        numba.set_num_threads(count)
        table.add_row(f"1000 rounds, {count} threads", f"{seconds(whole_run):.2f} s", "5 s")
        regrets[count] = whole_run()
    same = all(np.array_equal(regret, regrets[1]) for regret in regrets.values())
    table.add_row("same results for all thread counts", str(same), "True")
    rng = np.random.default_rng(0)
    regret, gain = rng.random(1_000_000) + 0.1, rng.random(1_000_000)
    crowded = np.sqrt(regret)  # every action is on the frontier
    easy = seconds(lambda: minimise_ratio(regret, gain))
    hard = seconds(lambda: minimise_ratio(regret, crowded))
    table.add_row("minimiser, K = 1,000,000", f"{easy:.3f} s", "0.2 s")
    table.add_row("minimiser, all on the frontier", f"{hard:.3f} s", "0.2 s")
    Console().print(table)
