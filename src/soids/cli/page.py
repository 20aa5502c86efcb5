"""Where commands print their tables."""

import os

from rich.console import Console

WIDE = 140  # characters: a file can be as wide as a table


def page() -> Console:
    """Standard output: a terminal as it is, anything else wide, unless COLUMNS says how wide."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console
