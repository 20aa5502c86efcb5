"""Suggestions for misspelled names."""

from collections.abc import Iterable
from difflib import get_close_matches

ALIKE = 0.66  # least similarity of a suggestion: one wrong letter of three is similar enough


def meant(name: object, known: Iterable[str]) -> str:
    """The end of an error message: the name that was got, and the most similar known one.

    >>> meant("sods", ["soids", "uniform"])
    ", got 'sods': did you mean 'soids'?"
    """
    near = get_close_matches(str(name), list(known), n=1, cutoff=ALIKE)
    return f", got {name!r}" + (f": did you mean {near[0]!r}?" if near else "")
