"""Tables of commands, and where they are printed."""

import os

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from soids.output.table import WIDE, Page


def page() -> Console:
    """Standard output: a terminal as it is, anything else wide, unless COLUMNS says how wide."""
    console = Page(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console


def framed(title: str) -> Table:
    """An empty table in the look of all commands."""
    return Table(title=escape(title), box=box.SIMPLE, pad_edge=False)
