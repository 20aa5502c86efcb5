"""How fast: a whole run, the minimiser, compilation, threads.

Wall-clock figures are of the machine at hand; what counts is their ratios within one run. How time
grows with the size of a problem is measured by ``soids bench growth``.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, paper_instance, play
from soids.information import minimise_ratio

DIMENSION = 100


def fresh() -> SOIDS:
    """SOIDS at its default settings on the paper's largest instance."""
    return SOIDS(DIMENSION, sparsity=DIMENSION // 10, radius=10.0, noise=1.0)


def seconds(task: Callable[[], object], repeats: int = 3) -> float:
    """The fastest of a few calls."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        task()
        times.append(time.perf_counter() - began)
    return min(times)


def whole_run(seed: int = 0) -> np.ndarray:
    """A thousand rounds at d = 100, K = 200."""
    return play(paper_instance(DIMENSION, seed), fresh(), horizon=1000, seed=seed).regret


def compilation() -> tuple[float, float]:
    """Seconds from the start of Python to five decisions: nothing compiled, and all cached."""
    code = (
        "import numpy as np, soids; "
        "b = soids.paper_instance(20, 0); soids.play(b, soids.SOIDS(20), 5, 0)"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        return tuple(
            seconds(lambda: subprocess.run(command, env=environment, check=True), repeats=1)
            for _ in range(2)
        )


def main() -> None:
    """Print the table."""
    table = Table(title="Speed of SOIDS at d = 100, K = 200, default settings")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("asked", justify="right")
    first, cached = compilation()
    table.add_row("first use, everything compiled", f"{first:.1f} s", "30 s")
    table.add_row("first use, from the cache", f"{cached:.1f} s", "")
    threads = numba.config.NUMBA_NUM_THREADS
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


if __name__ == "__main__":
    main()
