"""Stored tables as Markdown: pure functions of a table and of the options in a page's marker.

Options (TOML, in the comment that opens a block)
    layout     "regret" (policies down, problems across), "sweep" or "plain"; by default what fits.
               "lines" puts numbers into sentences
    rows       labels to show, in this order; a table gives them other names
    columns    the same for problems; for "plain" {head = "{column} ± {other:.2f}"}, or a list of
               such templates, of which the first counts whose columns all have values
    cells      for "regret", of each problem: regret, mean, interval, worst, difference, ms
    ms         for "regret", whether a last column has the milliseconds of the last problem
    stack      for "regret", whether problems stand below each other
    transpose  for "regret", problems down and policies across
    where      for "plain", the rows whose columns have these values
    blank      for "plain", {head = {column = limit}}: nothing where the column exceeds the limit
    head       of the first column
    lines      for "lines", sentences with {name} for each number
    numbers    for "lines", {name = {column = "mean", policy = "SOIDS", panel = "dimension = 20"}}:
               the column, and what other columns hold in its row
    origin     whether the last line says where the numbers come from (true)
"""

import datetime
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from soids.output.regret_tables import rounded
from stored import Stored

Options = Mapping[str, Any]
Row = Mapping[str, str]
SHORT = {"dimension": "d", "horizon": "T", "sparsity": "s", "actions": "K"}
COMMON = {
    "layout", "rows", "columns", "cells", "ms", "stack", "transpose", "where", "blank", "head",
    "lines", "numbers", "origin",
}  # fmt: skip


def as_markdown(table: Stored, options: Options) -> str:
    """A stored table as a page shows it."""
    if unknown := set(options) - COMMON:
        raise ValueError(f"options must be among {sorted(COMMON)}, got {sorted(unknown)}")
    layout = options.get("layout", fitting(table))
    foot = f"\n{source(table.origin)}\n" if options.get("origin", True) else ""
    if layout == "lines":
        return "".join(f"{line}\n" for line in sentences(table, options)) + foot
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
    lines = LAYOUTS[layout](table, options)
    if options.get("transpose", False):
        lines = [list(line) for line in zip(*lines, strict=True)]
    return in_pipes(lines) + foot


def fitting(table: Stored) -> str:
    """The layout for a table's columns."""
    columns = set(table.columns)
    if {"panel", "policy", "mean", "error"} <= columns:
        return "regret"
    return "sweep" if {"policy", "mean", "slope"} <= columns else "plain"


def in_pipes(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right."""
    heads, *rows = lines
    right = [
        all(re.match(r"\**[−+-]?\d|–?$", row[i]) for row in rows) and i > 0
        for i in range(len(heads))
    ]
    rule = ["--:" if one else "---" for one in right]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *rows))


def source(origin: Mapping[str, str]) -> str:
    """The line under a table that says where its numbers come from."""
    day = datetime.date.fromisoformat(origin["date"])
    command = origin["command"]
    renamed = re.sub("^soids bench", "python -m benchmarks", command)  # as it is called now
    then = f" (then `{command}`)" if renamed != command else ""
    parts = [f"`{renamed}`{then}", f"commit {origin['commit'][:7]}"]
    parts.append(f"{day.day} {day:%B %Y}")
    if "seeds" in origin:
        parts.insert(0, f"seeds {origin['seeds']}")
    return f"<sub>{'; '.join(parts)}</sub>"


def plainly(text: str) -> str:
    """Text in which Markdown sees nothing but letters."""
    return re.sub(r"([\\|<*_`])", r"\\\1", text)


def selected(asked: Any, there: Iterable[str], what: str) -> dict[str, str]:
    """What is shown of the labels that are there, and under which names."""
    known = list(dict.fromkeys(there))
    if asked is None:
        return {label: plainly(label) for label in known}
    chosen = dict(asked) if isinstance(asked, Mapping) else {label: "" for label in asked}
    if missing := [label for label in chosen if label not in known]:
        raise ValueError(f"{what} must be among {known}, got {missing}")
    return {label: name or plainly(label) for label, name in chosen.items()}


# Policies down, problems across


def regret(table: Stored, options: Options) -> list[list[str]]:
    """What each policy pays on each problem."""
    rows = {(row["panel"], row["policy"]): row for row in table.rows}
    panels = selected(options.get("columns"), (panel for panel, _ in rows), "columns")
    policies = selected(options.get("rows"), (policy for _, policy in rows), "rows")
    kinds = options.get("cells", ["regret"])
    if wrong := [kind for kind in kinds if kind not in CELLS]:
        raise ValueError(f"cells must be among {sorted(CELLS)}, got {wrong}")
    most = max(int(row["seeds"]) for row in rows.values())
    reference = plainly(table.origin.get("reference", ""))

    def cells(panel: str, policy: str) -> list[str]:
        row = rows.get((panel, policy))
        return [CELLS[kind](row, most) if row else "–" for kind in kinds]

    words = [KINDS[kind].format(reference) for kind in kinds]
    first = options.get("head", "")
    if options.get("stack", False):
        lines = [[first, *words]]
        for panel, title in panels.items():
            lines.append([f"**{in_short(title)}**", *([""] * len(kinds))])
            lines += [[label, *cells(panel, policy)] for policy, label in policies.items()]
        return lines
    heads = [
        word if len(panels) == 1 else in_short(title) if not i else f"{in_short(title)}: {word}"
        for title in panels.values()
        for i, word in enumerate(words)
    ]
    lines = [[first, *heads]]
    for policy, label in policies.items():
        lines.append([label, *(cell for panel in panels for cell in cells(panel, policy))])
    if options.get("ms", False):
        found = [rows.get((list(panels)[-1], policy)) for policy in policies]
        column = [milliseconds(row, most) if row else "–" for row in found]
        lines = [[*line, cell] for line, cell in zip(lines, ["ms", *column], strict=True)]
    return lines


def in_short(title: str) -> str:
    """The title of a problem in the letters of the paper, such as d = 20."""
    return re.sub(r"\b(\w+)(?= =)", lambda match: SHORT.get(match[1], match[1]), title)


def of_all(row: Row, most: int) -> str:
    """How many seeds there are, if fewer than elsewhere."""
    return f" ({row['seeds']} of {most} seeds)" if int(row["seeds"]) < most else ""


def resolution(row: Row) -> float:
    """The error to round by."""
    mean = float(row["mean"])
    return max(float(row["error"]), mean / 2000.0) if row["error"] else mean / 100.0


def mean_cell(row: Row, most: int) -> str:
    """Mean ± standard error."""
    mean, digits = rounded(float(row["mean"]), resolution(row)), resolution(row)
    error = f" ± {rounded(float(row['error']), digits)}" if row["error"] else ""
    return mean + error + of_all(row, most)


def regret_cell(row: Row, most: int) -> str:
    """Mean ± standard error [worst seed]."""
    return f"{mean_cell(row, 0)} [{worst_cell(row, most)}]{of_all(row, most)}"


def worst_cell(row: Row, most: int) -> str:
    """The worst seed."""
    return rounded(float(row["worst"]), resolution(row))


def interval_cell(row: Row, most: int) -> str:
    """Mean and its interval."""
    return in_brackets(row, ("mean", "low", "high"), resolution(row)) + of_all(row, most)


def difference_cell(row: Row, most: int) -> str:
    """The paired difference from the reference, and its interval."""
    if not row["difference"]:
        return ""
    half = (float(row["difference_high"]) - float(row["difference_low"])) / 4.0
    names = ("difference", "difference_low", "difference_high")
    text = in_brackets(row, names, half)
    return text if text.startswith("−") else f"+{text}"


def in_brackets(row: Row, names: Sequence[str], error: float) -> str:
    """A number and the ends of its interval."""
    middle, *ends = (rounded(float(row[name]), error) if row[name] else "" for name in names)
    return f"{middle} [{', '.join(ends)}]" if all(ends) else middle


def milliseconds(row: Row, most: int) -> str:
    """The processor time of a round."""
    return brief(float(row["ms"]))


KINDS = {  # as the head of a column says them
    "regret": "regret",
    "mean": "regret",
    "interval": "regret [95 %]",
    "worst": "worst seed",
    "difference": "minus {} [95 %]",
    "ms": "ms",
}
CELLS: dict[str, Callable[[Row, int], str]] = {
    "regret": regret_cell,
    "mean": mean_cell,
    "interval": interval_cell,
    "worst": worst_cell,
    "difference": difference_cell,
    "ms": milliseconds,
}


# A setting across


def sweep(table: Stored, options: Options) -> list[list[str]]:
    """Mean regret [interval] at each value of a setting, and the slope on logarithms."""
    setting = table.columns[table.columns.index("policy") + 1]
    others = table.columns[: table.columns.index("policy")]
    values = list(dict.fromkeys(row[setting] for row in table.rows))
    policies = selected(options.get("rows"), (row["policy"] for row in table.rows), "rows")
    groups: dict[str, dict[str, dict[str, Row]]] = {}
    for row in table.rows:
        group = ", ".join(f"{SHORT.get(name, name)} = {row[name]}" for name in others if row[name])
        groups.setdefault(group, {}).setdefault(row["policy"], {})[row[setting]] = row
    names = selected(options.get("columns"), groups, "columns")
    short = SHORT.get(setting, setting)
    lines = [[options.get("head", ""), *(f"{short} = {value}" for value in values), "slope"]]
    for group, name in names.items():
        if len(groups) > 1:
            lines.append([f"**{name}**", *([""] * (len(values) + 1))])
        for policy, label in policies.items():
            found = groups[group].get(policy, {})
            if found:
                slope = in_brackets(
                    next(iter(found.values())), ("slope", "slope_low", "slope_high"), 0.01
                )
                cells = [swept_cell(found.get(value)) for value in values]
                lines.append([label, *cells, slope])
    return lines


def swept_cell(row: Row | None) -> str:
    """Mean and interval at one value."""
    if row is None:
        return "–"
    half = (float(row["high"]) - float(row["low"])) / 4.0 if row["low"] else 0.0
    return in_brackets(row, ("mean", "low", "high"), half or float(row["mean"]) / 100.0)


# As it is stored


def brief(number: float) -> str:
    """Two digits, or all before the point.

    >>> brief(0.01234), brief(1.234), brief(1234.5)
    ('0.012', '1.2', '1,234')
    """
    return f"{number:,.0f}" if abs(number) >= 10.0 else f"{number:.2g}"


class Brief(string.Formatter):
    """Formatting in which plain floats are brief, and integers have their thousands apart."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec == "" and isinstance(value, float):
            text = brief(value)
        elif format_spec == "" and isinstance(value, int):
            text = f"{value:,}"
        else:
            text = super().format_field(value, format_spec)
        return text.replace("-", "−") if isinstance(value, int | float) else text


def parsed(text: str) -> Any:
    """A field as a number, if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def plain(table: Stored, options: Options) -> list[list[str]]:
    """The columns as they are, or put together by templates."""
    where = {name: str(value) for name, value in options.get("where", {}).items()}
    if strange := set(where) - set(table.columns):
        raise ValueError(f"where must name columns of {table.columns}, got {sorted(strange)}")
    asked = options.get("columns", table.columns)
    if not isinstance(asked, Mapping):
        asked = {name: f"{{{name}}}" for name in asked}
    rows = [row for row in table.rows if all(row[name] == value for name, value in where.items())]
    if not rows:
        raise ValueError(f"where must leave a row, got {where}")
    limits = options.get("blank", {})
    lines = [
        [
            "" if exceeds(row, limits.get(head, {})) else filled(template, row)
            for head, template in asked.items()
        ]
        for row in rows
    ]
    return [[plainly(head) for head in asked], *lines]


def exceeds(row: Row, limits: Mapping[str, float]) -> bool:
    """Whether a column is above its limit."""
    return any(float(row[name]) > limit for name, limit in limits.items())


def filled(template: str | list[str], row: Row) -> str:
    """The first template whose fields all have values, with these in place."""
    for one in [template] if isinstance(template, str) else template:
        fields = [name for _, name, _, _ in string.Formatter().parse(one) if name]
        if missing := [name for name in fields if name not in row]:
            raise ValueError(f"columns must be made of {list(row)}, got {missing}")
        if not any(row[name] in ("", "nan") for name in fields):
            return Brief().vformat(one, (), {name: parsed(row[name]) for name in fields})
    return ""


def sentences(table: Stored, options: Options) -> list[str]:
    """Sentences with numbers of the table in place."""
    numbers = {
        name: parsed(one_field(table, **where))
        for name, where in options.get("numbers", {}).items()
    }
    try:
        return [Brief().vformat(line, (), numbers) for line in options.get("lines", [])]
    except KeyError as error:
        raise ValueError(f"numbers must name {error}, got {list(numbers)}") from None


def one_field(table: Stored, *, column: str, **where: str) -> str:
    """The field of a column in the only row whose other columns hold this."""
    if unknown := {column, *where} - set(table.columns):
        raise ValueError(f"numbers must be of columns {table.columns}, got {sorted(unknown)}")
    rows = [row for row in table.rows if all(row[name] == value for name, value in where.items())]
    if len(rows) != 1:
        raise ValueError(f"numbers must be of one row each, got {len(rows)} for {where}")
    return rows[0][column]


LAYOUTS: dict[str, Callable[[Stored, Options], list[list[str]]]] = {
    "regret": regret,
    "sweep": sweep,
    "plain": plain,
}
