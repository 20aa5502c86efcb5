"""Reading an experiment file: what a key may hold, lists as sweeps, errors of one line."""

import inspect
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from typing import Any

from soids.spelling import meant

NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ExperimentError(ValueError):
    """What is wrong with an experiment, and where, in one line."""


@contextmanager
def located(place: str) -> Iterator[None]:
    """Say where in the experiment an error comes from."""
    try:
        yield
    except ValueError as error:
        raise ExperimentError(f"{place}: {error}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of a policy that may be anyone's
        line = str(error).partition("\n")[0]
        raise ExperimentError(f"{place}: {type(error).__name__}: {line}") from None


def sweep(settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every choice of one value from each list."""
    choices = []
    for name, value in settings.items():
        with located(name):
            choices.append(as_choices(value))
    for values in itertools.product(*choices):
        yield dict(zip(settings, values, strict=True))


def as_choices(value: Any) -> list[Any]:
    """The values of a sweep; what is no list is its own only choice."""
    if value == []:
        raise ValueError("a sweep must hold at least one value, got []")
    choices = value if isinstance(value, list) else [value]
    for one in choices:
        if isinstance(one, date | time) or one != one:
            raise ValueError(f"must be a number, a text, a list or a table, got {one}")
    return choices


def short(value: object) -> str:
    """A value for a label: 1.0 is 1, but what is not round keeps all its digits."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def as_text(value: object, where: str) -> str:
    """A text of the file."""
    if not isinstance(value, str):
        raise ValueError(f"{where} must be a text, got {value!r}")
    return value


def as_table(value: object, where: str) -> Mapping[str, Any]:
    """A table of the file."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a table, got {value!r}")
    return value


def as_blocks(value: object, name: str) -> Iterator[tuple[str, object]]:
    """A table, or each of several, with its place in the file."""
    several = value if isinstance(value, list) else [value]
    if not several:
        raise ValueError(f"{name} must be a table or several, such as [[{name}]], got []")
    for number, block in enumerate(several, 1):
        yield name if len(several) == 1 else f"{name} {number}", block


def only(
    table: Mapping[str, Any], keys: Collection[str], where: str, required: Iterable[str] = ()
) -> None:
    """Refuse a table with keys that nobody reads, or without one that it needs."""
    for key in table:
        if key not in keys:
            raise ValueError(f"{where} has the keys {', '.join(keys)}{meant(key, keys)}")
    for key in required:
        if key not in table:
            raise ValueError(f"{key} is missing")


def only_once(names: list[str], kind: str, what: str) -> None:
    """Refuse what tables and figures could not tell apart."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{kind} must each have a {what} of their own, got {twice!r} twice")


def check_settings(
    make: Callable[..., Any], names: Collection[str], passed: Collection[str],
    remedy: Callable[[str], str] = lambda name: "",
) -> None:  # fmt: skip
    """Refuse settings that a class or function does not take, and the lack of one it needs."""
    parameters = inspect.signature(make).parameters
    takes = [name for name in parameters if name not in passed]
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    for name in names:
        if name not in takes and not takes_all:
            raise ValueError(f"settings are {', '.join(takes) or 'none'}{meant(name, takes)}")
    for name in takes:
        one = parameters[name]
        if one.default is one.empty and one.kind in NAMED and name not in names:
            raise ValueError(f"{name} is missing{remedy(name)}")
