"""A report on an experiment: one HTML file that holds all it needs, to look at and to pass on.

The page draws itself from the numbers in it. Plotly is inside, compressed: the browser unpacks it
(every one since 2023 can), which makes the file less than half as large.
"""

import base64
import gzip
import html
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from soids.arrays import Floats
from soids.files import write_whole
from soids.output.figures.canvas import REMEDY, played, seeds_in_words
from soids.output.figures.curves import log_limits
from soids.output.figures.looks import lighter, looks
from soids.output.figures.parts import policies_in
from soids.output.figures.sweep import spoken_slope
from soids.output.regret_tables import resolution, rounded
from soids.simulation.figures import ROUND, Figure
from soids.simulation.results import Panel, Part
from soids.simulation.statistics import (
    BETTER,
    WORSE,
    Difference,
    Summary,
    compare,
    curves,
    policies_of,
    ranked,
    reference_of,
    summarise,
)
from soids.simulation.sweeps import rates, series

TEMPLATE = Path(__file__).with_name("report.html.jinja")
DIGITS = 5  # of a number that is drawn


def write_report(
    parts: Sequence[Part],
    title: str,
    settings_text: str,
    versions: Mapping[str, str],
    path: str | os.PathLike[str],
    *,
    remark: str = "",
) -> None:
    """Write the page, whole or not at all."""
    write_whole(Path(path), render(parts, title, settings_text, versions, remark=remark).encode())


def render(
    parts: Sequence[Part],
    title: str,
    settings_text: str,
    versions: Mapping[str, str],
    *,
    remark: str = "",
) -> str:
    """The page as text, the same for the same results: each figure with its tables."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    library = packed_plotly()
    labels = policies_in(parts)
    views = [view(part, labels) for part in parts]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        title=title,
        note=parts[0].note,
        remark=remark,
        seeds=seeds_in_words([panel for part in parts for panel in part.panels]),
        figures=views,
        settings_text=settings_text,
        versions=dict(versions),
        data=[one["drawn"] for one in views],
        plotly=library,
    )


def view(part: Part, labels: Sequence[str]) -> dict[str, Any]:
    """What the page says of one figure: its texts, its tables, and what it draws."""
    figure, panels = part.figure, played(part.panels)
    order = policies_of(panels) if figure.policies else ranked(panels)
    order = [policy for policy in order if policy in ranked(panels)]
    reference = reference_of(panels)
    summaries = [{found.policy: found for found in summarise(panel)} for panel in panels]
    differences = [
        {found.policy: found for found in compare(panel, reference)}
        if reference in panel.runs
        else {}
        for panel in panels
    ]
    return {
        "figure": figure,
        "setting": "" if figure.x == ROUND else figure.x,
        "heads": [panel.title for panel in panels],
        "reference": reference,
        "regrets": grid(order, summaries, regret_cell),
        "differences": grid([p for p in order if p != reference], differences, difference_cell),
        "worst": grid(order, summaries, worst_cell),
        "times": grid(order, summaries, time_cell),
        "drawn": drawn(panels, order, figure, labels),
    }


@cache
def packed_plotly() -> str:
    """Plotly's own code, compressed, in base 64."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()


# What is drawn


def drawn(
    panels: list[Panel], order: list[str], figure: Figure, labels: Sequence[str]
) -> dict[str, Any]:
    """All that a figure draws, as JSON; policies are numbers, by their place in the order."""
    known = looks(policies_of(panels), labels)
    return {
        "scale": figure.scale,
        "policies": [
            {
                "label": escaped(policy),
                "plain": policy,
                "light": known[policy].colour,
                "dark": lighter(known[policy].colour, 0.25),
                "dash": list(known[policy].dash),
            }
            for policy in order
        ],
        "reference": order.index(reference_of(panels)),
        "panels": [drawn_panel(panel, order) for panel in panels],
        "sweeps": [] if figure.x == ROUND else drawn_sweeps(panels, order, figure),
    }


def drawn_panel(panel: Panel, order: list[str]) -> dict[str, Any]:
    """The curves of a problem, and where every seed ended."""
    found = curves(panel, 160)
    low, high = log_limits(list(found.values()))
    return {
        "title": escaped(panel.title),
        "low": low,
        "high": high,
        "curves": [
            {
                "policy": order.index(policy),
                "rounds": curve.rounds.tolist(),
                "mean": short(curve.mean),
                "sd": short(curve.sd),
            }
            for policy, curve in found.items()
        ],
        "finals": [
            {
                "policy": order.index(summary.policy),
                "seeds": panel.runs[summary.policy].seeds.tolist(),
                "regret": short(panel.runs[summary.policy].final),
                "mean": summary.mean,
                "interval": None if math.isnan(summary.low) else [summary.low, summary.high],
            }
            for summary in summarise(panel)
        ],
    }


def drawn_sweeps(panels: list[Panel], order: list[str], figure: Figure) -> list[dict[str, Any]]:
    """Regret against a setting, one picture for each choice of the others."""
    setting, bounds = figure.x, figure.bounds
    groups: dict[str, dict[str, Any]] = {}
    for line in series(panels, setting):
        name = ", ".join(f"{name} = {value}" for name, value in line.others.items())
        if name not in groups:
            groups[name] = {
                "title": escaped(name),
                "setting": escaped(setting),
                "lines": [],
                "rates": [
                    {"name": r.name, "values": r.values.tolist(), "regret": short(r.regret)}
                    for r in (rates(panels, setting, line) if bounds else [])
                ],
            }
        groups[name]["lines"].append(
            {
                "policy": order.index(line.policy),
                "values": line.values.tolist(),
                "mean": short(line.mean),
                "low": short(line.low),
                "high": short(line.high),
                "level": line.level,
                "slope": None if math.isnan(line.slope) else spoken_slope(line),
            }
        )
    return list(groups.values())


def escaped(text: str) -> str:
    """Text in which Plotly sees no tags; quotes it would show as they are written here."""
    return html.escape(text, quote=False)


def short(numbers: Floats) -> list[float | None]:
    """Numbers with as many digits as a picture shows; what is not a number is null."""
    return [None if math.isnan(x) else float(f"{x:.{DIGITS}g}") for x in numbers.tolist()]


# What stands in tables


class Cell(NamedTuple):
    """What a cell says, what it adds in smaller letters, and what kind of news it is."""

    main: str
    small: str = ""
    kind: str = ""


def grid(
    policies: list[str], columns: list[dict[str, Any]], fill: Any
) -> list[tuple[str, list[Cell]]]:
    """Policies down, panels across."""
    return [
        (policy, [fill(column[policy]) if policy in column else Cell("–") for column in columns])
        for policy in policies
    ]


def regret_cell(found: Summary) -> Cell:
    """Mean, standard error and interval."""
    if found.seeds == 1:
        return Cell(rounded(found.mean, found.mean / 100.0), "one seed")
    digits = resolution(found)
    mean, error, low, high = (
        rounded(number, digits) for number in (found.mean, found.error, found.low, found.high)
    )
    return Cell(f"{mean} ± {error}", f"[{low}, {high}]")


def difference_cell(found: Difference) -> Cell:
    """The mean difference and its interval, marked if that excludes zero."""
    ties = f", {found.tied} tied" if found.tied else ""
    count = f"less on {found.won} of {found.seeds} seed{'s' if found.seeds > 1 else ''}{ties}"
    if math.isnan(found.low):
        return Cell(signed(found.mean, found.mean / 100.0), count)
    digits = (found.high - found.low) / 4.0
    if found.verdict in (BETTER, WORSE):  # an end that is not zero must not look like it
        digits = min(digits or math.inf, abs(found.low), abs(found.high))
    low, high = signed(found.low, digits), signed(found.high, digits)
    kind = {BETTER: "better", WORSE: "worse"}.get(found.verdict, "")
    mark = {BETTER: "▼ ", WORSE: "▲ "}.get(found.verdict, "")
    return Cell(f"{mark}{signed(found.mean, digits)} [{low}, {high}]", count, kind)


def signed(number: float, error: float) -> str:
    """A rounded number with its sign, also if it is a plus."""
    text = rounded(number, error)
    return text if number <= 0.0 or not text.strip("0.") else f"+{text}"


def worst_cell(found: Summary) -> Cell:
    """The worst seed, and how far it is from the usual."""
    which = ", ".join(map(str, found.worst_seeds[:3])) + ("…" if len(found.worst_seeds) > 3 else "")
    name = f"seed{'s' if len(found.worst_seeds) > 1 else ''} {which}"
    if found.median <= 0.0:
        return Cell(rounded(found.worst, found.worst / 100.0), name)
    times = found.worst / found.median
    kind = "worse" if times > 2.0 else ""
    return Cell(rounded(found.worst, found.worst / 100.0), f"{name}, {times:.1f} × median", kind)


def time_cell(found: Summary) -> Cell:
    """Milliseconds with two digits that count."""
    size = found.milliseconds
    decimals = 0 if size >= 10.0 else 1 if size >= 1.0 else 2 if size >= 0.1 else 3
    return Cell(f"{size:,.{decimals}f}")
