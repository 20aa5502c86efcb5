"""What was learned of some features, for a policy with more of them: another arm, another column.

All sums stay as they are, since the old actions are zero in the new features: so they are those
of a policy that had all features from the beginning.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, Ints, as_count
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.policies.past import Past
from soids.policies.pending import Waitlist


class Embedding(NamedTuple):
    """Where the old features stand among the new ones."""

    columns: Ints  # (d,)
    dimension: int

    @property
    def is_appended(self) -> bool:
        """Whether the old features come first, in their order."""
        return bool((self.columns == np.arange(len(self.columns))).all())

    def rows(self, rows: Floats) -> Floats:  # (..., dimension)
        """Vectors with zeros in the new features."""
        wide = np.zeros((*rows.shape[:-1], self.dimension))
        wide[..., self.columns] = rows
        return wide

    def gram(self, gram: Gram) -> Gram:
        if not gram.is_whole and not len(gram.matrix):
            nothing = np.empty((0, self.dimension))
            return Gram(self.rows(gram.diagonal), nothing, self.rows(gram.actions))
        return Gram.of(self.rows(self.rows(gram.dense()).T))

    def evidence(self, evidence: Evidence, menus: "Menus") -> Evidence:
        tally = evidence.tally
        if tally is not None:
            tally = tally._replace(actions=self.rows(tally.actions))
        return evidence._replace(
            played=self.gram(evidence.played), moment=self.rows(evidence.moment),
            total=self.rows(evidence.total), menus=tuple(map(menus.wide, evidence.menus)),
            owners=tuple(map(menus.wide, evidence.owners)), tally=tally,
        )  # fmt: skip

    def past(self, past: Past) -> Past:
        """The evidence and the pending decisions."""
        menus, table = Menus(self), past.pending.table()
        actions = table.actions.reshape(-1, len(self.columns))
        shared = tuple(one._replace(menu=menus.wide(one.menu)) for one in table.shared)
        pending = Waitlist(
            table.rounds, table.probabilities, self.rows(actions), table.first, shared, table.names
        ).pending()
        menu = None if past.menu is None else menus.wide(past.menu)
        return Past(self.evidence(past.evidence, menus), pending, menu, past.decisions)


class Menus:
    """The action sets with the new features; what was one object stays one."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.known: dict[int, tuple[Menu, Menu]] = {}  # old and new, by the identity of the old

    def wide(self, menu: Menu) -> Menu:
        if id(menu) not in self.known:
            self.known[id(menu)] = menu, Menu(self.embedding.rows(menu.actions))
        return self.known[id(menu)][1]


def as_embedding(old: int, dimension: object, columns: Sequence[int] | Ints | None) -> Embedding:
    """Checked places of ``old`` features among more of them: the first ones, unless given."""
    count = as_count(dimension, "dimension", old)
    places = np.arange(old) if columns is None else np.asarray(columns)
    if places.shape != (old,) or places.dtype.kind not in "iu" or len(set(places.tolist())) < old:
        raise ValueError(
            f"columns must hold {old} different columns, those of the old features, got {columns!r}"
        )
    if places.min() < 0 or places.max() >= count:
        raise ValueError(f"columns must lie in 0..{count - 1}, got {places.tolist()}")
    return Embedding(places, count)
