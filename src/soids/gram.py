"""The Gram matrix: the sum of a a' over all actions a played.

In many dimensions it is not computed as a whole while fewer actions than features have been played:
rows of the gram are summed from the actions when they are needed, and those in use are cached and
updated. Cached rows equal those of the whole gram to the last bit: results do not depend on them.
"""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from soids.arrays import Bools, Floats, Ints
from soids.kernels.gram_rows import Rows, blend_rows, fill_rows, raise_rows, raised, whole
from soids.kernels.threads import by_rows
from soids.records import CLOSE, check_arrays

ROUNDING = 1e-13  # differences of sums that are smaller, relative to the sums, are zero
SMALL = 512  # dimension up to which the whole gram is computed at once
PATIENCE = 2  # rounds for which an unused row is cached: few are used again
MOST = 1500  # maximum number of cached rows, besides those that will soon complete the gram
ROOM = 1024  # new rows that one sweep of all particles may add to the cache
ONCE = 4096  # dimension up to which a gram from a file is factorised to be checked
CANCELLED = 1e-6  # of the squares about zero: what sums about the means are never known to
ROOMS = 3  # sweeps for which there is room behind the rows, until they are moved


class Journal:
    """Actions in the order played, in memory that a gram shares with its successors."""

    def __init__(self, actions: Floats) -> None:
        self.buffer = np.empty((max(16, 2 * len(actions)), actions.shape[1]))
        self.buffer[: len(actions)] = actions
        self.writers: dict[int, object] = {}  # by the index of the action that they wrote

    def followed(self, count: int, action: Floats) -> tuple["Journal", Floats]:
        """The first ``count`` actions and one more, with their journal.

        The journal is a new one if this one is full, or if another action has the place.
        """
        writer = object()
        if count == len(self.buffer) or self.writers.setdefault(count, writer) is not writer:
            return Journal(self.buffer[:count]).followed(count, action)
        self.buffer[count] = action
        return self, self.buffer[: count + 1]


@dataclass(eq=False)
class Gram:
    """A gram that computes rows on demand; its value never changes, but its cache does."""

    diagonal: Floats  # (d,)
    matrix: Floats  # (d, d), or (0, d): then all rows are sums over actions
    actions: Floats  # (t, d), or (0, d) if the matrix is there
    origin: "Gram | None" = None  # a blend lies between this gram
    goal: "Gram | None" = None  # and this one
    shares: Floats = field(default_factory=lambda: np.empty(0))  # (p,)  of the goal, step by step

    def __post_init__(self) -> None:
        self._journal: Journal | None = None
        self._rooms: list[tuple[Floats, range]] = []  # free places behind the rows
        if not len(self.matrix):
            self._rows = self._table(np.empty(0, dtype=np.int64), np.empty((0, len(self.diagonal))))

    @cached_property
    def _rows(self) -> Rows:
        """The cached rows; of a whole matrix, which many rules read itself, made when needed."""
        return whole(self.matrix)

    @cached_property
    def _idle(self) -> Ints:  # (d,)
        """The rounds since each row was used."""
        return np.zeros(len(self.diagonal), dtype=np.int64)

    def __reduce__(self) -> tuple[Any, ...]:  # without the cache
        return Gram, tuple(getattr(self, part.name) for part in fields(self))

    def validate(self) -> None:
        """Refuse what is no sum over actions; a blend is no policy's evidence."""
        if self.origin is not None or self.goal is not None or len(self.shares):
            raise ValueError("a gram must be no blend")
        d = len(self.diagonal)
        check_arrays(self, {"d": d}, diagonal="d", matrix="m d", actions="t d")
        if d < 1 or len(self.matrix) not in (0, d) or (len(self.matrix) and len(self.actions)):
            raise ValueError("a gram must be square, or a sum over actions")
        if not (self.matrix.flags.c_contiguous and self.actions.flags.c_contiguous):
            raise ValueError("a gram must be stored row by row")
        squares = np.diagonal(self.matrix) if len(self.matrix) else (self.actions**2).sum(axis=0)
        if not np.allclose(self.diagonal, squares, CLOSE, 0.0) or (self.diagonal < 0.0).any():
            raise ValueError("diagonal must be the sums of squares")
        if len(self.matrix) and not np.allclose(self.matrix, self.matrix.T, CLOSE):
            raise ValueError("a gram must be symmetric")

    def check_sums(
        self, moment: Floats, energy: float, total: Floats, rounds: float, level: float,
        centred: bool,
    ) -> None:  # fmt: skip
        """Refuse sums that no actions and rewards have beside the gram: the matrix of the sums of
        all products of (action, reward, 1) has no negative eigenvalue but for rounding.
        """
        sums, products = np.append(total, rounds * level), np.append(moment, energy)
        lost = CANCELLED * sums**2 / max(1.0, rounds) if centred else 0.0 * sums
        scales = np.sqrt(np.append(np.append(self.diagonal, energy) + lost, rounds))
        scales[scales == 0.0] = 1.0
        ones = np.append(0.0 * sums if centred else sums, rounds)
        borders = np.column_stack([np.append(products, ones[-2]), ones])
        borders = borders / scales[:, None] / scales[-2:]
        if not (np.abs(borders) <= 1.0 + CLOSE).all():
            raise ValueError("moment, energy, total and level must be sums of the same rewards")
        if len(self.matrix) and len(self.diagonal) <= ONCE:
            whole = np.eye(len(scales))
            whole[:-2, :-2] = self.matrix / np.outer(scales[:-2], scales[:-2])
            whole[:, -2:], whole[-2:] = borders, borders.T
            whole[np.diag_indices_from(whole)] += 1e-2 if centred else 1e-9
            try:
                np.linalg.cholesky(whole)
            except np.linalg.LinAlgError:
                raise ValueError("gram, moment and energy must be sums of some rewards") from None

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
        action = np.array(action, dtype=np.float64)  # contiguous, as the kernels are compiled for
        diagonal = self.diagonal + action * action
        if len(self.matrix):
            return Gram(diagonal, raised(self.matrix, action), self.actions)
        d, nothing = len(action), np.empty((0, len(action)))
        if self.is_whole:
            return Gram(diagonal, raised(self.dense(), action), nothing)
        after = Gram(diagonal, nothing, nothing)
        journal = self._journal or Journal(self.actions)
        after._journal, after.actions = journal.followed(len(self.actions), action)
        after._idle = self._idle + 1
        held = self._rows
        kept = np.flatnonzero(self._worth_holding(held))
        rows = np.empty((len(kept) + ROOMS * ROOM, d))
        by_rows(raise_rows, d, len(kept), kept, held, action, rows)
        after._take(kept, rows)
        # Two more rows a round from d / 2 rounds on, so that no round computes them all at once.
        soon = np.arange(d) < 2 * len(after.actions) - d
        there = after._rows.slots >= 0
        if (soon & ~there).any():
            after._compact(soon | there)
        return Gram(diagonal, after._rows.rows[:d], nothing) if after.is_whole else after

    def about(self, mean: Floats, count: float) -> "Gram":
        """The gram of the deviations from the mean of the actions, whose number is ``count``.

        >>> Gram.of(np.array([[5.0]])).about(np.array([1.5]), 2).dense().tolist()  # of 1 and 2
        [[0.5]]
        """
        if self._is_sum:
            deviations = self.actions - mean
            return Gram((deviations**2).sum(axis=0), np.empty((0, len(mean))), deviations)
        about = self.dense() - count * np.outer(mean, mean)
        sizes = np.sqrt(self.diagonal)
        about[np.abs(about) <= ROUNDING * np.outer(sizes, sizes)] = 0.0
        return Gram.of(about)

    def times(self, vector: Floats) -> Floats:  # (d,)
        """The product with a vector (d,)."""
        if self._is_sum:
            return self.actions.T @ (self.actions @ vector)
        return self.dense() @ vector

    def towards(self, other: "Gram", share: float) -> "Gram":
        """The convex combination with another gram, whose share is ``share``."""
        if not (self.is_whole and other.is_whole) and other._is_sum:
            if self._is_sum:
                return Gram._blend(self, other, np.array([share]))
            if self.origin is not None and self.goal is other:
                return Gram._blend(self.origin, other, np.append(self.shares, share))
        return Gram.of((1.0 - share) * self.dense() + share * other.dense())

    def dense(self) -> Floats:  # (d, d)
        """The whole gram, which is cached from now on, also in its successors."""
        if len(self.matrix):
            return self.matrix
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
        """The gram for kernels that use only the rows of active features."""
        rows = self._rows
        return rows if self._in_order(rows) else self._hold(np.any(thetas != 0.0, axis=0))

    def roomy(self, thetas: Floats) -> Rows:
        """The gram for moves of these particles, with room for the rows of new features."""
        rows = self.ready(thetas)
        if self._in_order(rows):
            return rows
        room = self._room(rows, ROOM)
        while room is None:
            rows = self._compact(rows.slots >= 0)
            room = self._room(rows, ROOM)
        return rows._replace(room=room.start, owners=np.full(len(room), -1))

    def remember(self, rows: Rows) -> None:
        """Cache the rows that moves have added in the room they were given."""
        met, held = np.flatnonzero(rows.owners >= 0), self._rows
        if rows.rows is not held.rows:  # another thread has moved the rows meanwhile
            return
        if met.size:
            self._point(held, rows.owners[met], rows.room + met)
            self._idle[rows.owners[met]] = 1  # of lower priority than active ones
        elif rows.owners.size:
            self._rooms.append((rows.rows, range(rows.room, rows.room + rows.owners.size)))

    @property
    def is_whole(self) -> bool:
        """Whether all rows are cached, in order."""
        return self._in_order(self._rows)

    def _in_order(self, rows: Rows) -> bool:
        """Whether these are all rows in order; another thread may replace the gram's own rows."""
        return rows.room == len(self.diagonal)

    @property
    def _is_sum(self) -> bool:
        """Whether the rows are sums over actions."""
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

    def _worth_holding(self, rows: Rows) -> Bools:  # (d,)
        """The rows to keep in the cache: those in use, and the first ones of the whole gram."""
        there = rows.slots >= 0
        used = np.flatnonzero(there & (self._idle < PATIENCE))
        used = used[np.argsort(self._idle[used], kind="stable")[:MOST]]
        kept = np.arange(len(there)) < 2 * len(self.actions) - len(there)
        kept[used] = True
        return there & kept

    def _hold(self, wanted: Bools) -> Rows:
        """Cache the rows of some features too."""
        self._idle[wanted] = 0
        rows = self._rows
        missing = np.flatnonzero(wanted & (rows.slots < 0))
        if missing.size == 0:
            return rows
        room = self._room(rows, missing.size)
        if room is None:
            return self._compact(wanted | (rows.slots >= 0))
        self._write(missing, rows.rows[room.start : room.stop])
        return self._point(rows, missing, np.arange(room.start, room.stop))

    def _room(self, rows: Rows, size: int) -> range | None:
        """The next ``size`` free places behind the rows, or None; each thread gets its own."""
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
        """Cache more rows at the places where they were written."""
        slots = rows.slots.copy()
        slots[features] = places
        self._rows = held = rows._replace(slots=slots)
        return held

    def _compact(self, wanted: Bools) -> Rows:
        """Cache the rows of some features, in their order, with room behind them."""
        features = np.flatnonzero(wanted)
        rows = np.empty((len(features) + ROOMS * ROOM, len(self.diagonal)))
        self._write(features, rows[: len(features)])
        return self._take(features, rows)

    def _take(self, features: Ints, rows: Floats) -> Rows:
        """Cache these rows of some features, and the room behind them."""
        taken = self._rows = self._table(features, rows)
        self._rooms = [(rows, range(len(features), len(rows)))]
        return taken

    def _write(self, features: Ints, rows: Floats) -> None:
        """Write the rows of some features; those that are not cached are summed or blended."""
        d, held = len(self.diagonal), self._rows
        missing = held.slots[features] < 0
        if self.origin is None or self.goal is None or not missing.any():
            work = d * (1 + len(self.actions) * bool(missing.any()))
            by_rows(fill_rows, work, len(features), features, held, rows)
            return
        uncached = np.zeros(d, dtype=np.bool_)
        uncached[features[missing]] = True
        ends = self.origin._hold(uncached), self.goal._hold(uncached)
        by_rows(blend_rows, 3 * d, len(features), features, held, *ends, rows)
