"""The Open Bandit Dataset (Saito, Aihara, Matsutani, Narita 2021): which of a shop's items was
shown where, and whether it was clicked.

A file has the columns ``item_id, position, click, propensity_score`` and more; the items are those
of ``item_context.csv``, or ``<campaign>_item_context.csv``, beside it. The propensity is that of
the item given the position, so a position is a round of its own.

Two ways to see an item as an action:
    items    an indicator of each item, and of each position: three sets of actions, which are few
    context  the item's own columns (numbers as they are, codes as indicators), the user's affinity
             with it, and the position: a new set in every round
What is the same for all items of a round (``user_feature_*``) changes no choice of a linear policy,
and is left out.
"""

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from soids.arrays import Floats, as_actions, as_count
from soids.logs.jsonlines import text_lines
from soids.logs.records import (
    Entry,
    as_propensity,
    as_reward,
    as_time,
    located,
)

NEEDED = ("item_id", "position", "click", "propensity_score")
AFFINITY = "user-item_affinity_"
POSITIONS = 3
FEATURES = ("items", "context")


class OpenBanditLog:
    """A file of the Open Bandit Dataset; read as a stream."""

    unit = "line"

    def __init__(self, path: str | os.PathLike[str], *, features: str = "items") -> None:
        if features not in FEATURES:
            raise ValueError(f"features must be one of {', '.join(FEATURES)}, got {features!r}")
        self.path = Path(path)
        self.name = self.path.name
        self.features = features

    def __iter__(self) -> Iterator[Entry]:
        items = read_items(beside(self.path))
        base = items if self.features == "context" else np.eye(len(items))
        sets = [placed(base, position) for position in range(POSITIONS)]
        line = 1
        with located(self.name, self.unit, lambda: line):
            for line, row in rows(self.path, NEEDED):
                position = as_count(whole(row, "position"), "position", 1, POSITIONS) - 1
                actions = sets[position]
                if self.features == "context":
                    actions = placed(np.column_stack([base, affinities(row, len(items))]), position)
                yield Entry(
                    str(line - 1), actions,
                    as_count(whole(row, "item_id"), "item_id", 0, len(items) - 1),
                    as_propensity(number(row, "propensity_score")),
                    as_reward(number(row, "click")),
                    time=as_time(row.get("timestamp") or None), line=line,
                )  # fmt: skip
            if line == 1:
                raise ValueError("the log must hold a decision, it is empty")


def beside(path: Path) -> Path:
    """The file of the items that belongs to a file of the log."""
    campaign = path.name.partition(".")[0]
    candidates = [
        path.with_name(f"{campaign}_item_context.csv"),
        path.with_name("item_context.csv"),
    ]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    names = " or ".join(candidate.name for candidate in candidates)
    raise ValueError(f"{path.name} must have its items beside it, there is no {names}")


def rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file as dictionaries, with their lines; no field holds an end of line."""
    names: list[str] = []
    for line, text in text_lines(path):
        with located(path.name, "line", line):
            fields = split(text)
            if line == 1:
                names = fields
                missing = [name for name in needed if name not in names]
                if missing:
                    raise ValueError(f"columns must include {', '.join(missing)}")
            elif fields and len(fields) != len(names):
                cut = "" if text.endswith("\n") else ": the file is cut off"
                raise ValueError(
                    f"must have {len(names)} fields as the first line, got {len(fields)}{cut}"
                )
        if line > 1 and fields:
            yield line, dict(zip(names, fields, strict=True))


def split(text: str) -> list[str]:
    """The fields of a line; none, if it is blank."""
    try:
        return next(csv.reader([text])) if text.strip() else []
    except csv.Error as error:
        raise ValueError(f"must be CSV: {error}") from None


def number(row: dict[str, str], name: str) -> float:
    """A field that holds a number."""
    try:
        return float(row[name])
    except ValueError:
        raise ValueError(f"{name} must be a number, got {row[name]!r:.40}") from None


def whole(row: dict[str, str], name: str) -> int:
    """A field that holds a whole number."""
    try:
        return int(row[name])
    except ValueError:
        raise ValueError(f"{name} must be a whole number, got {row[name]!r:.40}") from None


def affinities(row: dict[str, str], items: int) -> Floats:  # (K,)
    """The user's affinity with every item."""
    missing = [name for k in range(items) if (name := f"{AFFINITY}{k}") not in row]
    if missing:
        raise ValueError(f'column {missing[0]} must be there for the features "context"')
    return np.array([number(row, f"{AFFINITY}{k}") for k in range(items)])


def placed(base: Floats, position: int) -> Floats:  # (K, d)
    """The items at a position, told by an indicator."""
    where = np.zeros((len(base), POSITIONS))
    where[:, position] = 1.0
    return as_actions(np.column_stack([base, where]), base.shape[1] + POSITIONS)


def encoded(values: list[str]) -> Floats:  # (K, 1), or (K, number of codes)
    """Numbers as they are, or an indicator for every code."""
    try:
        return np.array(values, dtype=np.float64)[:, None]
    except ValueError:
        codes = sorted(set(values))
        return np.array([[float(value == code) for code in codes] for value in values])


def whole_at(path: Path, line: int, row: dict[str, str]) -> int:
    """The number of an item."""
    with located(path.name, "line", line):
        return whole(row, "item_id")


def read_items(path: Path) -> Floats:  # (K, d)
    """The features of the items, in the order of their numbers."""
    table = [(whole_at(path, line, row), row) for line, row in rows(path, ("item_id",))]
    table.sort(key=lambda pair: pair[0])
    numbers = [item for item, _ in table]
    if not table or numbers != list(range(len(table))):
        raise ValueError(f"{path.name} must hold the items 0, 1, ... once each, got {numbers[:9]}")
    names = [name for name in table[0][1] if name.startswith("item_feature")]
    columns = [encoded([row[name] for _, row in table]) for name in names]
    return np.column_stack(columns) if columns else np.eye(len(table))
