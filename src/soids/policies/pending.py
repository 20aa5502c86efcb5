"""The pending decisions, whose rewards have not come, as an immutable collection.

A pending decision keeps its own action. Decisions from one action set share it. Of sets that the
evidence does not hold, as many are kept as it remembers: those with the smallest random keys.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.evidence import Menu, random_key
from soids.policies.decision import Offered

BLOCK = 256  # rounds that are copied together


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """A decision that waits for its reward."""

    round: int
    index: int
    probability: float
    action: Floats  # (d,)
    place: int  # of the action among those not excluded
    first: int  # the first waiting round in which its action set was on offer


class Shared(NamedTuple):
    """An action set, and how many decisions made from it wait."""

    menu: Menu
    key: float  # the smallest random key of their rounds
    waiting: int
    known: bool  # whether the evidence holds it as well


class Waitlist(NamedTuple):
    """Pending decisions as a table, as they are saved."""

    rounds: Ints  # (P, 4)  round, index, place, first round of the action set
    probabilities: Floats  # (P,)
    actions: Floats  # (P, d)
    first: tuple[int, ...]  # of each action set
    shared: tuple[Shared, ...]

    def pending(self) -> "Pending":
        """The collection that this table was made from."""
        blocks: dict[int, dict[int, Waiting]] = {}
        rows = zip(self.rounds.tolist(), self.probabilities.tolist(), self.actions, strict=True)
        for (turn, index, place, first), probability, action in rows:
            waiting = Waiting(turn, index, probability, action.copy(), place, first)
            blocks.setdefault(turn // BLOCK, {})[turn] = waiting
        return Pending(blocks, dict(zip(self.first, self.shared, strict=True)), len(self.rounds))


@dataclass(frozen=True, eq=False)
class Pending:
    """Pending decisions by round, and the action sets they were made from."""

    blocks: dict[int, dict[int, Waiting]] = field(default_factory=dict)
    shared: dict[int, Shared] = field(default_factory=dict)  # by the first round
    count: int = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Waiting]:
        for block in self.blocks.values():
            yield from block.values()

    def __reversed__(self) -> Iterator[Waiting]:
        for block in reversed(self.blocks.values()):
            yield from reversed(block.values())

    def __contains__(self, turn: int) -> bool:
        return turn in self.blocks.get(turn // BLOCK, ())

    def __getitem__(self, turn: int) -> Waiting:
        return self.blocks[turn // BLOCK][turn]

    def table(self) -> Waitlist:
        """All of it as a few arrays."""
        waiting = list(self)
        rounds = np.array([[one.round, one.index, one.place, one.first] for one in waiting])
        return Waitlist(
            rounds.reshape(-1, 4).astype(np.int64),
            np.array([one.probability for one in waiting]),
            np.array([one.action for one in waiting]),
            tuple(self.shared), tuple(self.shared.values()),
        )  # fmt: skip

    def menu(self, waiting: Waiting) -> Menu | None:
        """The action set that a decision was made from, if it is still kept."""
        shared = self.shared.get(waiting.first)
        return None if shared is None else shared.menu

    def latest(self, count: int) -> list[Waiting]:
        """The last decisions, oldest first."""
        return list(islice(reversed(self), count))[::-1]

    def since(self, turn: int) -> list[Waiting]:
        """The decisions after a round, oldest first."""
        return list(takewhile(lambda one: one.round > turn, reversed(self)))[::-1]

    def add(
        self, turn: int, index: int, probability: float, offered: Offered, known: bool, room: float
    ) -> "Pending":
        """With one more decision; of action sets unknown to the evidence ``room`` are kept."""
        menu, place = offered.menu, offered.place(index)
        key, action = 0.0 if known else random_key(turn), menu.actions[place].copy()
        if not self.count:
            alone = Waiting(turn, index, probability, action, place, turn)
            return Pending({turn // BLOCK: {turn: alone}}, {turn: Shared(menu, key, 1, known)}, 1)
        first = next((n for n, one in self.shared.items() if one.menu is menu), turn)
        before, shared = self.shared.get(first), self.shared.copy()
        if before is not None:
            shared[first] = Shared(menu, min(key, before.key), before.waiting + 1, known)
        else:
            shared[first] = Shared(menu, key, 1, known)
            if not known and len(shared) > room:
                unknown = [n for n, one in shared.items() if not one.known]
                if len(unknown) > room:
                    del shared[max(unknown, key=lambda n: shared[n].key)]
        waiting = Waiting(turn, index, probability, action, place, first)
        blocks = self.blocks.copy()
        blocks[turn // BLOCK] = {**blocks.get(turn // BLOCK, {}), turn: waiting}
        return Pending(blocks, shared, self.count + 1)

    def without(self, turns: Collection[int]) -> "Pending":
        """Without the decisions of some rounds, which all wait."""
        if len(turns) == self.count:
            return Pending()
        blocks, shared, count = self.blocks.copy(), self.shared.copy(), self.count
        for turn in turns:
            block = blocks[turn // BLOCK].copy()
            first = block.pop(turn).first
            count -= 1
            blocks[turn // BLOCK] = block
            if not block:
                del blocks[turn // BLOCK]
            if first in shared:
                one = shared[first]
                shared[first] = one._replace(waiting=one.waiting - 1)
                if one.waiting == 1:
                    del shared[first]
        return Pending(blocks, shared, count)
