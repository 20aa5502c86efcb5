"""``harness``: processor time of the harness beside the policies that it runs, figure 1 at d = 20.

A policy's own time is that of `choose` and `observe`. All other time is overhead: building the
bandit, the loop, notes on progress, and the file of the trial.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from soids.arrays import Floats
from soids.experiments.shipped import shipped
from soids.simulation import worker
from soids.simulation.board import Board
from soids.simulation.experiment import read_experiment
from soids.simulation.store import Store
from soids.simulation.trial import Player, Trial


class Timed:
    """A policy, and the time of its `choose` and `observe`."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.seconds = 0.0

    def choose(self, actions: Floats, rng: np.random.Generator) -> Any:
        began = time.thread_time()
        decision = self.policy.choose(actions, rng)
        self.seconds += time.thread_time() - began
        return decision

    def observe(self, decision: Any, reward: Any) -> None:
        began = time.thread_time()
        self.policy.observe(decision, reward)
        self.seconds += time.thread_time() - began


class TimedPlayer(Player):
    """Makes timed policies, and keeps the last."""

    def make(self, *arguments: Any) -> Timed:
        LAST[:] = [Timed(super().make(*arguments))]
        return LAST[0]


LAST: list[Timed] = []


def own_and_whole(trial: Trial, store: Store, board: Board) -> tuple[float, float]:
    """Seconds of a policy, and of the whole trial with the file of its outcome."""
    began = time.thread_time()
    outcome = worker.perform(trial, worker.Post(board=board), 0)
    if isinstance(outcome, worker.Failure):
        raise click.ClickException(f"{trial.player.label} failed: {outcome.reason}")
    store.write(trial, outcome)
    return LAST[0].seconds, time.thread_time() - began


@click.command()
@click.option(
    "--seeds", type=click.IntRange(min=1), default=3, show_default=True,
    help="Number of trials of each policy.",
)  # fmt: skip
def harness(seeds: int) -> None:
    """Measure the overhead of the harness for figure 1."""
    experiment = read_experiment(shipped()["figure1"])
    table = Table(title="Overhead of the harness, d = 20, T = 1000")
    for head in ("policy", "own, ms a round", "overhead, ms a round", "overhead"):
        table.add_column(head, justify="left" if head == "policy" else "right")
    totals = []
    with tempfile.TemporaryDirectory() as scratch:
        store, board = Store(Path(scratch) / "trials"), Board(Path(scratch) / "board", 1)
        for player in experiment.players[0]:
            timed = TimedPlayer(player.policy, player.told, player.settings, player.label)
            trials = [Trial(experiment.problems[0], timed, seed) for seed in range(seeds + 1)]
            times = [own_and_whole(trial, store, board) for trial in trials]
            own, whole = np.sum(times[1:], axis=0)  # the first has compiled
            totals.append((own, whole))
            table.add_row(player.label, *cells(own, whole, seeds))
        table.add_section()
        own, whole = np.sum(totals, axis=0)
        table.add_row("all", *cells(own, whole, seeds))
    Console().print(table)


def cells(own: float, whole: float, seeds: int) -> tuple[str, str, str]:
    """A row of the table; a trial has a thousand rounds."""
    over = whole - own
    return f"{own / seeds:.3f}", f"{over / seeds:.3f}", f"{over / own:.1%}"
