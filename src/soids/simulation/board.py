"""How far every trial is: a file of numbers that workers write and a progress bar reads.

Each trial has its own row, so nobody waits for anybody, and a worker that dies leaves no lock.
"""

from pathlib import Path

import numpy as np

from soids.arrays import Floats

EVERY = 16  # rounds between two notes: a note takes as long as a glance at the clock


class Board:
    """One row per trial: rounds played, regret so far."""

    def __init__(self, path: Path, rows: int) -> None:
        if not path.exists():
            path.write_bytes(bytes(rows * 16))
        self.path = path
        self.numbers: Floats = np.memmap(path, np.float64, "r+", shape=(rows, 2))

    def note(self, row: int, rounds: int, regret: float) -> None:
        """Say how far a trial is."""
        self.numbers[row] = rounds, regret

    def __reduce__(self) -> tuple[type, tuple[Path, int]]:
        return Board, (self.path, len(self.numbers))  # workers share the file, not a copy
