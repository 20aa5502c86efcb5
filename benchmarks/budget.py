"""What a budget buys: time and regret of decisions that may spend so many milliseconds on moves.

python benchmarks/budget.py [SEEDS]
"""

import sys
import time
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, SparseLinearBandit, paper_instance
from soids.kernels.rows import one_thread

PROBLEMS = ((100, 200), (1_000, 1_000))  # d, K
BUDGETS = (None, 20.0, 5.0, 1.0)
SPARSITY, HORIZON = 10, 200


class Run(NamedTuple):
    """What one run came to."""

    milliseconds: float  # a decision, to choose and observe
    longest: float
    effective: float  # median over rounds
    behind: float  # sweeps owed, at most
    regret: float


def run(bandit: SparseLinearBandit, budget: float | None, seed: int) -> Run:
    """Play, by the clock of the wall, which is what a budget counts."""
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


def main() -> None:
    """Print the table."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
    table = Table(
        "d", "K", "budget", "ms", "longest", "effective", "owed at most", "regret",
        title=f"s = {SPARSITY}, T = {HORIZON}, {len(seeds)} seeds; one thread",
    )  # fmt: skip
    with one_thread():
        for dimension, actions in PROBLEMS:
            bandits = [
                paper_instance(dimension, s, sparsity=SPARSITY, actions=actions) for s in seeds
            ]
            run(bandits[0], 5.0, 0)  # compiles
            for budget in BUDGETS:
                runs = [
                    run(bandit, budget, seed) for seed, bandit in zip(seeds, bandits, strict=True)
                ]
                milliseconds, longest, effective, behind, regret = np.mean(runs, axis=0)
                error = np.std([one.regret for one in runs], ddof=1) / len(runs) ** 0.5
                told = ("none", "") if budget is None else (f"{budget:g} ms", f"{effective:.0f}")
                table.add_row(
                    f"{dimension:,}", f"{actions:,}", told[0], f"{milliseconds:.1f}",
                    f"{longest:.0f}", told[1], f"{behind:.1f}", f"{regret:.0f} ± {error:.0f}",
                )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
