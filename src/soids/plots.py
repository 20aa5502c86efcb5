"""Panels as figures: regret against rounds, or against a setting that was swept.

The numbers come from `soids.simulation`; here is only ink. Matplotlib is loaded when something is
drawn, without its global state: the same panels give the same files, byte for byte.
"""

import io
import math
import os
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from soids.files import write_whole
from soids.simulation.comparison import Curve, curves, policies_of, ranked
from soids.simulation.panels import Panel
from soids.simulation.sweeps import RATES, Series, rates, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REMEDY = 'figures and reports need more packages: pip install "soids[plot]"'
SPAN = 8.0  # a regret this many times another cannot be read on one linear axis
INK, PALE = "#222222", "#d9d9d9"
RATE = "#777777"
RATE_DASHES = dict(zip(RATES, ((6.0, 2.0), (2.0, 1.5)), strict=True))
LEGEND = 2.3  # inches
TINY = 1e-12  # in place of zero on a logarithmic scale

# Of Okabe and Ito (2008), which people of every colour vision can tell apart; their yellow is too
# pale for a line, and their second blue would pass for a lighter first.
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#4d4d4d", "#8c564b")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 1.5), (1.5, 1.2), (7, 1.5, 1.5, 1.5), (3, 1))

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#999999",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "font.size": 9.0,
    "grid.color": "#ececec",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 2.6,
    "pdf.fonttype": 42,  # TrueType: text stays text
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a label is a dollar
    "xtick.color": "#999999",
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": "#999999",
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


class Look(NamedTuple):
    """How a policy is drawn, everywhere."""

    colour: str
    dash: tuple[float, ...]  # on, off, ... in widths of the line; empty for a full one


def looks(policies: Iterable[str]) -> dict[str, Look]:
    """A colour and a dash for each label; labels that begin with the same word share a hue.

    >>> found = looks(["SOIDS", "LinUCB, radius 1", "SOIDS, told nothing"])
    >>> found["SOIDS"]
    Look(colour='#0072b2', dash=())
    """
    families: dict[str, list[str]] = {}
    for policy in policies:
        word = policy.replace(",", " ").replace("(", " ").split()[:1]
        families.setdefault("".join(word).lower(), []).append(policy)
    found = {}
    for place, members in enumerate(families.values()):
        for rank, policy in enumerate(members):
            hue = HUES[place % len(HUES)]
            turn = place // len(HUES) + rank  # hues that return have another dash
            found[policy] = Look(
                lighter(hue, 0.6 * rank / len(members)), DASHES[turn % len(DASHES)]
            )
    return found


def lighter(colour: str, share: float) -> str:
    """The same hue, this share of the way to white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + share * (255 - c)):02x}" for c in channels)


def draw_curves(panels: list[Panel], title: str = "") -> "Figure":
    """Regret against rounds, one panel beside the other: mean and standard deviation over seeds.

    Where regrets differ by orders of magnitude a second row has a logarithmic scale; more than
    four panels have that scale only.
    """
    panels = played(panels)
    wide = spans_orders(panels)
    scales = ["linear", "log"] if wide and len(panels) <= 4 else ["log" if wide else "linear"]
    known, order = looks(policies_of(panels)), ranked(panels)
    with styled():
        columns = min(len(panels), 4)
        lines = math.ceil(len(panels) / columns)
        figure, grid = canvas(columns, lines * len(scales), len(order))
        for row, scale in enumerate(scales):
            for place, panel in enumerate(panels):
                axes = grid[row + place // columns, place % columns]
                draw_panel(axes, panel, known, scale)
                if row == 0:
                    axes.set_title(panel.title)
                if row == len(scales) - 1 and place + columns >= len(panels):
                    axes.set_xlabel("round")
                if place % columns == 0:
                    axes.set_ylabel("regret" if scale == "linear" else "regret, log scale")
        align_logs(grid.flat)
        head(figure, title, f"Mean and standard deviation over {seeds_in_words(panels)}.")
        entries = [(policy, known[policy]) for policy in reversed(order)]
        legend(figure, entries, note="most regret on top")
    return figure


def draw_panel(axes: "Axes", panel: Panel, known: dict[str, Look], scale: str) -> None:
    """All policies on one problem; the first in the file lies on top."""
    found = curves(panel)
    for depth, (policy, curve) in enumerate(found.items()):
        look, above = known[policy], 3.0 - 0.01 * depth
        if curve.sd.any():
            low = curve.mean - curve.sd
            floor = TINY if scale == "log" else -math.inf
            axes.fill_between(
                curve.rounds, np.maximum(low, floor), curve.mean + curve.sd,
                color=look.colour, alpha=0.15, lw=0, zorder=above - 1.0,
            )  # fmt: skip
        axes.plot(
            curve.rounds, curve.mean, color=look.colour, lw=2.2 if depth == 0 else 1.5,
            zorder=above, dashes=look.dash or (None, None),
            marker="o" if len(curve.rounds) == 1 else "", ms=4,
        )  # fmt: skip
    horizon = max(int(curve.rounds[-1]) for curve in found.values())
    axes.set_xlim(0, max(horizon, 2))
    if scale == "log":
        axes.set_yscale("log")
        axes.set_ylim(*log_limits(list(found.values())))
    else:
        axes.set_ylim(bottom=0.0)
    number_ticks(axes)


def log_limits(found: list[Curve]) -> tuple[float, float]:
    """From the smallest mean after the first rounds to the top of the highest band."""
    means = np.concatenate([curve.mean[len(curve.mean) // 20 :] for curve in found])
    low = float(means[means > 0.0].min(initial=1.0 if not means.any() else math.inf))
    high = max(float((curve.mean + curve.sd).max()) for curve in found)
    return 0.8 * low, 1.2 * max(high, 2.0 * low)


def spans_orders(panels: list[Panel]) -> bool:
    """Whether some panel holds regrets too far apart for one linear axis."""
    for panel in panels:
        ends = [float(runs.final.mean()) for runs in panel.runs.values() if len(runs.seeds)]
        positive = [end for end in ends if end > 0.0]
        if positive and max(positive) > SPAN * min(positive):
            return True
    return False


def draw_sweep(
    panels: list[Panel], setting: str, title: str = "", bounds: bool = False
) -> "Figure":
    """Regret at the horizon against a setting that was swept, both logarithmic.

    Bars are 95 % intervals of the mean, and beside the end of each line stands its slope. With
    ``bounds`` the paper's rates are drawn, the smallest multiples that lie nowhere below the first
    policy.
    """
    panels = played(panels)
    known, order = looks(policies_of(panels)), ranked(panels)
    groups: dict[str, list[Series]] = {}
    for line in series(panels, setting):
        name = ", ".join(f"{name} = {value}" for name, value in line.others.items())
        groups.setdefault(name, []).append(line)
    with styled():
        columns = min(len(groups), 4)
        figure, grid = canvas(columns, math.ceil(len(groups) / columns), len(order), height=3.6)
        for place, (name, lines) in enumerate(groups.items()):
            axes = grid[place // columns, place % columns]
            for depth, line in enumerate(lines):
                draw_series(axes, line, known[line.policy], depth)
            for rate in rates(panels, setting, lines[0]) if bounds else []:
                axes.plot(
                    rate.values, rate.regret, color=RATE, dashes=RATE_DASHES[rate.name], lw=1.3
                )
            axes.set(title=name, xscale="log", yscale="log", xlabel=setting)
            values = sorted({float(value) for line in lines for value in line.values})
            number_ticks(axes)
            axes.set_xticks(values, [f"{value:,g}" for value in values])
            axes.minorticks_off()
            if place % columns == 0:
                axes.set_ylabel("regret at the horizon")
        align_logs(grid.flat)
        for axes, lines in zip(grid.flat, groups.values(), strict=False):
            label_slopes(axes, lines, known)
        note = f"Mean and its 95 % interval over {seeds_in_words(panels)}. Numbers: slopes."
        if bounds:
            first = policies_of(panels)[0]
            note += f" Grey: rates of theory, scaled to touch {first} from above."
        head(figure, title, note)
        entries = [(policy, known[policy]) for policy in reversed(order)]
        theory = [(name, Look(RATE, dash)) for name, dash in RATE_DASHES.items() if bounds]
        legend(figure, [*entries, *theory], note="most regret on top")
    return figure


def draw_series(axes: "Axes", line: Series, look: Look, depth: int) -> None:
    """One policy: its means, their intervals, and how fast it grows."""
    shown = line.mean > 0.0  # zero has no logarithm
    if not shown.any():
        return
    values, mean = line.values[shown], line.mean[shown]
    bars = np.stack([mean - np.maximum(line.low[shown], TINY), line.high[shown] - mean])
    axes.errorbar(
        values, mean, np.nan_to_num(np.maximum(bars, 0.0)), color=look.colour,
        lw=2.2 if depth == 0 else 1.5, elinewidth=1.0, capsize=2.0, marker="o", ms=3.5,
        dashes=look.dash or (None, None), zorder=3.0 - 0.01 * depth,
    )  # fmt: skip


def label_slopes(axes: "Axes", lines: list[Series], known: dict[str, Look]) -> None:
    """The slope of each line at its end, none on top of another."""
    lines = [line for line in lines if not math.isnan(line.slope)]
    low, high = np.log(axes.get_ylim())
    heights = spread([(math.log(line.mean[-1]) - low) / (high - low) for line in lines], 0.045)
    for line, height in zip(lines, heights, strict=True):
        axes.text(
            1.02, height, f"{line.slope:.2f}".replace("-", "−"), transform=axes.transAxes,
            color=known[line.policy].colour, fontsize=8, va="center",
        )  # fmt: skip


def spread(heights: list[float], gap: float) -> list[float]:
    """Heights in the same order, at least ``gap`` apart, that have moved as little as need be.

    >>> [round(height, 2) for height in spread([0.5, 0.1, 0.5], 0.1)]
    [0.45, 0.1, 0.55]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    clusters: list[list[int]] = []
    for i in order:
        clusters.append([i])
        while (
            len(clusters) > 1
            and middle(clusters[-1], heights) - middle(clusters[-2], heights)
            < gap * (len(clusters[-1]) + len(clusters[-2])) / 2.0 - 1e-12
        ):
            clusters[-2:] = [clusters[-2] + clusters[-1]]
    moved = list(heights)
    for cluster in clusters:
        for place, i in enumerate(cluster):
            moved[i] = middle(cluster, heights) + gap * (place - (len(cluster) - 1) / 2.0)
    return moved


def middle(members: list[int], heights: list[float]) -> float:
    """The mean height of some members."""
    return sum(heights[i] for i in members) / len(members)


def save(figure: "Figure", stem: str | os.PathLike[str]) -> list[Path]:
    """Write ``stem.png`` and ``stem.pdf``, each whole or not at all, and say where they are."""
    written = []
    with styled():
        for ending, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=200, metadata=metadata)
            written.append(Path(f"{os.fspath(stem)}.{ending}"))
            write_whole(written[-1], content.getvalue())
    return written


# What figures share


@contextmanager
def styled() -> Iterator[None]:
    """Our style on top of Matplotlib's own, whatever the user's is."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    style: dict[Any, Any] = {**matplotlib.rcParamsDefault, **STYLE}
    with matplotlib.rc_context(style):
        yield


def canvas(columns: int, rows: int, policies: int, height: float = 2.4) -> "tuple[Figure, Any]":
    """A figure with its grid of axes (rows, columns), and room for a legend on the right."""
    from matplotlib.figure import Figure

    size = (2.9 * max(columns, 1.4) + LEGEND, max(height * rows, 0.2 * policies) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def played(panels: list[Panel]) -> list[Panel]:
    """The panels in which something was played."""
    found = [panel for panel in panels if any(len(runs.seeds) for runs in panel.runs.values())]
    if not found:
        raise ValueError("panels must hold at least one trial: there is nothing to draw yet")
    return found


def seeds_in_words(panels: list[Panel]) -> str:
    """How many seeds there are.

    >>> from soids.simulation.panels import Runs
    >>> runs = Runs(np.arange(10), np.array([1]), np.zeros((10, 1)), np.zeros(10))
    >>> seeds_in_words([Panel("", {}, {"SOIDS": runs})])
    '10 seeds'
    """
    counts = {len(r.seeds) for panel in panels for r in panel.runs.values() if len(r.seeds)}
    span = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"{span} seed{'' if span == '1' else 's'}"


def number_ticks(axes: "Axes") -> None:
    """Ticks as people write numbers; on a short logarithmic axis 2 and 5 are ticks, too."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    if axes.get_yscale() == "log":
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 300.0 * low else (1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())


def align_logs(grid: "Iterable[Axes]") -> None:
    """One logarithmic scale for all; and no frame where there is nothing to see."""
    grid = list(grid)
    shown = [axes for axes in grid if axes.has_data()]
    for axes in grid:
        axes.set_visible(axes in shown)
    logs = [axes for axes in shown if axes.get_yscale() == "log"]
    if logs:
        limits = np.array([axes.get_ylim() for axes in logs])
        for axes in logs:
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
            number_ticks(axes)


def head(figure: "Figure", title: str, note: str) -> None:
    """What the figure is, and what its lines are, above all axes."""
    width, height = figure.get_size_inches()
    below = 0.1
    for text, points, weight in ((title, 12.0, "bold"), (note, 9.0, "normal")):
        for line in textwrap.wrap(text, int(width * 130.0 / points)):
            figure.text(
                0.1 / width, 1.0 - below / height, line, size=points, weight=weight, va="top"
            )
            below += points / 50.0
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0.0, 0.0, 1.0, 1.0 - below / height))


def legend(figure: "Figure", entries: list[tuple[str, Look]], note: str) -> None:
    """Lines and labels on the right, in the order in which the lines end."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=look.colour, dashes=look.dash or (None, None), lw=2.0)
        for _, look in entries
    ]
    labels = [textwrap.fill(label, 30) for label, _ in entries]
    figure.legend(
        handles, labels, loc="outside right center", title=note, title_fontsize=8,
        alignment="left",
    )  # fmt: skip
