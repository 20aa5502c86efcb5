"""``soids reproduce``: the experiments of the paper."""

import os
import signal
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import active_children, get_context
from typing import Any, NamedTuple

import click
import numba
import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from soids.bandits import paper_instance
from soids.policies import POLICIES
from soids.simulation.play import play

DIMENSIONS = (20, 40, 100)


class Entry(NamedTuple):
    """A row of the table: a policy's settings, and whether it is told s, radius and noise."""

    label: str
    settings: dict[str, Any]
    told: bool = True


ENTRIES = (
    Entry("SOIDS", {}),
    Entry("told nothing", {}, told=False),
    Entry("paper's settings", {"rate": "experiment", "eta": 0.5}),
    Entry("theorem 2", {"rate": "theorem2", "eta": 0.25}),
    Entry("theorem 3", {"rate": "theorem3", "eta": 0.25}),
)


class Trial(NamedTuple):
    """A recipe: all that a worker needs to know."""

    entry: int
    dimension: int
    seed: int
    horizon: int


class Outcome(NamedTuple):
    """What a trial comes to."""

    regret: float
    seconds: float


def run(trial: Trial) -> Outcome:
    """Play one trial."""
    entry = ENTRIES[trial.entry]
    bandit = paper_instance(trial.dimension, trial.seed)
    truth: dict[str, Any] = {
        "sparsity": trial.dimension // 10,
        "radius": 10.0,
        "noise": bandit.noise,
    }
    policy = POLICIES["soids"](trial.dimension, **entry.settings, **(truth if entry.told else {}))
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
    """Make a process a worker: one thread, and Ctrl-C is for its master to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    numba.set_num_threads(1)


def tabulate(outcomes: dict[Trial, Outcome], horizon: int) -> Table:
    """Regret of every entry in every dimension: mean, standard deviation and worst seed."""
    table = Table(
        title=f"Regret after {horizon} rounds: mean ± sd over seeds \\[worst seed]",
        caption="Told sparsity, radius and noise, but for one row. ms: a round at d = 100.",
        box=box.SIMPLE,
        pad_edge=False,
    )
    table.add_column("")
    for dimension in DIMENSIONS:
        table.add_column(f"d = {dimension}", justify="right")
    table.add_column("ms", justify="right")
    for number, entry in enumerate(ENTRIES):
        cells = []
        for dimension in DIMENSIONS:
            results = [
                o for t, o in outcomes.items() if t.entry == number and t.dimension == dimension
            ]
            regret = np.array([outcome.regret for outcome in results])
            cells.append(f"{regret.mean():.0f} ± {regret.std(ddof=1):.0f} \\[{regret.max():.0f}]")
        pace = np.mean([outcome.seconds for outcome in results]) / horizon
        table.add_row(entry.label, *cells, f"{1000.0 * pace:.2f}")
    return table


@click.group()
def reproduce() -> None:
    """Run the experiments of the paper."""


@reproduce.command()
@click.option("--quick", is_flag=True, help="3 seeds and 200 rounds instead of 10 and 1000.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=os.cpu_count(), show_default="cores",
    help="Processes to play trials on, one thread each.",
)  # fmt: skip
def figure1(quick: bool, workers: int) -> None:
    """SOIDS on the paper's three instances, as a table: some 6 minutes on two cores."""
    console = Console()
    seeds, horizon = (3, 200) if quick else (10, 1000)
    trials = [
        Trial(entry, dimension, seed, horizon)
        for dimension in reversed(DIMENSIONS)  # the longest first, so that no core waits at the end
        for entry in range(len(ENTRIES))
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
        for entry in range(2):  # once here, so that the workers find it in the cache
            run(Trial(entry, DIMENSIONS[0], 0, 3))
        progress.update(task, description="playing")
        with closing(run_all(trials, workers)) as results:
            for trial, outcome in results:
                outcomes[trial] = outcome
                progress.advance(task)
    console.print(tabulate(outcomes, horizon))
