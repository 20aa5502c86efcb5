"""``designs``: time and certified gap of optimal designs, beside a general conic solver."""

import time
from collections.abc import Callable
from typing import TypeVar

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from soids.arrays import Floats
from soids.designs import Design, exploratory_design, popart_design

SIZES = [(200, 20, 1e-6), (200, 40, 1e-6), (200, 100, 1e-6), (2000, 500, 1e-3)]
PEERS_UP_TO = 40  # features: with more, the conic solver takes minutes
T = TypeVar("T")


def timed(task: Callable[..., T], *arguments: object) -> tuple[float, T]:
    """Seconds of wall-clock time of a call, and its answer."""
    began = time.perf_counter()
    answer = task(*arguments)
    return time.perf_counter() - began, answer


@click.command()
def designs() -> None:
    """Measure the time and the certified gap of optimal designs. The
    column "ratio" divides the seconds of cvxpy by ours; "apart" is the relative difference of the
    two values.
    """
    try:
        from benchmarks.conic import conic_c_min, conic_h_star
    except ImportError as error:
        raise click.ClickException(f"{error}: `make limits` runs where cvxpy is") from None
    contests: list[tuple[str, Callable[..., Design], Callable[[Floats], float]]] = [
        ("C_min", exploratory_design, conic_c_min),
        ("H_*^2", popart_design, conic_h_star),
    ]
    table = Table("", "K", "d", "value", "gap", "seconds", "cvxpy", "ratio", "apart")
    exploratory_design(np.eye(2))  # imports and caches
    for count, dimension, tolerance in SIZES:
        actions = np.random.default_rng(0).uniform(-1, 1, (count, dimension))
        for name, solve, peer in contests:
            took, design = timed(solve, actions, tolerance)
            row = [name, str(count), str(dimension), f"{design.value:.6g}", f"{design.gap:.1e}"]
            row.append(f"{took:.2f}")
            if dimension <= PEERS_UP_TO:
                slow, value = timed(peer, actions)
                row += [f"{slow:.2f}", f"{slow / took:.0f}", f"{design.value / value - 1.0:+.1e}"]
            table.add_row(*row)
    Console().print(table)
