"""Names that must be known or differ, and suggestions for misspelled ones."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

ALIKE = 0.66  # smallest similarity of a suggestion: one wrong letter of three is accepted


def meant(name: object, known: Iterable[str]) -> str:
    """The end of an error message: the name given, and the most similar known one.

    >>> meant("sods", ["soids", "uniform"])
    ", got 'sods': did you mean 'soids'?"
    """
    near = get_close_matches(str(name), list(known), n=1, cutoff=ALIKE)
    return f", got {name!r}" + (f": did you mean {near[0]!r}?" if near else "")


def check_choice(value: object, name: str, known: Iterable[str]) -> None:
    """Refuse what is not one of the known names."""
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name} must be one of {', '.join(names)}{meant(value, names)}")


def as_names(names: Any, what: str) -> tuple[str, ...]:
    """A list of different names."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise ValueError(f"{what} must be a list of names, got {names!r}")
    found = tuple(names)
    for one in found:
        if not isinstance(one, str):
            raise ValueError(f"{what} must be texts, got {one!r}: use str()")
    if len(set(found)) < len(found):
        twice = next(one for one in found if found.count(one) > 1)
        raise ValueError(f"{what} must differ, got {twice!r} twice")
    return found
