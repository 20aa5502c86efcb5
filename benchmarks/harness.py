"""What the harness costs beside the policies it runs: processor time, figure 1 at d = 20.

A policy's own time is that of `choose` and `observe`. All else is overhead: building the bandit,
the loop, notes on progress, and the file that is kept.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from soids.cli.whereabouts import shipped
from soids.simulation import worker
from soids.simulation.board import Board
from soids.simulation.experiment import read_experiment
from soids.simulation.store import Store
from soids.simulation.trial import Player, Trial


class Timed:
    """A policy, and the time it takes for itself."""

    def __init__(self, policy: object) -> None:
        self.policy = policy
        self.seconds = 0.0

    def choose(self, actions: np.ndarray, rng: np.random.Generator) -> object:
        began = time.thread_time()
        decision = self.policy.choose(actions, rng)
        self.seconds += time.thread_time() - began
        return decision

    def observe(self, decision: object, reward: float) -> None:
        began = time.thread_time()
        self.policy.observe(decision, reward)
        self.seconds += time.thread_time() - began


class TimedPlayer(Player):
    """Makes timed policies, and remembers the last."""

    def make(self, bandit: object, horizon: int) -> Timed:
        LAST[:] = [Timed(super().make(bandit, horizon))]
        return LAST[0]


LAST: list[Timed] = []


def own_and_whole(trial: Trial, store: Store, board: Board) -> tuple[float, float]:
    """Seconds of a policy, and of all that is done to have its outcome on disk."""
    began = time.thread_time()
    outcome = worker.perform(trial, worker.Post(board=board), 0)
    store.write(trial, outcome)
    return LAST[0].seconds, time.thread_time() - began


def main(seeds: int = 3) -> None:
    """Print the overhead of each policy of figure 1, and of all together."""
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
        table.add_row("all", *cells(*np.sum(totals, axis=0), seeds))
    Console().print(table)


def cells(own: float, whole: float, seeds: int) -> tuple[str, str, str]:
    """A row of the table; a trial has a thousand rounds."""
    over = whole - own
    return f"{own / seeds:.3f}", f"{over / seeds:.3f}", f"{over / own:.1%}"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
