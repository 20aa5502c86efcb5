"""What someone may have meant who wrote a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches

ALIKE = 0.66  # least similarity of a guess: one wrong letter of three, not "there" in a long name


def meant(name: object, known: Iterable[str]) -> str:
    """The end of an error message: what was got, and what comes near it.

    >>> meant("sods", ["soids", "uniform"])
    ", got 'sods': did you mean 'soids'?"
    """
    near = get_close_matches(str(name), list(known), n=1, cutoff=ALIKE)
    return f", got {name!r}" + (f": did you mean {near[0]!r}?" if near else "")
