"""One record for tables, and its renderers."""

import csv
import io

import pytest
from rich.console import Console

from soids.output.table import (
    CONTROL,
    Page,
    Table,
    as_console,
    as_csv,
    as_html,
    as_latex,
    as_markdown,
    visible,
)

TABLE = Table(
    ["", "a | b", "x_1"],
    [["<i>", 0.1, None], [], ["[red]", 1 / 3, "50 % & more"]],
    title="Two\nlines",
    note="A note.",
)


def printed(table):
    console = Console(width=80, file=io.StringIO())
    console.print(as_console(table))
    return console.file.getvalue()


def test_a_table_is_printed_as_on_the_console_without_colours():
    shown = str(TABLE).splitlines()
    assert [line.strip() for line in shown[:2]] == ["Two", "lines"]
    assert any(line.split()[-1:] == ["0.3333333333333333"] or "[red]" in line for line in shown)
    assert shown[-1] == "A note."
    assert "\x1b" not in str(TABLE)


def test_numbers_survive_the_csv_and_empty_cells_are_empty():
    heads, *rows = csv.reader(io.StringIO(as_csv(TABLE)))
    assert heads == TABLE.heads
    assert rows == [["<i>", "0.1", ""], ["[red]", repr(1 / 3), "50 % & more"]]
    assert float(rows[1][1]) == 1 / 3


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+2", "'=1+2"), ("+cmd", "'+cmd"), ("-A1", "'-A1"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "'\\r=1"), ("-1.5", "-1.5"), ("+1e-3", "+1e-3"),
        (-1.5, "-1.5"), ("a=b", "a=b"), ("", ""), ("\x1b[31m", "\\x1b[31m"),
    ],
)  # fmt: skip
def test_no_cell_of_a_csv_is_a_formula(cell, written):
    text = as_csv(Table([cell, "b"], [[cell, 1.0]]))
    heads, row = csv.reader(io.StringIO(text, newline=""))
    assert [heads[0], row[0]] == [written, written]


HOSTILE = "a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\rc"
SHOWN = r"a\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\rc"


def test_control_characters_are_shown_and_not_sent():
    table = Table([HOSTILE, "b"], [[HOSTILE, 1]], title=HOSTILE, note=HOSTILE)
    assert visible(HOSTILE) == SHOWN
    assert visible("tab\tand\nbreak, ü and 中") == "tab\tand\nbreak, ü and 中"
    page = Page(width=200, file=io.StringIO(), force_terminal=True, color_system=None)
    page.print(as_console(table))
    page.print(HOSTILE, markup=False)
    page.print(HOSTILE)
    for text in (page.file.getvalue(), str(table), as_csv(table), as_markdown(table)):
        assert not CONTROL.search(text)
    assert page.file.getvalue().count(SHOWN) == 6
    assert not CONTROL.search(as_latex(table))


def test_markdown_aligns_numbers_to_the_right_and_escapes_its_signs():
    title, _, heads, rule, *rows = as_markdown(TABLE).splitlines()
    assert title == "**Two lines**"
    assert heads == r"|  | a \| b | x\_1 |"
    assert rule == "| --- | --: | --: |"
    assert rows[0] == r"| \<i> | 0.1 |  |"
    assert len(rows) == 2


def test_latex_is_a_tabular_of_booktabs_under_a_comment():
    text = as_latex(TABLE)
    assert text.startswith(
        "% Two lines\n\\begin{tabular}{lrr}\n\\toprule\n & a \\textbar{} b & x\\_1"
    )
    assert r"{[}red{]}" in text
    assert r"50 \% \& more \\" in text
    assert text.count(r"\\") == 3


def test_html_has_a_caption_heads_of_rows_and_nothing_but_text_in_its_cells():
    page = as_html(TABLE)
    assert "<caption>Two\nlines</caption>" in page
    assert '<tr><th scope="row">&lt;i&gt;</th><td>0.1</td><td></td></tr>' in page
    assert page.count("<tr>") == page.count("</tr>") == 3


def test_a_cell_may_write_its_own_html():
    class Strong:
        def __html__(self):
            return "<b>!</b>"

    assert "<td><b>!</b></td>" in as_html(Table(["", ""], [["a", Strong()]]))


def test_the_console_shows_labels_as_they_are_and_separates_groups():
    lines = printed(TABLE).splitlines()
    assert any("[red]" in line for line in lines)
    assert lines[-1].strip() == "A note."
    apart = printed(TABLE._replace(rows=[row for row in TABLE.rows if row])).splitlines()
    assert len(lines) == len(apart) + 1


@pytest.mark.parametrize(("heads", "shown"), [(["", ""], False), (["", "b"], True)])
def test_heads_without_text_are_not_shown(heads, shown):
    assert ("─" in printed(Table(heads, [["x", 1]]))) == shown
