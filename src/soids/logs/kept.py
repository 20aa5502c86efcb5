"""A log that is read several times, from its file only once if it is short."""

from collections.abc import Iterator

import numpy as np

from soids.arrays import Floats
from soids.logs.records import Entry, Log

MOST = 256e6  # bytes of entries in memory
ENTRY = 500  # bytes of an entry without its arrays


class KeptLog:
    """The same log, whose entries stay in memory after the first reading unless they are many."""

    def __init__(self, log: Log) -> None:
        self.log, self.name, self.unit = log, log.name, log.unit
        self.entries: list[Entry] | None = None

    def __iter__(self) -> Iterator[Entry]:
        if self.entries is not None:
            yield from self.entries
            return
        entries, size = list[Entry](), 0.0
        last: Floats | int | None = None
        for entry in self.log:
            if size <= MOST:
                size += ENTRY + nbytes(entry.probabilities) + nbytes(entry.target)
                size += 0 if entry.actions is last else nbytes(entry.actions)
                last = entry.actions
                entries.append(entry)
            elif entries:
                entries.clear()
            yield entry
        if size <= MOST:
            self.entries = entries


def nbytes(value: object) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else 0
