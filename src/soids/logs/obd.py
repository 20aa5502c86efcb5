"""The Open Bandit Dataset (Saito, Aihara, Matsutani, Narita 2021): the item of a shop that was
shown at a position, and whether it was clicked.

A file has the columns ``item_id, position, click, propensity_score`` and more; the items are those
of ``item_context.csv``, or ``<campaign>_item_context.csv``, beside it. The propensity is that of
the item given the position, so every position is a round.

The features of an action are, by the setting ``features``:
    items    an indicator of each item, and of each position; there are three action sets
    context  the item's own columns (numbers unchanged, codes as indicators), the user's affinity
             with it, and the position; every round has its own action set
Features that are the same for all items of a round (``user_feature_*``) change no choice of a
linear policy, and are left out.
"""

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from soids.arrays import Floats, as_actions, as_count, as_number
from soids.logs.jsonlines import text_lines
from soids.logs.limits import EXPANSION
from soids.logs.records import Entry, as_propensity, as_time, located

NEEDED = ("item_id", "position", "click", "propensity_score")
AFFINITY = "user-item_affinity_"
POSITIONS = 3
FEATURES = ("items", "context")
MOST_ITEMS = 2000  # their indicators take 32 MB


class OpenBanditLog:
    """A file of the Open Bandit Dataset, which is read as a stream."""

    unit = "line"

    def __init__(
        self, path: str | os.PathLike[str], *, features: str = "items",
        expansion: float = EXPANSION,
    ) -> None:  # fmt: skip
        if features not in FEATURES:
            raise ValueError(f"features must be one of {', '.join(FEATURES)}, got {features!r}")
        self.path = Path(path)
        self.name = self.path.name
        self.features, self.expansion = features, expansion

    def __iter__(self) -> Iterator[Entry]:
        items = read_items(beside(self.path), self.expansion)
        base = items if self.features == "context" else np.eye(len(items))
        sets = [placed(base, position) for position in range(POSITIONS)]
        line = 1
        with located(self.name, self.unit, lambda: line):
            for line, row in rows(self.path, NEEDED, self.expansion):
                position = as_count(number(row, "position", int), "position", 1, POSITIONS) - 1
                actions = sets[position]
                if self.features == "context":
                    actions = placed(np.column_stack([base, affinities(row, len(items))]), position)
                yield Entry(
                    str(line - 1), actions,
                    as_count(number(row, "item_id", int), "item_id", 0, len(items) - 1),
                    as_propensity(number(row, "propensity_score")),
                    as_number(number(row, "click"), "reward"),
                    time=as_time(row.get("timestamp") or None), line=line,
                )  # fmt: skip
            if line == 1:
                raise ValueError("the log must hold a decision, it is empty")


def beside(path: Path) -> Path:
    """The file of the items that belongs to a file of the log."""
    names = f"{path.name.partition('.')[0]}_item_context.csv", "item_context.csv"
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    raise ValueError(f"{path.name} must have its items beside it, there is no {' or '.join(names)}")


def rows(
    path: Path, needed: Sequence[str], expansion: float
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file as dictionaries, with their lines; no field holds a line break."""
    names: list[str] = []
    for line, text in text_lines(path, expansion=expansion):
        with located(path.name, "line", line):
            try:
                fields = next(csv.reader([text])) if text.strip() else []
            except csv.Error as error:
                raise ValueError(f"must be CSV: {error}") from None
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


def number(row: dict[str, str], name: str, kind: type[float] = float) -> float:
    """A field as a number, or as a whole one."""
    try:
        return kind(row[name])
    except ValueError:
        wanted = "whole number" if kind is int else "number"
        raise ValueError(f"{name} must be a {wanted}, got {row[name]!r:.40}") from None


def affinities(row: dict[str, str], items: int) -> Floats:  # (K,)
    """The user's affinities with the items."""
    missing = [name for k in range(items) if (name := f"{AFFINITY}{k}") not in row]
    if missing:
        raise ValueError(f'column {missing[0]} must be there for the features "context"')
    return np.array([number(row, f"{AFFINITY}{k}") for k in range(items)])


def placed(base: Floats, position: int) -> Floats:  # (K, d)
    """The items beside the indicator of a position."""
    where = np.zeros((len(base), POSITIONS))
    where[:, position] = 1.0
    return as_actions(np.column_stack([base, where]), base.shape[1] + POSITIONS)


def encoded(values: list[str]) -> Floats:  # (K, 1), or (K, number of codes)
    """Numbers unchanged, or an indicator for every code."""
    try:
        return np.array(values, dtype=np.float64)[:, None]
    except ValueError:
        codes = np.array(sorted(set(values)))
        indicators: Floats = (np.array(values)[:, None] == codes).astype(np.float64)
        return indicators


def read_items(path: Path, expansion: float) -> Floats:  # (K, d)
    """The features of the items, in the order of their numbers."""
    items: list[tuple[float, dict[str, str]]] = []
    for line, row in rows(path, ("item_id",), expansion):
        with located(path.name, "line", line):
            items.append((number(row, "item_id", int), row))
    items.sort(key=lambda item: item[0])
    numbers = [item for item, _ in items]
    if len(items) > MOST_ITEMS:
        raise ValueError(f"{path.name} must hold at most {MOST_ITEMS} items, got {len(items)}")
    if not items or numbers != list(range(len(items))):
        raise ValueError(f"{path.name} must hold the items 0, 1, ... once each, got {numbers[:9]}")
    names = [name for name in items[0][1] if name.startswith("item_feature")]
    columns = [encoded([row[name] for _, row in items]) for name in names]
    return np.column_stack(columns) if columns else np.eye(len(items))
