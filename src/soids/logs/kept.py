"""A log that is read several times, from its file only once if it is short."""

from collections.abc import Iterator

import numpy as np

from soids.logs.records import Entry, Log

MOST = 256_000_000  # bytes of entries in memory
ENTRY = 500  # bytes of an entry without its arrays


class KeptLog:
    """The same log, whose entries stay in memory after the first reading unless they are many."""

    def __init__(self, log: Log) -> None:
        if not all(hasattr(log, name) for name in ("name", "unit", "__iter__")):
            raise ValueError(refusal(log))
        self.log, self.name, self.unit = log, log.name, log.unit
        self.entries: list[Entry] | None = None

    def __iter__(self) -> Iterator[Entry]:
        if self.entries is not None:
            yield from self.entries
            return
        entries, size, last = list[Entry](), 0, None
        for entry in self.log:
            if size <= MOST:
                arrays = entry.probabilities, entry.target, entry.actions
                size += ENTRY + sum(
                    one.nbytes for one in arrays if isinstance(one, np.ndarray) and one is not last
                )
                last = entry.actions
                entries.append(entry)
            else:
                entries.clear()
            yield entry
        if size <= MOST:
            self.entries = entries


def refusal(given: object) -> str:
    """What to give in place of what is no log; for a DataFrame, with its columns."""
    names = [str(name) for name in getattr(given, "columns", ())]
    if not names:
        return f"log must be a log, such as read_log(path) or FrameLog(frame), got {given!r:.60}"
    return (
        "log must be a log, got a DataFrame: say what its columns are, by log = FrameLog(frame, "
        'reward="click", propensity="p", chosen="item"), then evaluate(log, [NAMED["logged"], '
        f'NAMED["uniform"]]); its columns are {", ".join(names[:20])}'
    )
