"""``large``: a whole run with ten thousand features: CPU time, memory, and the features found."""

import time

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.growth.measure import forget_peak, peak_megabytes, warm_up
from benchmarks.growth.sizes import Size
from soids import SOIDS, paper_instance, play
from soids.kernels.threads import one_thread

DIMENSION, ACTIONS, SPARSITY, HORIZON = 10_000, 1_000, 10, 1_000
FOUND = 0.5  # probability from which a feature counts as found


def row(seed: int) -> list[str]:
    """One line of the table."""
    bandit = paper_instance(DIMENSION, seed, sparsity=SPARSITY, actions=ACTIONS)
    policy = SOIDS(DIMENSION, sparsity=SPARSITY, radius=10.0, noise=1.0, posterior="ample")
    forget_peak()
    began = time.process_time()
    regret = play(bandit, policy, HORIZON, seed).regret.sum()
    took = time.process_time() - began
    share, active = policy.inclusion(), bandit.theta != 0.0
    right, wrong = np.sum(share[active] > FOUND), np.sum(share[~active] > FOUND)
    least, most = share[active].min(), share[~active].max()
    return [
        str(seed), f"{took:.0f} s", f"{peak_megabytes() / 1e3:.1f} GB", f"{right} of {SPARSITY}",
        f"{least:.2f}", str(wrong), f"{most:.2f}", f"{regret:.0f}",
    ]  # fmt: skip


@click.command()
@click.option(
    "--seed", "seeds", multiple=True, type=click.IntRange(min=0), default=(0,), show_default=True,
    help="Seed of a run; may be repeated.",
)  # fmt: skip
def large(seeds: tuple[int, ...]) -> None:
    """Play a whole run with ten thousand features. The limits are five minutes, 4 GB, and all
    features of the support found.
    """
    table = Table(
        "seed", "CPU time", "memory", "found", "least of them", "wrong", "most of others", "regret",
        title=f"d = {DIMENSION:,}, K = {ACTIONS:,}, s = {SPARSITY}, T = {HORIZON:,}; one thread",
    )  # fmt: skip
    with one_thread():
        warm_up(Size(DIMENSION, ACTIONS))
        for seed in seeds:
            table.add_row(*row(seed))
    Console().print(table)
