"""The entries of a log, one for each decision, and the checks of their fields.

Notation
    actions        (K, d)  on offer; or only their number K, if the log has no features
    propensity             probability with which the logging policy chose its action
    probabilities  (K,)    those of all actions, where the log has them
    target                 probabilities of another policy, to be evaluated: (K,), or only that of
                           the chosen action
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from soids.arrays import Floats, as_actions, as_count, as_floats, as_number, as_rows

FORMAT = "soids log"
VERSION = 1
SMALLEST_PROPENSITY = 1e-12  # weights stay below 1e12: their cubes and sums are far from overflow
MOST_ACTIONS = 10_000_000  # without features; a distribution over them takes 80 MB
MOST_INDICATORS = 5000  # actions of a set without features; their indicators take 200 MB
ROUNDING = 1e-5  # error of sums of probabilities, which are often written in single precision


class Entry(NamedTuple):
    """One decision and its reward; it is read-only, and so are its arrays."""

    id: str
    actions: Floats | int | None  # (K, d); only their number; or unknown
    chosen: int
    propensity: float
    reward: float | None  # None if it is missing
    probabilities: Floats | None = None  # (K,)
    target: Floats | float | None = None
    time: str | float | None = None  # ISO 8601, or a number on the user's own clock
    policy: str = ""  # name and version
    line: int = 0  # of the file, or row of the frame, from 1
    name: str = ""  # of the chosen action

    @property
    def offered(self) -> int | None:
        """The number of actions on offer, if the log has it."""
        return len(self.actions) if isinstance(self.actions, np.ndarray) else self.actions

    @property
    def features(self) -> Floats:  # (K, d)
        """The actions; if only their number is known, an indicator for each."""
        if isinstance(self.actions, np.ndarray):
            return self.actions
        if self.actions is None:
            raise ValueError("the actions must be in the log for this, but they are unknown")
        return indicators(self.actions)

    def slim(self) -> "Entry":
        """The same decision, with only the number of its actions."""
        return self._replace(actions=self.offered)


@lru_cache(maxsize=64)
def indicators(count: int) -> Floats:  # (K, K)
    if count > MOST_INDICATORS:
        raise ValueError(f"{count} actions are too many for one indicator each: log their features")
    return as_actions(np.eye(count), count)


class Log(Protocol):
    """Entries that can be read repeatedly; those without a reward are the last."""

    name: str
    unit: str  # "line" or "row"

    def __iter__(self) -> Iterator[Entry]: ...


def rewarded(log: Log) -> Iterator[tuple[Entry, float]]:
    """The decisions with a reward, and their rewards."""
    return ((entry, entry.reward) for entry in log if entry.reward is not None)


class Header(NamedTuple):
    """Named action sets of a log, and the dimension of all its actions."""

    sets: Mapping[str, Floats]  # (K, d)  actions by the name of their set
    dimension: int | None = None

    def after(self, entry: Entry) -> "Header":
        """The header with the dimension of an entry, if that has features."""
        if self.dimension is not None or not isinstance(entry.actions, np.ndarray):
            return self
        return self._replace(dimension=entry.actions.shape[1])

    def described(self) -> dict[str, Any]:
        """The header as JSON."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.dimension is not None:
            record["dimension"] = self.dimension
        if self.sets:
            record["sets"] = {name: actions.tolist() for name, actions in self.sets.items()}
        return record


def as_header(record: object) -> Header:
    """The header that JSON describes, checked."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        known = f'{{"format": "{FORMAT}", "version": {VERSION}}}'
        raise ValueError(f"the header {known} must come first")
    version, dimension = record.get("version"), record.get("dimension")
    if version != VERSION:
        raise ValueError(f"version must be {VERSION}, got {version!r}: this soids cannot read it")
    sets = record.get("sets", {})
    if not isinstance(sets, dict):
        raise ValueError(f"sets must be an object of action sets by name, got {sets!r:.40}")
    return make_header(sets, None if dimension is None else as_count(dimension, "dimension"))


def make_header(sets: Mapping[str, object], dimension: int | None) -> Header:
    """A header with these sets, all of one dimension."""
    checked = {}
    for name, actions in sets.items():
        one = as_set(actions, f"set {name!r}", dimension)
        dimension = one.shape[1]
        checked[name] = as_actions(one, dimension)  # policies then recognise it by its identity
    return Header(checked, dimension)


def as_set(actions: object, name: str, dimension: int | None) -> Floats:  # (K, d)
    """A checked, read-only action set."""
    rows = as_rows(actions, name)
    if dimension is not None and rows.shape[1] != dimension:
        raise ValueError(
            f"{name} must have dimension {dimension} as before it, got {rows.shape[1]}"
        )
    rows.flags.writeable = False
    return rows


def as_entry(
    record: Mapping[str, Any], actions: Floats | int | None, line: int, target: str = "target"
) -> Entry:
    """The decision that a record describes, checked; ``target`` names the field with the
    probabilities of another policy. If the actions are unknown, so is the choice.
    """
    count = len(actions) if isinstance(actions, np.ndarray) else actions or 0
    chosen = 0 if actions is None else as_count(needed(record, "chosen"), "chosen", 0, count - 1)
    probabilities, propensity = record.get("probabilities"), record.get("propensity")
    if probabilities is not None:
        probabilities = as_probabilities(probabilities, count, "probabilities")
        propensity = agreed(propensity, probabilities, chosen)
    if propensity is None:
        raise ValueError("propensity (or probabilities) must be there: no estimate without it")
    masses, reward = record.get(target), record.get("reward")
    if isinstance(masses, list | tuple | np.ndarray):
        masses = as_probabilities(masses, count, target)
    elif masses is not None:
        masses = as_probability(masses, target)
    return Entry(
        as_id(needed(record, "id")), actions, chosen, as_propensity(propensity),
        None if reward is None else as_reward(reward),
        probabilities, masses, as_time(record.get("time")), str(record.get("policy") or ""), line,
        str(record.get("name") or ""),
    )  # fmt: skip


def find_actions(record: Mapping[str, Any], header: Header) -> Floats | int:
    """The actions of a record: an array, a named set, or their number."""
    ways = [way for way in ("actions", "set", "count") if record.get(way) is not None]
    if len(ways) != 1:
        raise ValueError(f"one of actions, set and count must be there, got {ways or 'none'}")
    if ways == ["count"]:
        return as_count(record["count"], "count", 1, MOST_ACTIONS)
    if ways == ["actions"]:
        return as_set(record["actions"], "actions", header.dimension)
    name = record["set"]
    if not isinstance(name, str) or name not in header.sets:
        known = ", ".join(header.sets) or "none"
        raise ValueError(f"set must be one of the header's ({known}), got {name!r}")
    return header.sets[name]


def needed(record: Mapping[str, Any], name: str) -> Any:
    value = record.get(name)
    if value is None:
        raise ValueError(f"{name} must be there, it is missing")
    return value


def as_id(value: object) -> str:
    """The id of a decision as a text."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"id must be a text or a whole number, got {value!r}")
    return str(value)


def as_time(value: object) -> str | float | None:
    """A time in ISO 8601, or a number."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if not isinstance(value, str):
        return as_number(value, "time")
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"time must be ISO 8601 or a number, got {value!r:.40}") from None
    return value


def as_reward(value: object) -> float:
    """A reward; True is 1 and False is 0."""
    return float(value) if isinstance(value, bool | np.bool_) else as_number(value, "reward")


def as_propensity(value: object) -> float:
    """The probability of a chosen action, which is not zero."""
    propensity = as_number(value, "propensity")
    if not SMALLEST_PROPENSITY <= propensity <= 1.0 + ROUNDING:
        span = f"{SMALLEST_PROPENSITY:g}..1 for the chosen action"
        raise ValueError(f"propensity must lie in {span}, got {propensity:g}")
    return min(propensity, 1.0)


def agreed(propensity: object, probabilities: Floats, chosen: int) -> float:
    """The probability of the chosen action; a propensity beside it must agree up to rounding."""
    own = float(probabilities[chosen])
    if propensity is not None:
        given = as_number(propensity, "propensity")
        if not math.isclose(given, own, rel_tol=ROUNDING):
            raise ValueError(f"propensity must be probabilities[{chosen}], {own:g}, got {given:g}")
    return own


def as_probability(value: object, name: str) -> float:
    number = as_number(value, name)
    if not 0.0 <= number <= 1.0 + ROUNDING:
        raise ValueError(f"{name} must be a probability, got {number:g}")
    return min(number, 1.0)


def as_probabilities(value: object, count: int, name: str) -> Floats:  # (K,)
    """A distribution over the actions on offer."""
    array = as_floats(value, name)
    if array.shape != (count,):
        raise ValueError(f"{name} must hold one number an action ({count}), got {array.shape}")
    if array.min() < 0.0 or array.max() > 1.0 + ROUNDING:
        k = int(np.argmax((array < 0.0) | (array > 1.0 + ROUNDING)))
        raise ValueError(f"{name}[{k}] must be a probability, got {array[k]:g}")
    if abs(array.sum() - 1.0) > ROUNDING:
        raise ValueError(f"{name} must sum to 1, got {array.sum():.6g}")
    array.flags.writeable = False
    return array


class LogError(ValueError):
    """An error in a log, and its place, in one line."""


class RepeatedIdError(ValueError):
    """An id that occurs twice; the error is at its second place."""

    def __init__(self, first: int, line: int) -> None:
        super().__init__(f"id must be new, it was given at {first} already: log each decision once")
        self.line = line


def wrong(name: str, unit: str, line: int, why: object) -> LogError:
    """The error at a line or row of a log."""
    return LogError(f"{name}, {unit} {line}: {' '.join(str(why).split())}")


@contextmanager
def located(name: str, unit: str, line: int | Callable[[], int]) -> Iterator[None]:
    """Add to any error its place in the log."""
    try:
        yield
    except LogError:
        raise
    except RepeatedIdError as error:
        raise wrong(name, unit, error.line, error) from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise wrong(name, unit, line() if callable(line) else line, why) from None
