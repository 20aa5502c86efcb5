"""Names of actions and of their features: those that are given, or those that a data frame has."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Ints, as_count
from soids.spelling import as_names, meant


class Names(NamedTuple):
    """What actions and features are called, where that is known."""

    actions: tuple[str, ...] | None = None  # (K,)
    features: tuple[str, ...] | None = None  # (d,)

    def place(self, index: Any, count: int, what: str = "index") -> int:
        """The index of an action that is given by its index or by its name."""
        if not isinstance(index, str):
            return as_count(index, what, 0, count - 1)
        if self.actions is None:
            raise ValueError(f"{what} must be a number where actions have no names, got {index!r}")
        if index not in self.actions:
            known = ", ".join(self.actions[:10])
            raise ValueError(f"{what} must be one of {known}{meant(index, self.actions)}")
        return self.actions.index(index)

    def places(self, indices: Sequence[Any] | Ints, count: int) -> Sequence[Any] | Ints:
        """Indices of actions, some or all of which may be given by name."""
        if isinstance(indices, str):
            raise ValueError(f"excluded must be a list of indices or names, got {indices!r}")
        if not any(isinstance(one, str) for one in indices):
            return indices
        return [self.place(one, count, "excluded") for one in indices]


NAMELESS = Names()


def names_of(actions: Any, names: object) -> Names:
    """The names that are given for actions, or else the labels in the index of their data frame,
    unless these are only their numbers; its columns are the features.
    """
    if isinstance(actions, np.ndarray):
        return NAMELESS if names is None else Names(as_names(names, "names"))
    columns: Any = getattr(actions, "columns", None)
    if names is None and columns is not None and hasattr(actions, "index"):  # as pandas has
        labels = list(actions.index)
        if all(isinstance(label, str) for label in labels):
            names = labels
        elif labels != list(range(len(labels))) and len(set(labels)) == len(labels):
            names = [str(label) for label in labels]
    own = None if names is None else as_names(names, "names")
    if columns is None or not all(isinstance(column, str) for column in columns):
        return NAMELESS if own is None else Names(own)
    return Names(own, as_names(columns, "columns of actions"))


def check_features(given: Names, known: tuple[str, ...] | None) -> None:
    """Refuse features of other names, or in another order, than those of earlier data frames."""
    for place, (name, before) in enumerate(zip(given.features or (), known or (), strict=False)):
        if name != before:
            raise ValueError(
                f"column {place} of actions must be {before!r}, as in earlier data frames, got "
                f"{name!r}: give the same columns in the same order"
            )


def feature_names(names: Any, known: tuple[str, ...] | None, dimension: int) -> Sequence[str]:
    """The names of all features: those given, else those known, else their numbers."""
    if names is None:
        return known or [f"feature {column}" for column in range(dimension)]
    if isinstance(names, str) or not hasattr(names, "__len__"):
        raise ValueError(f"names must be a list of {dimension} names of features, got {names!r}")
    if len(names) != dimension:
        raise ValueError(f"names must be one for each of {dimension} features, got {len(names)}")
    return as_names([str(name) for name in names], "names")
