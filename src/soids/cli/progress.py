"""Progress of a run: a live table on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from soids.simulation.board import Board
from soids.simulation.trial import Trial

LINES = 10  # of a run that nobody watches


class Progress:
    """Rounds, regret so far and time left, policy by policy, by the rows of the board."""

    def __init__(self, console: Console, trials: Sequence[Trial], board: Board) -> None:
        self.board, self.console, self.began = board, console, time.monotonic()
        self.horizons = np.array([trial.problem.horizon for trial in trials])
        self.costs = np.array([trial.problem.size for trial in trials]) / self.horizons
        self.lines = 0
        self.first: tuple[float, float] | None = None  # when rounds were first noted, and how many
        labels = [trial.player.label for trial in trials]
        self.policies = {
            label: np.flatnonzero([other == label for other in labels])
            for label in dict.fromkeys(labels)
        }
        self.live = Live(self, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Callable[[], None]:
        if self.console.is_terminal:
            self.live.start()
        return self.finished

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def finished(self) -> None:
        """Print a line after each tenth of the work, where no table is shown."""
        share = self.share()
        if not self.console.is_terminal and share * LINES >= self.lines + 1:
            self.lines = int(share * LINES)
            self.console.print(f"{share:4.0%} {self.left(share)}", highlight=False)

    def share(self) -> float:
        """Share of the work that is done, if the cost of a round is its dimension."""
        rounds = self.board.numbers[:, 0]
        return float(self.costs @ rounds / (self.costs @ self.horizons))

    def left(self, share: float) -> str:
        """Time so far, and the time that the rest may take at the pace since the first rounds."""
        now = time.monotonic()
        passed = f"{spoken(now - self.began)} so far"
        if share <= 0.0:
            return f"{passed}, starting and compiling"
        if self.first is None:
            self.first = now, share
        since, then = self.first
        if share <= then:
            return passed
        return f"{passed}, about {spoken((now - since) * (1.0 - share) / (share - then))} left"

    def __rich__(self) -> Table:
        share = self.share()
        table = Table(f"{share:.0%}", box=box.SIMPLE, pad_edge=False, caption=self.left(share))
        table.add_column("", width=30)
        for head in ("rounds", "trials", "mean regret so far"):
            table.add_column(head, justify="right")
        for label, rows in self.policies.items():
            rounds, regret = self.board.numbers[rows].T
            horizons, started = self.horizons[rows], rounds > 0
            table.add_row(
                escape(label),
                ProgressBar(float(horizons.sum()), float(rounds.sum())),
                f"{rounds.sum():.0f}",
                f"{np.count_nonzero(rounds == horizons)}/{len(rows)}",
                f"{np.nanmean(regret[started]):.0f}" if np.isfinite(regret[started]).any() else "",
            )
        return table


def spoken(seconds: float) -> str:
    """A time in the unit that fits.

    >>> spoken(42.0), spoken(150.0), spoken(9000.0)
    ('42 s', '2.5 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
