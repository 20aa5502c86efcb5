"""The gram: the sum of a a' over all actions a played.

In many dimensions it is never made as a whole while fewer actions than features have been played:
the actions are kept, and rows of the gram are summed from them when a feature is met. Rows are held
while they are in use, and grow with each action. All of them are, to the last bit, those of the
whole gram, so that nothing depends on which are held.
"""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from soids.arrays import Bools, Floats, Ints
from soids.kernels.gram import Rows, blend_rows, fill_rows, raise_rows, raised, whole
from soids.kernels.rows import by_rows

SMALL = 512  # dimension up to which the whole gram is made at once
PATIENCE = 2  # rounds for which a row is held that nobody asks for: few come back
MOST = 1500  # rows held, but for those that will soon make the gram whole
ROOM = 1024  # rows that all particles together may meet in a sweep before some are forgotten
ROOMS = 3  # so many times as much is kept free behind the rows, until they are moved to make more


class Journal:
    """Actions in the order played, in memory that a gram shares with those that grow from it."""

    def __init__(self, actions: Floats) -> None:
        self.buffer = np.empty((max(16, 2 * len(actions)), actions.shape[1]))
        self.buffer[: len(actions)] = actions
        self.heirs: dict[int, object] = {}  # who wrote the action after so many others

    def followed(self, count: int, action: Floats) -> Floats | None:
        """The first actions and one more, if there is room and no one else has written there."""
        claim = object()
        if count == len(self.buffer) or self.heirs.setdefault(count, claim) is not claim:
            return None
        self.buffer[count] = action
        return self.buffer[: count + 1]


@dataclass(eq=False)
class Gram:
    """A gram that answers with rows; it never changes, only what it holds ready does."""

    diagonal: Floats  # (d,)
    matrix: Floats  # (d, d), or (0, d): then all rows are sums over actions
    actions: Floats  # (t, d), or (0, d) if the matrix is there
    origin: "Gram | None" = None  # a blend is on the way from one gram
    goal: "Gram | None" = None  # to another
    shares: Floats = field(default_factory=lambda: np.empty(0))  # (p,)  of the way, step by step

    def __post_init__(self) -> None:
        d = len(self.diagonal)
        self._journal: Journal | None = None
        self._idle = np.zeros(d, dtype=np.int64)  # rounds since each row was asked for
        if len(self.matrix):
            self._rows = whole(self.matrix)
        else:
            self._rows = self._table(np.empty(0, dtype=np.int64), np.empty((0, d)))
        self._rooms: list[tuple[Floats, range]] = []  # free places behind the rows

    def __reduce__(self) -> tuple[Any, ...]:  # what is held ready stays behind
        return Gram, tuple(getattr(self, part.name) for part in fields(self))

    @classmethod
    def empty(cls, dimension: int) -> "Gram":
        """The gram before the first action."""
        if dimension <= SMALL:
            return cls.of(np.zeros((dimension, dimension)))
        nothing = np.empty((0, dimension))
        return cls(np.zeros(dimension), nothing, nothing)

    @classmethod
    def of(cls, matrix: Floats) -> "Gram":
        """The gram with these entries, (d, d).

        >>> Gram.of(np.eye(2)).added(np.array([2.0, 0.0])).dense().tolist()
        [[5.0, 0.0], [0.0, 1.0]]
        """
        matrix = np.ascontiguousarray(matrix)
        return cls(np.diagonal(matrix).copy(), matrix, np.empty((0, len(matrix))))

    def added(self, action: Floats) -> "Gram":
        """The gram after one more action."""
        action = np.array(action, dtype=np.float64)  # of one layout, whose loops are compiled
        d, nothing = len(action), np.empty((0, len(action)))
        diagonal = self.diagonal + action * action
        if self.is_whole:
            return Gram(diagonal, raised(self.dense(), action), nothing)
        after = Gram(diagonal, nothing, nothing)
        after._journal, after.actions = self._followed(action)
        after._idle = self._idle + 1
        held = self._rows
        kept = np.flatnonzero(self._worth_holding(held))
        after._take(kept, raised_rows(held, kept, action))
        # Two more rows a round from half of d on, so that no round makes them all at once.
        soon = np.arange(d) < 2 * len(after.actions) - d
        there = after._rows.slots >= 0
        if (soon & ~there).any():
            after._compact(soon | there)
        return Gram(diagonal, after._rows.rows[:d], nothing) if after.is_whole else after

    def towards(self, other: "Gram", share: float) -> "Gram":
        """The gram on the way to another one, a share of the way gone."""
        if not (self.is_whole and other.is_whole) and other._is_sum:
            if self._is_sum:
                return Gram._blend(self, other, np.array([share]))
            if self.origin is not None and self.goal is other:
                return Gram._blend(self.origin, other, np.append(self.shares, share))
        return Gram.of((1.0 - share) * self.dense() + share * other.dense())

    def dense(self) -> Floats:  # (d, d)
        """The whole gram; from now on it is held, and so are those that grow from it."""
        return self.all_rows().rows[: len(self.diagonal)]

    def all_rows(self) -> Rows:
        """The whole gram for kernels."""
        rows = self._rows
        if self._in_order(rows):
            return rows
        return self._compact(np.ones(len(self.diagonal), dtype=np.bool_))

    def rows(self, features: Ints) -> Floats:  # (n, d)
        """The rows of some features."""
        wanted = np.zeros(len(self.diagonal), dtype=np.bool_)
        wanted[features] = True
        held = self._hold(wanted)
        return held.rows[held.slots[features]]

    def ready(self, thetas: Floats) -> Rows:
        """The gram for kernels that ask for no other rows than those of the active features."""
        rows = self._rows
        return rows if self._in_order(rows) else self._hold(np.any(thetas != 0.0, axis=0))

    def roomy(self, thetas: Floats) -> Rows:
        """The gram for moves of these particles, with room for the rows of features that enter."""
        rows = self.ready(thetas)
        if self._in_order(rows):
            return rows
        room = self._room(rows, ROOM)
        while room is None:
            rows = self._compact(rows.slots >= 0)
            room = self._room(rows, ROOM)
        return rows._replace(room=room.start, owners=np.full(len(room), -1))

    def remember(self, rows: Rows) -> None:
        """Hold what moves have met in the room they were given."""
        met, held = np.flatnonzero(rows.owners >= 0), self._rows
        if rows.rows is not held.rows:  # others have moved the rows meanwhile
            return
        if met.size:
            self._point(held, rows.owners[met], rows.room + met)
            self._idle[rows.owners[met]] = 1  # less dear than those that are active
        elif rows.owners.size:
            self._rooms.append((rows.rows, range(rows.room, rows.room + rows.owners.size)))

    @property
    def is_whole(self) -> bool:
        """Whether all rows are held, in order."""
        return self._in_order(self._rows)

    def _in_order(self, rows: Rows) -> bool:
        """Whether these are all rows in order; threads that ask the gram itself may be misled."""
        return rows.room == len(self.diagonal)

    @property
    def _is_sum(self) -> bool:
        """Whether the actions are there."""
        return not len(self.matrix) and self.goal is None

    @classmethod
    def _blend(cls, origin: "Gram", goal: "Gram", shares: Floats) -> "Gram":
        diagonal = origin.diagonal
        for share in shares:
            diagonal = (1.0 - share) * diagonal + share * goal.diagonal
        return cls(diagonal, np.empty((0, len(diagonal))), goal.actions, origin, goal, shares)

    def _table(self, features: Ints, rows: Floats) -> Rows:
        """The rows of some features for kernels; there may be more rows than features."""
        slots = np.full(len(self.diagonal), -1)
        slots[features] = np.arange(len(features))
        none, met = np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        origin, shared = rows[:0], 0
        if self.origin is not None:
            origin = self.origin.actions
            one_journal = origin.base is not None and origin.base is self.actions.base
            if one_journal and len(origin) <= len(self.actions):
                shared = len(origin)
        return Rows(
            self.diagonal, slots, rows, len(features), none, met, self.actions, origin,
            self.shares, shared,
        )  # fmt: skip

    def _followed(self, action: Floats) -> tuple[Journal, Floats]:
        """The actions and one more, and the journal that they are in."""
        count, journal = len(self.actions), self._journal
        actions = None if journal is None else journal.followed(count, action)
        if journal is None or actions is None:
            journal = Journal(self.actions)
            actions = journal.followed(count, action)
        assert actions is not None  # a journal of one's own has room
        return journal, actions

    def _worth_holding(self, rows: Rows) -> Bools:  # (d,)
        """Which of the rows to hold on: those in use, and those that will be there for good."""
        there = rows.slots >= 0
        used = np.flatnonzero(there & (self._idle < PATIENCE))
        used = used[np.argsort(self._idle[used], kind="stable")[:MOST]]
        dear = np.arange(len(there)) < 2 * len(self.actions) - len(there)
        dear[used] = True
        return there & dear

    def _hold(self, wanted: Bools) -> Rows:
        """Hold the rows of some features beside those that are."""
        self._idle[wanted] = 0
        rows = self._rows
        strangers = np.flatnonzero(wanted & (rows.slots < 0))
        if strangers.size == 0:
            return rows
        room = self._room(rows, strangers.size)
        if room is None:
            return self._compact(wanted | (rows.slots >= 0))
        self._write(strangers, rows.rows[room.start : room.stop])
        return self._point(rows, strangers, np.arange(room.start, room.stop))

    def _room(self, rows: Rows, size: int) -> range | None:
        """So many places behind the rows for one's own, if there are; no other gets the same."""
        try:
            while True:
                place, free = self._rooms.pop()
                if place is rows.rows and len(free) >= size:
                    break
        except IndexError:
            return None
        if len(free) > size:
            self._rooms.append((place, free[size:]))
        return free[:size]

    def _point(self, rows: Rows, features: Ints, places: Ints) -> Rows:
        """Hold some rows, and those of some features at the places where they were written."""
        slots = rows.slots.copy()
        slots[features] = places
        self._rows = held = rows._replace(slots=slots)
        return held

    def _compact(self, wanted: Bools) -> Rows:
        """Hold the rows of some features, in their order, with room behind them."""
        features = np.flatnonzero(wanted)
        rows = np.empty((len(features) + ROOMS * ROOM, len(self.diagonal)))
        self._write(features, rows[: len(features)])
        return self._take(features, rows)

    def _take(self, features: Ints, rows: Floats) -> Rows:
        """Hold these rows of some features, and the room behind them."""
        taken = self._rows = self._table(features, rows)
        self._rooms = [(rows, range(len(features), len(rows)))]
        return taken

    def _write(self, features: Ints, rows: Floats) -> None:
        """Write the rows of some features, those that are not there summed or blended."""
        d, held = len(self.diagonal), self._rows
        missing = held.slots[features] < 0
        if self.origin is None or self.goal is None or not missing.any():
            work = d * (1 + len(self.actions) * bool(missing.any()))
            by_rows(fill_rows, work, len(features), features, held, rows)
            return
        strangers = np.zeros(d, dtype=np.bool_)
        strangers[features[missing]] = True
        ends = self.origin._hold(strangers), self.goal._hold(strangers)
        by_rows(blend_rows, 3 * d, len(features), features, held, *ends, rows)


def raised_rows(held: Rows, features: Ints, action: Floats) -> Floats:  # (n + room, d)
    """The rows of some features, which must be there, after one more action, and room."""
    rows = np.empty((len(features) + ROOMS * ROOM, len(action)))
    by_rows(raise_rows, len(action), len(features), features, held, action, rows)
    return rows
