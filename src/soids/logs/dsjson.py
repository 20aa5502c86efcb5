"""VW's dsjson: contextual bandit logs of Vowpal Wabbit and the services around it.

    {"_label_cost": -1, "_label_probability": 0.8, "_label_Action": 1, "_labelIndex": 0,
     "EventId": "17", "Timestamp": "2026-01-01T00:00:00Z", "a": [1, 2], "p": [0.8, 0.2],
     "c": {"User": {"age": 30, "city": "Rome"}, "_multi": [{"Item": {"id": "x"}}, ...]}}

``a`` lists the actions from 1, the chosen one first, and ``p`` their probabilities; the reward is
minus the cost. Features keep their names and are not hashed: ``Item.price`` is a number,
``Item.id=x`` an indicator. The features of an action are, by the setting ``features``:
    actions  its own features only
    crossed  these, and each of them times each feature of the context (``c`` outside ``_multi``),
             so that the choices of a linear policy can depend on the context
A first pass over the file collects the names of all features. Decisions without a reward, which
cannot come later, hold only the number of their actions.
"""

import math
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from soids.arrays import Floats, as_number
from soids.logs import records
from soids.logs.joining import Joiner, complete
from soids.logs.jsonlines import check_torn, json_lines
from soids.logs.limits import EXPANSION
from soids.logs.records import Entry

FEATURES = ("actions", "crossed")
MOST_COLUMNS = 20_000  # a set of 100 actions then takes 16 MB
MOST_CELLS = 10_000_000  # of a set, which then takes 80 MB


class DsjsonLog:
    """A file of VW's dsjson, which is read as a stream, twice."""

    unit = "line"

    def __init__(
        self, path: str | os.PathLike[str], *, features: str = "actions", torn: str = "refuse",
        expansion: float = EXPANSION,
    ) -> None:  # fmt: skip
        if features not in FEATURES:
            raise ValueError(f"features must be one of {', '.join(FEATURES)}, got {features!r}")
        check_torn(torn)
        self.path = Path(path)
        self.name = self.path.name
        self.features, self.skip_torn, self.expansion = features, torn == "skip", expansion
        self._columns: dict[str, int] | None = None

    def __iter__(self) -> Iterator[Entry]:
        columns, joiner = self.columns(), Joiner()

        def take(line: int, record: dict[str, Any]) -> Entry | None:
            entry = as_decision(record, self._set_of(record, columns), line)
            return joiner.decide(entry.slim() if entry.reward is None else entry)

        return complete(self, self._events(), take, joiner)

    def columns(self) -> dict[str, int]:
        """The column of every feature, by name, in the order in which they first occur."""
        if self._columns is None:
            columns: dict[str, int] = {}
            for line, record in self._events():
                with records.located(self.name, self.unit, line):
                    for name in chain.from_iterable(self._actions_of(record)):
                        columns.setdefault(name, len(columns))
                    if len(columns) > MOST_COLUMNS:
                        raise ValueError(
                            f"the file has more than {MOST_COLUMNS} features so far: drop those "
                            "that are names, or do not cross them"
                        )
            self._columns = columns
        return self._columns

    def _events(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, record in json_lines(
            self.path, skip_torn=self.skip_torn, expansion=self.expansion
        ):
            if "c" in record:  # other lines, such as rewards that came too late, hold no decision
                yield line, record

    def _actions_of(self, record: dict[str, Any]) -> list[dict[str, float]]:
        context = record["c"]
        offered = context.get("_multi") if isinstance(context, dict) else None
        if not isinstance(offered, list) or not offered:
            raise ValueError("c must hold the actions in a list _multi")
        if "_slots" in context:
            raise ValueError("c must hold one decision, got _slots: those are not read")
        actions = [flattened(action) for action in offered]
        if self.features == "crossed":
            shared = flattened({name: part for name, part in context.items() if name != "_multi"})
            for action in actions:
                own = list(action.items())
                action.update(
                    {f"{theirs}*{mine}": x * y for theirs, x in shared.items() for mine, y in own}
                )
        return actions

    def _set_of(self, record: dict[str, Any], columns: dict[str, int]) -> Floats | int:
        if not columns:
            return len(record["c"]["_multi"])
        described = self._actions_of(record)
        if len(described) * len(columns) > MOST_CELLS:
            raise ValueError(
                f"{len(described)} actions of {len(columns)} features are more than "
                f"{MOST_CELLS:,} numbers: log fewer of either"
            )
        actions = np.zeros((len(described), len(columns)))
        for row, action in zip(actions, described, strict=True):
            row[[columns[name] for name in action]] = list(action.values())
        return records.as_set(actions, "c._multi", None)


def as_decision(record: dict[str, Any], actions: Floats | int, line: int) -> Entry:
    """The decision in a line, checked."""
    count = len(actions) if isinstance(actions, np.ndarray) else actions
    if as_number(record.get("pdrop", 0.0), "pdrop") != 0.0:
        raise ValueError(f"pdrop must be 0, got {record['pdrop']}: dropped events are unsupported")
    order = records.needed(record, "a")
    listed = isinstance(order, list) and all(type(number) is int for number in order)
    if not listed or sorted(order) != list(range(1, count + 1)):
        raise ValueError(f"a must list the actions 1..{count} once each, got {order!r:.60}")
    chosen = order[0] - 1
    label = record.get("_label_Action")
    if label is not None and label != chosen + 1:
        raise ValueError(f"_label_Action must be a[0], {chosen + 1}, got {label!r}")
    probabilities, propensity = None, record.get("_label_probability")
    if record.get("p") is not None:
        probabilities = np.empty(count)
        probabilities[np.array(order) - 1] = records.as_probabilities(record["p"], count, "p")
        probabilities.flags.writeable = False
        own = float(probabilities[chosen])
        if propensity is None:
            propensity = own
        elif not math.isclose(as_number(propensity, "_label_probability"), own, rel_tol=1e-3):
            raise ValueError(f"_label_probability must be p[0], {own:g}, got {propensity}")
    if propensity is None:
        raise ValueError("_label_probability (or p) must be there: no estimate without it")
    cost = record.get("_label_cost")
    is_learned = cost is not None and not record.get("_skipLearn", False)
    return Entry(
        records.as_id(record.get("EventId") or str(line)), actions, chosen,
        records.as_propensity(propensity), -as_number(cost, "_label_cost") if is_learned else None,
        probabilities, time=records.as_time(record.get("Timestamp")), line=line,
    )  # fmt: skip


def flattened(part: object, name: str = "") -> dict[str, float]:
    """Features by name: numbers unchanged, texts as indicators; names with _ are left out."""
    if isinstance(part, dict):
        inside: dict[str, float] = {}
        for key, value in part.items():
            if not key.startswith("_"):
                inside |= flattened(value, f"{name}.{key}" if name else key)
        return inside
    if isinstance(part, list):
        inside = {}
        for place, value in enumerate(part):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            inside |= flattened(value, f"{name}[{place}]" if is_number else name)
        return inside
    if part is None:
        return {}
    if isinstance(part, str):
        return {f"{name}={part}": 1.0}
    return {name: float(as_number(int(part) if isinstance(part, bool) else part, name))}
