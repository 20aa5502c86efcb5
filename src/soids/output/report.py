"""A report on an experiment: one HTML file that works offline and can be passed on.

The page draws itself from the numbers in it. Plotly is inside, compressed: the browser unpacks it
(all browsers since 2023 can), which makes the file less than half as large.
"""

import base64
import gzip
import html
import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from soids.arrays import Floats
from soids.output.figures.canvas import REMEDY, played, seeds_in_words
from soids.output.figures.curves import log_limits
from soids.output.figures.looks import lighter, looks
from soids.output.figures.sweep import slope_in_words
from soids.output.regret_tables import rounded, rounded_alike, side_by_side
from soids.output.table import as_html
from soids.simulation import statistics
from soids.simulation.figures import ROUND, Figure
from soids.simulation.results import Panel, Part, policies_of
from soids.simulation.statistics import BETTER, WORSE, Difference, Summary
from soids.simulation.sweeps import grouped, rates

TEMPLATE = Path(__file__).with_name("report.html.jinja")
DIGITS = 5  # of a number that is drawn


def render(
    parts: Sequence[Part], title: str, settings_text: str, versions: Mapping[str, str],
    remark: str = "",
) -> str:  # fmt: skip
    """The page as text, the same for the same results: each figure with its tables."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    library = packed_plotly()
    labels = policies_of([panel for part in parts for panel in part.panels])
    views = [view(part, labels) for part in parts]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["as_html"] = as_html
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        title=title, note=parts[0].note, remark=remark, figures=views, plotly=library,
        seeds=seeds_in_words([panel for part in parts for panel in part.panels]),
        settings_text=settings_text, versions=versions, data=[one["drawn"] for one in views],
    )  # fmt: skip


@cache
def packed_plotly() -> str:
    """The code of Plotly, compressed, in base 64."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()


def view(part: Part, labels: Sequence[str]) -> dict[str, Any]:
    """What the page shows of one figure: its texts, its tables, and what it draws."""
    panels, order = played(part.panels), statistics.order_of(part)
    reference = statistics.reference_of(panels)
    others = [policy for policy in order if policy != reference]
    summaries = [statistics.summarise(panel) for panel in panels]
    differences = [
        statistics.compare(panel, reference) if reference in panel.runs else [] for panel in panels
    ]
    table = partial(side_by_side, panels, head="policy")
    apart = f"Paired differences from {reference}"
    return {
        "figure": part.figure,
        "setting": "" if part.figure.x == ROUND else part.figure.x,
        "reference": reference,
        "regrets": table(order, summaries, regret_cell, "Final regret on each problem"),
        "differences": table(others, differences, difference_cell, apart),
        "worst": table(order, summaries, worst_cell, "Worst seed on each problem"),
        "times": table(order, summaries, time_cell, "Milliseconds per decision"),
        "drawn": drawn(part, order, labels),
    }


# What is drawn


def drawn(part: Part, order: list[str], labels: Sequence[str]) -> dict[str, Any]:
    """All that a figure draws, as JSON; policies are numbers, by their place in the order."""
    panels, figure = played(part.panels), part.figure
    known = looks(policies_of(panels), labels)
    return {
        "scale": figure.scale,
        "policies": [
            {
                "label": escaped(policy), "plain": policy, "light": known[policy].colour,
                "dark": lighter(known[policy].colour, 0.25), "dash": list(known[policy].dash),
            }
            for policy in order
        ],
        "reference": order.index(statistics.reference_of(panels)),
        "panels": [drawn_panel(panel, order) for panel in panels],
        "sweeps": [] if figure.x == ROUND else drawn_sweeps(panels, order, figure),
    }  # fmt: skip


def drawn_panel(panel: Panel, order: list[str]) -> dict[str, Any]:
    """The curves of a problem, and the final regret of every seed."""
    found = statistics.curves(panel, 160)
    low, high = log_limits(list(found.values()))
    return {
        "title": escaped(panel.title), "low": low, "high": high,
        "curves": [
            {
                "policy": order.index(policy), "rounds": curve.rounds.tolist(),
                "mean": short(curve.mean), "sd": short(curve.sd),
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
            for summary in statistics.summarise(panel)
        ],
    }  # fmt: skip


def drawn_sweeps(panels: list[Panel], order: list[str], figure: Figure) -> list[dict[str, Any]]:
    """Regret against a setting, one picture for each choice of the others."""
    return [
        {
            "title": escaped(title), "setting": escaped(figure.x),
            "lines": [
                {
                    "policy": order.index(line.policy), "values": line.values.tolist(),
                    "mean": short(line.mean), "low": short(line.low), "high": short(line.high),
                    "level": line.level,
                    "slope": None if math.isnan(line.slope) else slope_in_words(line),
                }
                for line in lines
            ],
            "rates": [
                {"name": rate.name, "values": rate.values.tolist(), "regret": short(rate.regret)}
                for rate in (rates(panels, figure.x, lines[0]) if figure.bounds else ())
            ],
        }
        for title, lines in grouped(panels, figure.x).items()
    ]  # fmt: skip


def escaped(text: str) -> str:
    """Text in which Plotly sees no tags; it would show escaped quotes as they are written."""
    return html.escape(text, quote=False)


def short(numbers: Floats) -> list[float | None]:
    """Numbers with as many digits as a picture shows; NaN becomes null."""
    return [None if math.isnan(x) else float(f"{x:.{DIGITS}g}") for x in numbers.tolist()]


# What stands in tables


class Cell(NamedTuple):
    """The text of a cell, more of it in small letters, and its kind: "better", "worse" or none."""

    main: str
    small: str = ""
    kind: str = ""

    def __html__(self) -> str:
        main = html.escape(self.main)
        if self.kind:
            main = f'<span class="{self.kind}">{main}</span>'
        return f"{main}<small>{html.escape(self.small)}</small>" if self.small else main


def regret_cell(found: Summary) -> Cell:
    """Mean, standard error and interval."""
    mean, error, low, high = rounded_alike(found, found.mean, found.error, found.low, found.high)
    if found.seeds == 1:
        return Cell(mean, "one seed")
    return Cell(f"{mean} ± {error}", f"[{low}, {high}]")


def difference_cell(found: Difference) -> Cell:
    """The mean difference and its interval, marked if that excludes zero."""
    ties = f", {found.tied} tied" if found.tied else ""
    count = f"less on {found.won} of {found.seeds} seed{'s' if found.seeds > 1 else ''}{ties}"
    if math.isnan(found.low):
        return Cell(signed(found.mean, found.mean / 100.0), count)
    kind, mark = {BETTER: ("better", "▼ "), WORSE: ("worse", "▲ ")}.get(found.verdict, ("", ""))
    digits = (found.high - found.low) / 4.0
    if kind:  # an end that is not zero must not look like it
        digits = min(digits or math.inf, abs(found.low), abs(found.high))
    mean, low, high = (signed(number, digits) for number in (found.mean, found.low, found.high))
    return Cell(f"{mark}{mean} [{low}, {high}]", count, kind)


def signed(number: float, error: float) -> str:
    """A rounded number with its sign, also if it is a plus."""
    text = rounded(number, error)
    return text if number <= 0.0 or not text.strip("0.") else f"+{text}"


def worst_cell(found: Summary) -> Cell:
    """The regret of the worst seed, and its ratio to the median."""
    which = ", ".join(map(str, found.worst_seeds[:3])) + ("…" if len(found.worst_seeds) > 3 else "")
    name = f"seed{'s' if len(found.worst_seeds) > 1 else ''} {which}"
    worst = rounded(found.worst, found.worst / 100.0)
    if found.median <= 0.0:
        return Cell(worst, name)
    times = found.worst / found.median
    return Cell(worst, f"{name}, {times:.1f} × median", "worse" if times > 2.0 else "")


def time_cell(found: Summary) -> Cell:
    """Milliseconds with about two significant digits."""
    size = found.milliseconds
    decimals = 0 if size >= 10.0 else 1 if size >= 1.0 else 2 if size >= 0.1 else 3
    return Cell(f"{size:,.{decimals}f}")
