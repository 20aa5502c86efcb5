"""Joining rewards that come later with their decisions, and refusing repeated ids.

Of complete decisions only a hash of the id and the line are kept, 16 bytes: ten million decisions
need 160 MB, whatever their actions are.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from soids.arrays import Ints
from soids.logs.records import Entry, Log, RepeatedIdError, located

BATCH = 1 << 16  # hashes that are looked up together
T = TypeVar("T")


def complete(
    log: Log, records: Iterable[tuple[int, T]], as_entry: Callable[[int, T], Entry]
) -> Iterator[Entry]:
    """The decisions in numbered records, those without a reward last; errors name their place."""
    joiner, line = Joiner(), 1
    with located(log.name, log.unit, lambda: line):
        for line, record in records:
            entry = as_entry(line, record)
            if joiner.decide(entry):
                yield entry
        yield from joiner.finish()


class Seen:
    """Hashes of ids in sorted blocks, each at least twice as long as the next.

    Two of ten million ids have the same hash of 64 bits with a probability of 3 in a million.
    """

    def __init__(self) -> None:
        self.fresh: dict[int, int] = {}  # line by hash
        self.blocks: list[tuple[Ints, Ints]] = []  # hashes and their lines

    def add(self, name: str, line: int) -> tuple[int, int] | None:
        """Add an id; returns the lines of a repeated one, once it is detected."""
        key = hash(name)
        if key in self.fresh:
            return self.fresh[key], line
        self.fresh[key] = line
        return self.settle() if len(self.fresh) == BATCH else None

    def settle(self) -> tuple[int, int] | None:
        """Look up the latest ids among all before them."""
        if not self.fresh:
            return None
        hashes = np.fromiter(self.fresh, np.int64, len(self.fresh))
        lines = np.fromiter(self.fresh.values(), np.int64, len(self.fresh))
        twice = [pair for block in self.blocks for pair in matches(block, hashes, lines)]
        if twice:
            return min(twice, key=lambda pair: pair[1])
        self.fresh = {}
        self.blocks.append(sorted_block(hashes, lines))
        while len(self.blocks) > 1 and len(self.blocks[-2][0]) < 2 * len(self.blocks[-1][0]):
            (first, at), (second, there) = self.blocks[-2:]
            merged = sorted_block(np.append(first, second), np.append(at, there))
            self.blocks[-2:] = [merged]
        return None

    def knows(self, name: str) -> bool:
        key = hash(name)
        one, nowhere = np.array([key]), np.array([0])
        return key in self.fresh or any(matches(block, one, nowhere) for block in self.blocks)


def sorted_block(hashes: Ints, lines: Ints) -> tuple[Ints, Ints]:
    order = np.argsort(hashes)
    return hashes[order], lines[order]


def matches(block: tuple[Ints, Ints], hashes: Ints, lines: Ints) -> list[tuple[int, int]]:
    """For each hash that is in the block, its line there and its line here."""
    known, at = block
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    again = known[places] == hashes
    return list(zip(at[places[again]].tolist(), lines[again].tolist(), strict=True))


class Joiner:
    """Decisions whose reward is still missing, by id."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.waiting: dict[str, Entry] = {}
        self.decisions = 0

    def decide(self, entry: Entry) -> bool:
        """Add a decision; returns whether it has its reward."""
        refuse(self.seen.add(entry.id, entry.line))
        self.decisions += 1
        if entry.reward is None:
            self.waiting[entry.id] = entry
        return entry.reward is not None

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
        refuse(self.seen.settle())
        return list(self.waiting.values())


def refuse(twice: tuple[int, int] | None) -> None:
    if twice is not None:
        raise RepeatedIdError(*twice)
