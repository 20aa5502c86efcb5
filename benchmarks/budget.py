"""``budget``: time and regret of decisions whose moves are limited by ``budget_ms``."""

import time
from statistics import fmean, median
from typing import NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, SparseLinearBandit, paper_instance
from soids.kernels.threads import one_thread

PROBLEMS = ((100, 200), (1_000, 1_000))  # d, K
BUDGETS = (None, 20.0, 5.0, 1.0)
SPARSITY, HORIZON = 10, 200


class Run(NamedTuple):
    """Time and regret of one run."""

    milliseconds: float  # a decision, to choose and observe
    longest: float
    effective: float  # median over rounds
    behind: float  # maximum number of sweeps owed
    regret: float


def run(bandit: SparseLinearBandit, budget: float | None, seed: int) -> Run:
    """Play by wall-clock time, which the budget limits."""
    dimension = bandit.theta.size
    policy = SOIDS(dimension, sparsity=SPARSITY, radius=10.0, noise=1.0, budget_ms=budget)
    rng = np.random.default_rng(seed)
    spent, infos, regret = [], [], 0.0
    for _ in range(HORIZON):
        began = time.perf_counter()
        decision = policy.choose(bandit.actions, rng)
        mean = float(bandit.means[decision.index])
        policy.observe(decision, mean + rng.standard_normal())
        spent.append(1e3 * (time.perf_counter() - began))
        infos.append(decision.info)
        regret += bandit.means.max() - mean
    effective = median(info.effective for info in infos)
    return Run(fmean(spent), max(spent), effective, max(info.behind for info in infos), regret)


@click.command()
@click.option(
    "--seeds", type=click.IntRange(min=2), default=4, show_default=True,
    help="Number of seeds of each row.",
)  # fmt: skip
def budget(seeds: int) -> None:
    """Measure time and regret of decisions with a time limit."""
    table = Table(
        "d", "K", "budget", "ms", "longest", "effective", "owed at most", "regret",
        title=f"s = {SPARSITY}, T = {HORIZON}, {seeds} seeds; one thread",
    )  # fmt: skip
    with one_thread():
        for dimension, actions in PROBLEMS:
            bandits = [
                paper_instance(dimension, seed, sparsity=SPARSITY, actions=actions)
                for seed in range(seeds)
            ]
            run(bandits[0], 5.0, 0)  # compiles
            for limit in BUDGETS:
                runs = [run(bandit, limit, seed) for seed, bandit in enumerate(bandits)]
                milliseconds, longest, effective, behind, regret = np.mean(runs, axis=0)
                error = np.std([one.regret for one in runs], ddof=1) / seeds**0.5
                given = ("none", "") if limit is None else (f"{limit:g} ms", f"{effective:.0f}")
                table.add_row(
                    f"{dimension:,}", f"{actions:,}", given[0], f"{milliseconds:.1f}",
                    f"{longest:.0f}", given[1], f"{behind:.1f}", f"{regret:.0f} ± {error:.0f}",
                )  # fmt: skip
    Console().print(table)
