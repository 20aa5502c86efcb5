"""``soids reproduce``: the experiments of the paper."""

import os
import signal
import time
import warnings
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import active_children, get_context
from typing import NamedTuple

import click
import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from soids.bandits import paper_instance
from soids.cli.rows import DIMENSIONS, TABLES
from soids.simulation.play import play


class Trial(NamedTuple):
    """A recipe: all that a worker needs to know."""

    table: str
    row: int
    dimension: int
    seed: int
    horizon: int


class Outcome(NamedTuple):
    """What a trial comes to."""

    regret: float
    seconds: float


def run(trial: Trial) -> Outcome:
    """Play one trial."""
    bandit = paper_instance(trial.dimension, trial.seed)
    policy = TABLES[trial.table][trial.row].make(bandit, trial.horizon)
    began = time.perf_counter()
    trace = play(bandit, policy, trial.horizon, trial.seed)
    return Outcome(float(trace.regret.sum()), time.perf_counter() - began)


def run_all(trials: list[Trial], workers: int) -> Generator[tuple[Trial, Outcome], None, None]:
    """Play the trials on several processes, one thread each, and hand out results as they come."""
    context = get_context("spawn")  # a fork would copy half-used locks
    with ProcessPoolExecutor(workers, context, serve) as pool:
        futures = {pool.submit(run, trial): trial for trial in trials}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            for worker in active_children():  # else they would play their trials to the end
                worker.terminate()
            raise


def serve() -> None:
    """Make a process a worker: one thread, no warnings, and Ctrl-C is for its master to answer."""
    warnings.simplefilter("ignore", RuntimeWarning)  # policies may fail in a table
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    numba.set_num_threads(1)


def tabulate(table: str, outcomes: dict[Trial, Outcome], horizon: int) -> Table:
    """Regret of every row in every dimension: mean, standard error and worst seed."""
    seeds = len({trial.seed for trial in outcomes})
    shown = Table(
        title=f"Regret after {horizon} rounds: mean ± standard error of {seeds} seeds \\[worst]",
        caption="Told sparsity, radius and noise where they can be. ms: a round at d = 100.",
        box=box.SIMPLE,
        pad_edge=False,
    )
    shown.add_column("")
    for dimension in DIMENSIONS:
        shown.add_column(f"d = {dimension}", justify="right")
    shown.add_column("ms", justify="right")
    for number, row in enumerate(TABLES[table]):
        cells = []
        for dimension in DIMENSIONS:
            results = [
                o for t, o in outcomes.items() if t.row == number and t.dimension == dimension
            ]
            regret = np.array([outcome.regret for outcome in results])
            error = regret.std(ddof=1) / len(regret) ** 0.5
            cells.append(f"{regret.mean():.0f} ± {error:.0f} \\[{regret.max():.0f}]")
        pace = np.mean([outcome.seconds for outcome in results]) / horizon
        shown.add_row(row.label, *cells, f"{1000.0 * pace:.2f}")
    return shown


def reproduced(table: str, quick: bool, workers: int) -> None:
    """Play all trials of a table, and print it."""
    console = Console()
    if not console.is_terminal:
        console.width = 110  # a file can be as wide as the table
    seeds, horizon = (3, 200) if quick else (10, 1000)
    if quick and table == "baselines":
        horizon = 600  # more than the longest exploration
    rows = range(len(TABLES[table]))
    trials = [
        Trial(table, row, dimension, seed, horizon)
        for dimension in reversed(DIMENSIONS)  # the longest first, so that no core waits at the end
        for row in rows
        for seed in range(seeds)
    ]
    bar = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    outcomes: dict[Trial, Outcome] = {}
    with Progress(*bar, console=console) as progress:
        task = progress.add_task("compiling", total=len(trials))
        for row in rows:  # once here, so that the workers find it in the cache
            run(Trial(table, row, DIMENSIONS[0], 0, 3))
        progress.update(task, description="playing")
        with closing(run_all(trials, workers)) as results:
            for trial, outcome in results:
                outcomes[trial] = outcome
                progress.advance(task)
    console.print(tabulate(table, outcomes, horizon))


@click.group()
def reproduce() -> None:
    """Run the experiments of the paper."""


quick_option = click.option(
    "--quick", is_flag=True, help="3 seeds and few rounds instead of 10 and 1000."
)
workers_option = click.option(
    "--workers", type=click.IntRange(min=1), default=os.cpu_count(), show_default="cores",
    help="Processes to play trials on, one thread each.",
)  # fmt: skip


@reproduce.command()
@quick_option
@workers_option
def figure1(quick: bool, workers: int) -> None:
    """SOIDS and the paper's baselines on its three instances: some 7 minutes on two cores."""
    reproduced("figure1", quick, workers)


@reproduce.command()
@quick_option
@workers_option
def baselines(quick: bool, workers: int) -> None:
    """Every policy there is on the same instances: a quarter of an hour on two cores."""
    reproduced("baselines", quick, workers)
