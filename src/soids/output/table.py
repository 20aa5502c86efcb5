"""One record for every table, and its renderers: Markdown, LaTeX, CSV, HTML and the console."""

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from soids.features.columns import is_numeral

WIDE = 140  # characters: a file can be as wide as a table
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a formula of a spreadsheet begins


class Table(NamedTuple):
    """Rows of texts and numbers under their heads; a cell of None is empty.

    An empty row separates groups of rows on the console, and is left out everywhere else.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""
    note: str = ""  # printed below the table
    labels: int = 1  # number of leading columns that hold text, and are aligned to the left

    def __str__(self) -> str:
        """The table as the console shows it, in plain text."""
        text = io.StringIO()
        console = Page(file=text, width=WIDE, color_system=None, highlight=False)
        console.print(as_console(self))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).strip("\n")


class Page(Console):
    """A console on which no text can act: control characters are shown, not sent."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The text that a string becomes, wherever it stands."""
        return super().render_str(visible(text), **options)


def visible(text: str) -> str:
    """Text in which control characters stand as their codes; tabs and line breaks stay.

    >>> print(visible("\\x1b[31mred"))
    \\x1b[31mred
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def as_csv(table: Table) -> str:
    """Comma-separated values; floats are written so that reading gives the same float."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_harmless, table.heads))
    writer.writerows(map(_harmless, row) for row in table.rows if row)
    return text.getvalue()


def _harmless(cell: object) -> object:
    """A cell for CSV; an apostrophe stands before text that a spreadsheet would compute."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    is_formula = cell.startswith(FORMULA) and not is_numeral(cell)
    return visible(f"'{cell}" if is_formula else cell)


def as_markdown(table: Table) -> str:
    """A table for a page, with its title in bold above it."""
    heads, *rows = _texts(table, _markdown)
    rule = ["---" if place < table.labels else "--:" for place in range(len(heads))]
    lines = "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *rows))
    return f"**{_markdown(table.title)}**\n\n{lines}" if table.title else lines


def as_latex(table: Table) -> str:
    """A table for a paper that uses ``booktabs``, with its title as a comment above it."""
    heads, *rows = [" & ".join(line) + r" \\" for line in _texts(table, _latex)]
    columns = "l" * table.labels + "r" * (len(table.heads) - table.labels)
    return "\n".join(
        [
            *([f"% {_one_line(table.title)}"] if table.title else []),
            rf"\begin{{tabular}}{{{columns}}}", r"\toprule", heads, r"\midrule", *rows,
            r"\bottomrule", r"\end{tabular}", "",
        ]
    )  # fmt: skip


def as_html(table: Table) -> str:
    """A table for a web page, with its title as the caption; cells may have their ``__html__``."""
    heads, *rows = _texts(table, _html)
    caption = f"<caption>{html.escape(table.title)}</caption>\n" if table.title else ""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(f"<tr>{_html_cells(row, table.labels)}</tr>\n" for row in rows)
    return f"<table>\n{caption}<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def as_console(table: Table) -> RichTable:
    """A table for a terminal."""
    shown = RichTable(
        title=escape(table.title) or None, caption=escape(table.note) or None, box=box.SIMPLE,
        caption_justify="left", pad_edge=False, show_header=any(table.heads),
    )  # fmt: skip
    heads, *rows = _texts(table, lambda cell: escape(str(cell)))
    for place, head in enumerate(heads):
        shown.add_column(head, justify="left" if place < table.labels else "right")
    texts = iter(rows)
    for row in table.rows:
        if row:
            shown.add_row(*next(texts))
        else:
            shown.add_section()
    return shown


def _texts(table: Table, written: Callable[[object], str]) -> list[list[str]]:
    """All rows as texts, the heads first, without empty rows."""
    rows = (table.heads, *filter(None, table.rows))
    return [["" if cell is None else written(cell) for cell in row] for row in rows]


def _markdown(cell: object) -> str:
    """A cell in which Markdown sees nothing but letters."""
    return _one_line(re.sub(r"([\\|<*_`])", r"\\\1", str(cell)))


def _html(cell: object) -> str:
    """A cell as it describes itself in HTML, or as plain text."""
    return str(cell.__html__()) if hasattr(cell, "__html__") else html.escape(str(cell))


def _html_cells(row: list[str], labels: int) -> str:
    heads = "".join(f'<th scope="row">{cell}</th>' for cell in row[:labels])
    return heads + "".join(f"<td>{cell}</td>" for cell in row[labels:])


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$", "−": r"$-$",
    "–": "--", "[": "{[}", "]": "{]}",
}  # fmt: skip


def _latex(cell: object) -> str:
    """A cell in which LaTeX sees nothing but letters."""
    return "".join(LATEX.get(letter, letter) for letter in _one_line(str(cell)))


def _one_line(text: str) -> str:
    """Text without line breaks, which would end a row."""
    return visible(" ".join(text.split()))
