"""Rewards that come later find their decisions; no decision is logged twice.

Of decisions that are complete only a hash is kept, 16 bytes with the line: ten million need
160 MB, whatever their actions are.
"""

import numpy as np
from numpy.typing import NDArray

from soids.arrays import Ints
from soids.logs.records import Entry, RepeatedIdError

BATCH = 1 << 16  # hashes that are looked up together


class Seen:
    """The ids so far, in sorted blocks, each at least twice as long as the next.

    A hash of 64 bits tells ten million ids apart but for a chance of 3 in a million.
    """

    def __init__(self) -> None:
        self.fresh: dict[int, int] = {}  # line by hash
        self.blocks: list[tuple[Ints, Ints]] = []  # hashes and their lines

    def add(self, name: str, line: int) -> tuple[int, int] | None:
        """Note an id; returns the lines of one that came twice, as soon as that is known."""
        key = hash(name)
        if key in self.fresh:
            return self.fresh[key], line
        self.fresh[key] = line
        return self.settle() if len(self.fresh) == BATCH else None

    def settle(self) -> tuple[int, int] | None:
        """Look the latest ids up among all before them."""
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
        """Whether an id has been seen."""
        key = hash(name)
        one, nowhere = np.array([key]), np.array([0])
        return key in self.fresh or any(matches(block, one, nowhere) for block in self.blocks)


def sorted_block(hashes: Ints, lines: Ints) -> tuple[Ints, Ints]:
    """Hashes in order, with their lines."""
    order = np.argsort(hashes)
    return hashes[order], lines[order]


def matches(
    block: tuple[Ints, Ints], hashes: Ints, lines: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The lines of each hash that a block holds already: there, and here."""
    known, at = block
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    again = known[places] == hashes
    return list(zip(at[places[again]].tolist(), lines[again].tolist(), strict=True))


class Joiner:
    """Decisions that wait for their reward, by id."""

    def __init__(self) -> None:
        self.seen = Seen()
        self.waiting: dict[str, Entry] = {}
        self.decisions = 0

    def decide(self, entry: Entry) -> bool:
        """Note a decision; returns whether it is complete."""
        refuse(self.seen.add(entry.id, entry.line))
        self.decisions += 1
        if entry.reward is None:
            self.waiting[entry.id] = entry
        return entry.reward is not None

    def reward(self, name: str, reward: float) -> Entry:
        """The decision that a reward is for, complete."""
        entry = self.awaited(name)._replace(reward=reward)
        del self.waiting[name]
        return entry

    def awaited(self, name: str) -> Entry:
        """The decision that waits for the reward of this name."""
        if name in self.waiting:
            return self.waiting[name]
        if self.seen.knows(name):
            raise ValueError(f"decision {name!r} has its reward already: log it once")
        raise ValueError(f"reward_of must name a decision logged above, got {name!r}")

    def finish(self) -> list[Entry]:
        """The decisions whose reward never came, when there are no more."""
        if not self.decisions:
            raise ValueError("the log must hold a decision, it is empty")
        refuse(self.seen.settle())
        return list(self.waiting.values())


def refuse(twice: tuple[int, int] | None) -> None:
    """Refuse an id that was given in two lines."""
    if twice is not None:
        raise RepeatedIdError(*twice)
