"""A DataFrame as a log, one decision a row: pandas, polars or any other that narwhals supports."""

import copy
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from soids.arrays import Floats, as_count, as_floats
from soids.features import Encoder, disjoint
from soids.logs.joining import Joiner, complete
from soids.logs.records import Entry, as_entry, as_set, wrong
from soids.spelling import as_names


class FrameLog:
    """The rows of a DataFrame as logged decisions; texts name its columns.

    - ``chosen`` names a column of indices or labels of the chosen actions. Without it only the
      logging policy and a ``target`` can be evaluated.
    - ``actions`` is the number of actions, one set (K, d), a set for each row (n, K, d), or a list
      of all labels. Without it, the actions are those that occur; indices must have no gaps.
    - ``probabilities`` and ``target`` name a column for each action, in the order of ``actions``,
      which must then be given if they have labels. ``target`` may also name one column, with its
      probability of the chosen action.
    - ``reward`` may also be a series (n,). A reward that is null or NaN is missing; True is 1.

    >>> import pandas
    >>> frame = pandas.DataFrame({"item": ["a", "b"], "p": [0.5, 0.5], "click": [0, 1]})
    >>> log = FrameLog(frame, reward="click", propensity="p", chosen="item")
    >>> [(entry.chosen, entry.reward) for entry in log]
    [(0, 0.0), (1, 1.0)]
    """

    name = "the frame"
    unit = "row"

    def __init__(
        self, frame: Any, *, reward: Any = "reward", propensity: str | None = "propensity",
        chosen: str | None = None, actions: int | object = None,
        probabilities: Sequence[str] | None = None, target: str | Sequence[str] | None = None,
        id: str | None = None, time: str | None = None, policy: str | None = None,
    ) -> None:  # fmt: skip
        self.frame = as_frame(frame)
        self.reward = self._series(reward) if np.ndim(reward) else self._column(reward)
        choices, self.actions = self._choices(chosen, actions)
        labels = [] if chosen is None else self._column(chosen, of_numbers=False)
        has_labels = bool(labels) and not isinstance(labels[0], int)
        for columns in (probabilities, target):
            if actions is None and has_labels and not isinstance(columns, str | None):
                raise ValueError(
                    "actions must list all labels, in the order of the columns "
                    f"{', '.join(columns)}, as in actions=['a', 'b'] (--actions a,b)"
                )
        self.fields: dict[str, Any] = {  # columns or tables by the name of the field
            "propensity": None if propensity is None else self._column(propensity),
            "chosen": choices,
            "probabilities": self._table(probabilities),
            "target": self._column(target) if isinstance(target, str) else self._table(target),
        }
        if labels and isinstance(labels[0], str):
            self.fields["name"] = labels
        for field, name in {"id": id, "time": time, "policy": policy}.items():
            self.fields[field] = None if name is None else self._column(name, of_numbers=False)

    def __iter__(self) -> Iterator[Entry]:
        joiner = Joiner()
        rows = enumerate(range(len(self.reward)), 1)
        return complete(self, rows, lambda row, i: joiner.decide(self._entry(row, i)), joiner)

    def in_context(self, columns: Sequence[str]) -> "FrameLog":
        """The same log with features: these columns of its row, beside a one, in the block of each
        action, and zeros in all other blocks.

        Numbers are standardised, and each category of a column of texts has an indicator.
        """
        if not isinstance(self.actions, int):
            raise ValueError(
                "in_context needs the number of actions: name the column chosen, and give no "
                "features of actions"
            )
        for name in as_names(columns, "columns"):
            self._check(name)
        table = self.frame.select(list(columns))
        rows = np.asarray(Encoder.fit(table).encode(table))
        log = copy.copy(self)
        log.actions = Blocks(np.insert(rows, 0, 1.0, axis=1), self.actions)
        return log

    def _entry(self, row: int, i: int) -> Entry:
        actions, reward, is_own = self.actions, self.reward[i], False  # own: a set for each row
        if isinstance(actions, Blocks) or (isinstance(actions, np.ndarray) and actions.ndim == 3):
            actions, is_own = as_set(actions[i], "actions", None), True
        if isinstance(reward, float) and math.isnan(reward):
            reward = None
        record = {name: values[i] for name, values in self.fields.items() if values is not None}
        entry = as_entry({"id": str(row), "reward": reward, **record}, actions, row)
        return entry.slim() if is_own and reward is None else entry

    def _check(self, name: str) -> None:
        if name not in self.frame.columns:
            known = ", ".join(map(str, self.frame.columns[:20]))
            raise ValueError(
                f"{self.name} must have a column {name!r}, it has {known}: say what they are by "
                "reward=, propensity= and chosen= (--reward, --propensity, --chosen)"
            )

    def _series(self, values: Any) -> list[Any]:
        """The values of a series or an array, one for each row."""
        count = len(self.frame)
        if len(values) != count:
            raise ValueError(f"reward must be a column or hold {count} numbers, got {len(values)}")
        if isinstance(values, np.ndarray | list | tuple):
            return list(values)
        import narwhals

        return listed(narwhals.from_native(values, series_only=True))

    def _column(self, name: str, *, of_numbers: bool = True) -> list[Any]:
        """The values of a column, None where one is missing; NaN among numbers stays NaN."""
        self._check(name)
        return listed(self.frame[name], of_numbers=of_numbers)

    def _table(self, names: Sequence[str] | None) -> Floats | None:  # (n, K)
        if names is None:
            return None
        return np.array([self._column(name) for name in names], dtype=np.float64).T

    def _choices(
        self, chosen: str | None, actions: object
    ) -> "tuple[list[Any] | None, Floats | Blocks | int | None]":
        """The index of the chosen action in each row, and the actions, or their number."""
        if chosen is None:
            if actions is None:
                return None, None
            raise ValueError("chosen must name a column when actions are given, got None")
        values = self._column(chosen, of_numbers=False)
        if actions is None:
            return self._indexed(values, self._labels(values))
        if isinstance(actions, list | tuple) and all(isinstance(one, str) for one in actions):
            values = [str(one) if isinstance(one, int) else one for one in values]
            return self._indexed(values, list(actions))
        if isinstance(actions, int):
            return values, as_count(actions, "actions")
        sets = as_floats(actions, "actions")
        if sets.ndim == 3 and len(sets) == len(self.reward):
            return values, sets
        return values, as_set(sets, "actions", None)

    def _indexed(self, values: list[Any], labels: list[Any]) -> tuple[list[int], int]:
        """The index of each value among the labels, and the number of labels."""
        places = {label: place for place, label in enumerate(labels)}
        for row, value in enumerate(values, 1):
            if value not in places:
                why = f"chosen must be one of {', '.join(map(str, labels[:10]))}, got {value!r}"
                raise wrong(self.name, self.unit, row, why)
        return [places[value] for value in values], len(labels)

    def _labels(self, values: list[Any]) -> list[Any]:
        """The labels that occur, sorted; whole numbers must be 0, 1, ... without gaps."""
        for row, value in enumerate(values, 1):
            if value is None or (isinstance(value, float) and math.isnan(value)):
                raise wrong(self.name, self.unit, row, f"chosen must be there, got {value}")
        try:
            labels = sorted(set(values))
        except TypeError as error:
            raise ValueError(f"chosen must hold labels of one kind: {error}") from None
        if all(isinstance(label, int) for label in labels) and labels != list(range(len(labels))):
            raise ValueError(
                f"chosen must hold indices from 0 on, got {len(labels)} of {labels[0]}.."
                f"{labels[-1]}: give the number of actions, or all labels as texts (actions=, "
                "--actions)"
            )
        return labels


def listed(column: Any, *, of_numbers: bool = True) -> list[Any]:
    """The values of a series, None where one is missing; NaN among numbers stays NaN."""
    return [
        None if missing and not (of_numbers and isinstance(value, float)) else value
        for value, missing in zip(column.to_list(), column.is_null().to_list(), strict=True)
    ]


class Blocks:
    """The disjoint action set of each row, made when it is asked for."""

    def __init__(self, contexts: Floats, count: int) -> None:
        self.contexts, self.count = contexts, count  # (n, p)

    def __getitem__(self, row: int) -> Floats:  # (K, K p)
        return disjoint(self.contexts[row], self.count)


def as_frame(frame: object) -> Any:
    """The DataFrame under the interface of narwhals."""
    try:
        import narwhals
    except ImportError:
        raise ImportError("DataFrames need narwhals: pip install 'soids[logs]'") from None
    try:
        return narwhals.from_native(frame, eager_only=True)
    except TypeError:
        kind = type(frame).__name__
        raise ValueError(
            f"frame must be a DataFrame in memory (pandas, polars, pyarrow), got {kind}"
        ) from None
