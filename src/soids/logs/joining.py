"""Joining rewards that come later with their decisions, and refusing repeated ids.

Of complete decisions only a hash of the id and the line are kept, 16 bytes: ten million decisions
need 160 MB, whatever their actions are.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from soids.arrays import Bools, Floats, Ints
from soids.logs import records
from soids.logs.records import Entry, Header, Log

BATCH = 1 << 16  # hashes that are looked up together
T = TypeVar("T")


def complete(
    log: Log, numbered: Iterable[tuple[int, T]], take: "Callable[[int, T], Entry | None]",
    joiner: "Joiner",
) -> Iterator[Entry]:  # fmt: skip
    """The decisions in numbered records, those without a reward last; errors name their place.

    ``take`` reads a record and returns the decision that it completes, if any.
    """
    line = 1
    with records.located(log.name, log.unit, lambda: line):
        for line, record in numbered:
            entry = take(line, record)
            if entry is not None:
                yield entry
        yield from joiner.finish()


class Contents:
    """The header and the decisions of the records read so far."""

    def __init__(self, target: str = "target") -> None:
        self.target = target
        self.header: Header | None = None
        self.joiner = Joiner()
        self.last: Floats | int = 0  # actions

    def take(self, line: int, record: dict[str, Any]) -> Entry | None:
        """Read a record; returns the decision that it completes, if any."""
        if self.header is None:
            self.header = records.as_header(record)
            return None
        if "reward_of" in record:
            reward = records.as_reward(records.needed(record, "reward"))
            return self.joiner.reward(records.as_id(record["reward_of"]), reward)
        entry = records.as_entry(record, self._actions(record, self.header), line, self.target)
        self.header = self.header.after(entry)
        return self.joiner.decide(entry)

    def _actions(self, record: dict[str, Any], header: Header) -> Floats | int:
        """The actions of a record: the same object as before, if they are equal."""
        actions = records.find_actions(record, header)
        if actions is not self.last and not np.array_equal(actions, self.last):
            self.last = actions
        return self.last


class Seen:
    """Hashes of ids, and the lines on which they were given.

    Two of ten million ids have the same hash of 64 bits with a probability of 3 in a million.
    """

    def __init__(self) -> None:
        self.fresh: dict[int, int] = {}  # line by hash
        self.hashes = np.array([-1])  # of all others, sorted; no hash is -1
        self.lines = np.array([0])

    def add(self, name: str, line: int) -> None:
        """Add an id; a repeated one is refused now or later, at the latest by ``settle``."""
        key = hash(name)
        if key in self.fresh:
            raise records.RepeatedIdError(self.fresh[key], line)
        self.fresh[key] = line
        if len(self.fresh) == BATCH:
            self.settle()

    def settle(self) -> None:
        """Look up the latest ids among all before them."""
        hashes, lines = np.array(sorted(self.fresh.items()), np.int64).reshape(-1, 2).T
        again, places = self._find(hashes)
        if again.any():
            line, first = min(zip(lines[again], self.lines[places[again]], strict=True))
            raise records.RepeatedIdError(int(first), int(line))
        self.hashes = np.insert(self.hashes, places, hashes)
        self.lines = np.insert(self.lines, places, lines)
        self.fresh = {}

    def knows(self, name: str) -> bool:
        key = hash(name)
        return key in self.fresh or bool(self._find(np.array([key]))[0].any())

    def _find(self, hashes: Ints) -> tuple[Bools, Ints]:
        """Which hashes are among the sorted ones, and the place of each."""
        places = np.searchsorted(self.hashes, hashes)
        return self.hashes.take(places, mode="clip") == hashes, places


class Joiner:
    """Decisions whose reward is still missing, by id."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.waiting: dict[str, Entry] = {}
        self.decisions = 0

    def decide(self, entry: Entry) -> Entry | None:
        """Add a decision; returns it if it has its reward."""
        self.seen.add(entry.id, entry.line)
        self.decisions += 1
        if entry.reward is not None:
            return entry
        self.waiting[entry.id] = entry
        return None

    def reward(self, name: str, reward: float) -> Entry:
        """The decision with this id, completed by its reward."""
        entry = self.awaited(name)._replace(reward=reward)
        del self.waiting[name]
        return entry

    def awaited(self, name: str) -> Entry:
        """The decision with this id, which must have no reward yet."""
        if name in self.waiting:
            return self.waiting[name]
        if self.seen.knows(name):
            raise ValueError(f"decision {name!r} has its reward already: log it once")
        raise ValueError(f"reward_of must name a decision logged above, got {name!r}")

    def finish(self) -> list[Entry]:
        """The decisions without a reward, after the last line."""
        if not self.decisions:
            raise ValueError("the log must hold a decision, it is empty")
        self.seen.settle()
        return list(self.waiting.values())
