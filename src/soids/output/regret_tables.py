"""Results as text: tables to print and files of numbers, byte for byte the same for the same runs.

Times differ from run to run, so they have a file of their own.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from soids.simulation.results import Panel
from soids.simulation.statistics import (
    Difference,
    Summary,
    compare,
    curves,
    policies_of,
    reference_of,
    summarise,
)
from soids.simulation.sweeps import series

# Files of numbers


def regret_csv(panels: list[Panel]) -> str:
    """One line a trial: the problem, the policy, the seed, and the regret at the horizon."""
    return trials_csv(panels, "regret", lambda runs: runs.final)


def times_csv(panels: list[Panel]) -> str:
    """One line a trial: what its decisions took, in seconds."""
    return trials_csv(panels, "seconds", lambda runs: runs.seconds)


def trials_csv(panels: list[Panel], name: str, column: Callable[[Any], Any]) -> str:
    """One line a trial, with one of its numbers."""
    settings = list(dict.fromkeys(setting for panel in panels for setting in panel.problem))
    rows: list[Sequence[object]] = []
    for panel in panels:
        problem = [panel.problem.get(setting) for setting in settings]
        for policy, runs in panel.runs.items():
            pairs = zip(runs.seeds.tolist(), column(runs).tolist(), strict=True)
            rows += [(*problem, policy, seed, number) for seed, number in sorted(pairs)]
    return as_csv([*settings, "policy", "seed", name], rows)


def curves_csv(panels: list[Panel], points: int = 200) -> str:
    """One line for every panel, policy and round that is drawn."""
    rows: list[Sequence[object]] = []
    for panel in panels:
        for policy, curve in curves(panel, points).items():
            columns = zip(*(column.tolist() for column in curve), strict=True)
            rows += [(panel.title, policy, *numbers) for numbers in columns]
    names = ("panel", "policy", "round", "mean", "sd", "quantile_10", "median", "quantile_90")
    return as_csv(names, rows)


def summary_csv(panels: list[Panel], level: float = 0.95) -> str:
    """One line for every panel and policy: all of its summary but the time."""
    names = [name for name in Summary._fields if name != "milliseconds"]
    rows = [
        [" ".join(map(str, value)) if isinstance(value, tuple) else value for value in found[:-1]]
        for panel in panels
        for found in summarise(panel, level)
    ]
    return as_csv(names, rows)


def comparison_csv(figures: list[list[Panel]], level: float = 0.95) -> str:
    """One line for every panel and policy of each figure: its paired difference from the first.

    Figures that have the same first policy do not repeat each other.
    """
    rows = dict[tuple[str, str, str], Difference]()
    for panels in figures:
        reference = reference_of(panels)
        for panel in panels:
            if reference in panel.runs:
                for found in compare(panel, reference, level):
                    rows[found.panel, found.policy, found.reference] = found
    return as_csv(Difference._fields, rows.values())


def sweep_csv(panels: list[Panel], setting: str, level: float = 0.95) -> str:
    """One line for every policy and value of a setting that was swept, with the line's slope."""
    lines = series(panels, setting, level)
    others = list(dict.fromkeys(name for line in lines for name in line.others))
    rows: list[Sequence[object]] = []
    for line in lines:
        fixed = [line.others.get(name) for name in others]
        for numbers in zip(line.values, line.mean, line.low, line.high, strict=True):
            slope = (line.slope, line.slope_low, line.slope_high)
            rows.append((*fixed, line.policy, *map(float, numbers), *slope))
    names = (setting, "mean", "low", "high", "slope", "slope_low", "slope_high")
    return as_csv([*others, "policy", *names], rows)


def as_csv(names: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Comma-separated text; floats are written so that reading gives the same float."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return text.getvalue()


# Tables to print


def cell(found: Summary, most: int) -> str:
    """Mean ± standard error and the worst seed in brackets; fewer seeds than others are told."""
    fewer = f" ({found.seeds} of {most} seeds)" if found.seeds < most else ""
    if found.seeds == 1:
        return rounded(found.mean, found.mean / 100.0) + fewer
    mean, error, worst = (
        rounded(number, resolution(found)) for number in (found.mean, found.error, found.worst)
    )
    return f"{mean} ± {error} [{worst}]{fewer}"


def resolution(found: Summary) -> float:
    """The error to round by: a tiny one does not earn five digits."""
    return max(found.error, found.mean / 2000.0) if found.error else found.mean / 100.0


def rounded(number: float, error: float) -> str:
    """A number with the digits that its error leaves, thousands apart.

    >>> rounded(1130.4, 37.2), rounded(47.34, 0.42)
    ('1,130', '47.3')
    """
    decimals = 0 if abs(error) >= 1.0 else 1 if abs(error) >= 0.1 else 2
    text = f"{number:,.{decimals}f}"
    return text.replace("-", "−" if text.strip("-0.") else "")


def grid(panels: list[Panel]) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of a table: policies down, panels across."""
    found = [summarise(panel) for panel in panels]
    most = max((one.seeds for summaries in found for one in summaries), default=0)
    columns = [{one.policy: cell(one, most) for one in summaries} for summaries in found]
    rows = [
        [policy, *(column.get(policy, "–") for column in columns)] for policy in policies_of(panels)
    ]
    return ["", *(panel.title for panel in panels)], rows


def as_markdown(panels: list[Panel], title: str = "") -> str:
    """Mean regret ± standard error [worst seed], for a page; under a title, if there is one."""
    heads, rows = grid(panels)
    heads, *lines = [[plain(text) for text in row] for row in (heads, *rows)]
    rule = ["---", *(["--:"] * (len(heads) - 1))]
    table = "".join(f"| {' | '.join(line)} |\n" for line in (heads, rule, *lines))
    return f"**{plain(title)}**\n\n{table}" if title else table


def plain(text: str) -> str:
    """Text in which Markdown sees nothing but letters."""
    return one_line(re.sub(r"([\\|<*_`])", r"\\\1", text))


LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "±": r"$\pm$", "−": r"$-$",
    "–": "--", "[": "{[}", "]": "{]}",
}  # fmt: skip


def as_latex(panels: list[Panel], title: str = "") -> str:
    r"""The same for a paper that uses ``booktabs``; a title is a comment above the table."""
    heads, rows = grid(panels)
    lines = [" & ".join(map(escaped, line)) + r" \\" for line in (heads, *rows)]
    return "\n".join(
        [
            *([f"% {one_line(title)}"] if title else []),
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Text in which LaTeX sees nothing but letters."""
    return "".join(LATEX.get(letter, letter) for letter in one_line(text))


def one_line(text: str) -> str:
    """Text without breaks, which would end a row."""
    return " ".join(text.split())
