"""What a log holds: one entry a decision, checked as it is read.

Notation
    actions        (K, d)  on offer; or only their number K, when nothing is known of them
    propensity             probability with which the logging policy chose what it chose
    probabilities  (K,)    the same for everything on offer, where the log has it
    target                 probabilities of another policy, to be evaluated: (K,), or that of the
                           chosen action alone
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from soids.arrays import LARGEST, Floats, as_actions, as_count, as_floats, as_number

FORMAT = "soids log"
VERSION = 1
SMALLEST_PROPENSITY = 1e-12  # weights stay below 1e12: their cubes and sums are far from overflow
MOST_INDICATORS = 5000  # of a set without features, which take 200 MB
ROUNDING = 1e-5  # by which probabilities may miss 1: they are often written in single precision


class Entry(NamedTuple):
    """One decision and what came of it; it is read-only, and so are its arrays."""

    id: str
    actions: Floats | int | None  # (K, d); their number; or nothing is known of them
    chosen: int
    propensity: float
    reward: float | None  # None if it never came
    probabilities: Floats | None = None  # (K,)
    target: Floats | float | None = None
    time: str | float | None = None  # ISO 8601, or a number on the user's own clock
    policy: str = ""  # and its version
    line: int = 0  # of the file, or row of the frame, from 1

    @property
    def offered(self) -> int | None:
        """How many actions were on offer, as far as the log says."""
        return len(self.actions) if isinstance(self.actions, np.ndarray) else self.actions

    @property
    def features(self) -> Floats:  # (K, d)
        """The actions; those of which only the number is known differ by nothing but their own
        indicator.
        """
        if isinstance(self.actions, np.ndarray):
            return self.actions
        if self.actions is None:
            raise ValueError("the actions must be in the log for this, nothing is known of them")
        return indicators(self.actions)


@lru_cache(maxsize=64)
def indicators(count: int) -> Floats:  # (K, K)
    """Actions of which nothing is known but that they differ."""
    if count > MOST_INDICATORS:
        raise ValueError(
            f"{count} actions are too many to be told apart by number: log their features"
        )
    return as_actions(np.eye(count), count)


class Log(Protocol):
    """Entries that can be read again and again, one at a time, each when its reward is known;
    those whose reward never came are the last.
    """

    name: str
    unit: str  # what entries are counted in: "line" or "row"

    def __iter__(self) -> Iterator[Entry]: ...


def rewarded(log: Log) -> Iterator[tuple[Entry, float]]:
    """The decisions whose reward came, and it."""
    return ((entry, entry.reward) for entry in log if entry.reward is not None)


class Header(NamedTuple):
    """What holds for a whole log."""

    sets: Mapping[str, Floats]  # (K, d)  actions by the name of their set
    dimension: int | None = None

    def after(self, entry: Entry) -> "Header":
        """The header, which knows the dimension from the first entry that has features on."""
        if self.dimension is not None or not isinstance(entry.actions, np.ndarray):
            return self
        return self._replace(dimension=entry.actions.shape[1])

    def described(self) -> dict[str, Any]:
        """The header as JSON."""
        said: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.dimension is not None:
            said["dimension"] = self.dimension
        if self.sets:
            said["sets"] = {name: actions.tolist() for name, actions in self.sets.items()}
        return said


def as_header(said: object) -> Header:
    """The header that JSON describes, checked."""
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise ValueError(
            f'the header {{"format": "{FORMAT}", "version": {VERSION}}} must come first'
        )
    if said.get("version") != VERSION:
        raise ValueError(
            f"version must be {VERSION}, got {said.get('version')!r}: this soids cannot read it"
        )
    dimension = said.get("dimension")
    given = said.get("sets", {})
    if not isinstance(given, dict):
        raise ValueError(f"sets must be an object of action sets by name, got {given!r:.40}")
    return make_header(given, None if dimension is None else as_count(dimension, "dimension"))


def make_header(sets: Mapping[str, object], dimension: int | None) -> Header:
    """A header with these sets, all of one dimension."""
    checked = {}
    for name, actions in sets.items():
        known = as_set(actions, f"set {name!r}", dimension)
        dimension = known.shape[1]
        checked[name] = as_actions(known, dimension)  # policies then know it by its identity
    return Header(checked, dimension)


def as_set(actions: object, name: str, dimension: int | None) -> Floats:  # (K, d)
    """A set of actions that nobody can change."""
    array = as_floats(actions, name)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (K, d), one action a row, got {array.shape}")
    if dimension is not None and array.shape[1] != dimension:
        raise ValueError(
            f"{name} must have dimension {dimension} as before it, got {array.shape[1]}"
        )
    array.flags.writeable = False
    return array


def as_entry(record: Mapping[str, Any], header: Header, line: int, target: str) -> Entry:
    """The decision that a record describes, checked; the field ``target`` holds the probabilities
    of another policy, if there is one of this name.
    """
    actions = find_actions(record, header)
    count = len(actions) if isinstance(actions, np.ndarray) else actions
    chosen = as_count(needed(record, "chosen"), "chosen", 0, count - 1)
    probabilities, propensity = record.get("probabilities"), record.get("propensity")
    if probabilities is not None:
        probabilities = as_probabilities(probabilities, count, "probabilities")
        propensity = agreed(propensity, probabilities, chosen)
    if propensity is None:
        raise ValueError("propensity (or probabilities) must be there: without it nothing follows")
    wanted = record.get(target)
    if isinstance(wanted, list | tuple):
        wanted = as_probabilities(wanted, count, target)
    elif wanted is not None:
        wanted = as_share_of_one(wanted, target)
    reward = record.get("reward")
    return Entry(
        as_id(needed(record, "id")), actions, chosen, as_propensity(propensity),
        None if reward is None else as_number(reward, "reward"),
        probabilities, wanted, as_time(record.get("time")), str(record.get("policy") or ""), line,
    )  # fmt: skip


def find_actions(record: Mapping[str, Any], header: Header) -> Floats | int:
    """The actions of a record: spelled out, a named set, or their number."""
    ways = [way for way in ("actions", "set", "count") if record.get(way) is not None]
    if len(ways) != 1:
        raise ValueError(f"one of actions, set and count must be there, got {ways or 'none'}")
    if ways == ["count"]:
        return as_count(record["count"], "count")
    if ways == ["actions"]:
        return as_set(record["actions"], "actions", header.dimension)
    name = record["set"]
    if not isinstance(name, str) or name not in header.sets:
        known = ", ".join(header.sets) or "none"
        raise ValueError(f"set must be one of the header's ({known}), got {name!r}")
    return header.sets[name]


def needed(record: Mapping[str, Any], name: str) -> Any:
    """A field that must be there."""
    value = record.get(name)
    if value is None:
        raise ValueError(f"{name} must be there, it is missing")
    return value


def as_id(value: object) -> str:
    """A decision's name; a number is one too."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"id must be a text or a whole number, got {value!r}")
    return str(value)


def as_time(value: object) -> str | float | None:
    """A time as ISO 8601 says it, or a number."""
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


def as_propensity(value: object) -> float:
    """The probability of what was chosen: it was possible, so it is not zero."""
    propensity = as_number(value, "propensity")
    if not SMALLEST_PROPENSITY <= propensity <= 1.0 + ROUNDING:
        raise ValueError(
            f"propensity must lie in {SMALLEST_PROPENSITY:g}..1 for what was chosen, "
            f"got {propensity:g}"
        )
    return min(propensity, 1.0)


def agreed(propensity: object, probabilities: Floats, chosen: int) -> float:
    """The propensity that the probabilities of all actions tell; another beside it must be the
    same, but for rounding.
    """
    own = float(probabilities[chosen])
    if propensity is not None:
        told = as_number(propensity, "propensity")
        if not math.isclose(told, own, rel_tol=ROUNDING):
            raise ValueError(f"propensity must be probabilities[{chosen}], {own:g}, got {told:g}")
    return own


def as_share_of_one(value: object, name: str) -> float:
    """A probability."""
    share = as_number(value, name)
    if not 0.0 <= share <= 1.0 + ROUNDING:
        raise ValueError(f"{name} must be a probability, got {share:g}")
    return min(share, 1.0)


def as_probabilities(value: object, count: int, name: str) -> Floats:  # (K,)
    """A distribution over the actions on offer."""
    array = as_floats(value, name)
    if array.shape != (count,):
        raise ValueError(f"{name} must hold one number an action ({count}), got {array.shape}")
    for k in np.flatnonzero((array < 0.0) | (array > 1.0 + ROUNDING))[:1]:
        raise ValueError(f"{name}[{k}] must be a probability, got {array[k]:g}")
    if abs(array.sum() - 1.0) > ROUNDING:
        raise ValueError(f"{name} must sum to 1, got {array.sum():.6g}")
    array.flags.writeable = False
    return array


def as_reward(value: object) -> float:
    """A reward that has come."""
    if value is None:
        raise ValueError(f"reward must be a number of at most {LARGEST:g} in size, got none")
    return as_number(value, "reward")


class LogError(ValueError):
    """What is wrong with a log, and where, in one line."""


class RepeatedIdError(ValueError):
    """An id that was given in two places, the second of which is wrong."""

    def __init__(self, first: int, line: int) -> None:
        super().__init__(f"id must be new, it was given at {first} already: log each decision once")
        self.line = line


def wrong(name: str, unit: str, line: int, why: object) -> LogError:
    """The error that says what is wrong with a log, and where."""
    return LogError(f"{name}, {unit} {line}: {' '.join(str(why).split())}")


@contextmanager
def located(name: str, unit: str, line: int | Callable[[], int]) -> Iterator[None]:
    """Say of any error where in the log it is."""
    try:
        yield
    except LogError:
        raise
    except RepeatedIdError as error:
        raise wrong(name, unit, error.line, error) from None
    except ValueError as error:
        raise wrong(name, unit, line() if callable(line) else line, error) from None
