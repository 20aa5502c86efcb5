"""How fast designs are found and how well certified, beside a general conic solver.

The gap is the certified one; the ratio is of cvxpy's seconds to ours, the last column how far apart
the values are.

Wall-clock figures are of the machine at hand; what counts is their ratios within one run.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from conic import conic_c_min, conic_h_star
from soids.designs import Design, exploratory_design, popart_design

SIZES = [(200, 20, 1e-6), (200, 40, 1e-6), (200, 100, 1e-6), (2000, 500, 1e-3)]
PEERS_UP_TO = 40  # features: beyond, the conic solver takes minutes
T = TypeVar("T")


def timed(task: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    answer = task()
    return time.perf_counter() - began, answer


CONTESTS: list[tuple[str, Callable[..., Design], Callable[[np.ndarray], float]]] = [
    ("C_min", exploratory_design, conic_c_min),
    ("H_*^2", popart_design, conic_h_star),
]


def main() -> None:
    table = Table("", "K", "d", "value", "gap", "seconds", "cvxpy", "ratio", "apart")
    exploratory_design(np.eye(2))  # imports and caches
    for count, dimension, tolerance in SIZES:
        actions = np.random.default_rng(0).uniform(-1, 1, (count, dimension))
        for name, solve, peer in CONTESTS:
            took, design = timed(lambda: solve(actions, tolerance))  # noqa: B023 (called at once)
            row = [name, str(count), str(dimension), f"{design.value:.6g}", f"{design.gap:.1e}"]
            row.append(f"{took:.2f}")
            if dimension <= PEERS_UP_TO:
                slow, value = timed(lambda: peer(actions))  # noqa: B023
                row += [f"{slow:.2f}", f"{slow / took:.0f}", f"{design.value / value - 1.0:+.1e}"]
            table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
