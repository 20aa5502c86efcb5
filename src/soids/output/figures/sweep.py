"""Regret at the horizon against a setting that was swept, beside the rates of theory."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soids.output.figures.canvas import (
    THIN,
    TINY,
    WIDE,
    align_logs,
    canvas,
    head,
    legend,
    legend_order,
    number_ticks,
    played,
    spread_in_words,
    styled,
)
from soids.output.figures.looks import Look, looks
from soids.simulation.results import Panel
from soids.simulation.statistics import policies_of, reference_of
from soids.simulation.sweeps import RATES, Rate, Series, rates, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATE = "#777777"
RATE_DASHES = dict(zip(RATES, ((6.0, 2.0), (2.0, 1.5)), strict=True))


def draw_sweep(
    panels: list[Panel],
    setting: str,
    title: str = "",
    bounds: bool = False,
    *,
    slopes: bool = True,
    note: str = "",
    caption: str = "",
    listed: Sequence[str] = (),
    among: Sequence[str] = (),
) -> "Figure":
    """Regret at the horizon against a setting that was swept, both logarithmic.

    Bars are 95 % intervals of the mean, and beside the end of each line stands its slope, if
    ``slopes`` are asked for. A policy that does not have the setting is a level line with its
    interval. With ``bounds`` the paper's rates are drawn, the smallest multiples that lie nowhere
    below the first policy. A ``note`` stands below the title.
    """
    panels = played(panels)
    known = looks(policies_of(panels), among)
    order, hint = legend_order(panels, listed)
    groups: dict[str, list[Series]] = {}
    for line in series(panels, setting):
        name = ", ".join(f"{name} = {value}" for name, value in line.others.items())
        groups.setdefault(name, []).append(line)
    with styled():
        columns = min(len(groups), 4)
        figure, grid = canvas(columns, math.ceil(len(groups) / columns), len(order), height=3.6)
        for place, (name, lines) in enumerate(groups.items()):
            axes = grid[place // columns, place % columns]
            draw_group(axes, lines, known)
            if bounds and axes.get_yscale() == "log":
                draw_rates(axes, rates(panels, setting, lines[0]))
            axes.set(title=name, xlabel=setting)
            if place % columns == 0:
                axes.set_ylabel("regret at the horizon")
        align_logs(grid.flat)
        for axes, lines in zip(grid.flat, groups.values(), strict=False):
            mark_values(axes, lines)
            if slopes:
                label_slopes(axes, lines, known)
        words = spread_in_words("Mean and its 95 % interval", panels)
        if slopes:
            words += " Numbers: slopes of log regret and their intervals."
        if bounds:
            first = reference_of(panels)
            words += f" Grey: rates of theory, scaled to touch {first} from above."
        head(figure, title, f"{note}. {words}" if note else words, caption)
        entries = [(policy, known[policy]) for policy in order]
        theory = [(name, Look(RATE, dash)) for name, dash in RATE_DASHES.items() if bounds]
        legend(figure, [*entries, *theory], hint)
    return figure


def draw_group(axes: "Axes", lines: list[Series], known: dict[str, Look]) -> None:
    """All policies, for one choice of the other settings."""
    for line in lines:
        draw = draw_level if line.level else draw_series
        draw(axes, line, known[line.policy], list(known).index(line.policy))
    scale = "log" if any(line.mean.any() for line in lines) else "linear"
    axes.set(xscale="log", yscale=scale)
    if scale == "log":
        axes.set_ylim(*sweep_limits(lines))
    number_ticks(axes)


def mark_values(axes: "Axes", lines: list[Series]) -> None:
    """A tick at every value that was played."""
    values = sorted({float(value) for line in lines for value in line.values})
    axes.set_xticks(values, [f"{value:,.9g}" for value in values])
    axes.minorticks_off()


def draw_rates(axes: "Axes", found: list[Rate]) -> None:
    """The rates of theory, in grey."""
    for rate in found:
        axes.plot(rate.values, rate.regret, color=RATE, dashes=RATE_DASHES[rate.name], lw=1.3)


def draw_level(axes: "Axes", line: Series, look: Look, depth: int) -> None:
    """A policy that the setting does not concern: its mean and the interval of that, across."""
    above = 3.0 - 0.01 * depth
    if not math.isnan(line.low[0]):
        axes.axhspan(
            max(line.low[0], TINY), line.high[0], color=look.colour, alpha=0.15, lw=0,
            zorder=above - 1.0,
        )  # fmt: skip
    axes.axhline(
        line.mean[0], color=look.colour, lw=WIDE if depth == 0 else THIN, zorder=above,
        dashes=look.dash or (None, None),
    )  # fmt: skip


def draw_series(axes: "Axes", line: Series, look: Look, depth: int) -> None:
    """One policy: its means, their intervals, and how fast it grows."""
    shown = (line.mean > 0.0) | ~line.mean.any()  # zero has no logarithm
    values, mean = line.values[shown], line.mean[shown]
    bars = np.stack([mean - np.maximum(line.low[shown], TINY), line.high[shown] - mean])
    axes.errorbar(
        values, mean, np.nan_to_num(np.maximum(bars, 0.0)), color=look.colour,
        lw=WIDE if depth == 0 else THIN, elinewidth=1.0, capsize=2.0, marker="o", ms=3.5,
        dashes=look.dash or (None, None), zorder=3.0 - 0.01 * depth,
    )  # fmt: skip


def sweep_limits(lines: list[Series]) -> tuple[float, float]:
    """From the smallest to the largest of what is positive: intervals may reach to zero."""
    ends = np.concatenate([part for line in lines for part in (line.low, line.mean, line.high)])
    positive = ends[ends > 0.0]
    return float(positive.min()) / 1.3, float(positive.max()) * 1.3


def label_slopes(axes: "Axes", lines: list[Series], known: dict[str, Look]) -> None:
    """The slope of each line at its end, none on top of another."""
    lines = [line for line in lines if not math.isnan(line.slope)]
    if not lines:
        return
    low, high = np.log(axes.get_ylim())
    heights = spread([(math.log(line.mean[-1]) - low) / (high - low) for line in lines], 0.045)
    for line, height in zip(lines, heights, strict=True):
        axes.text(
            1.02, height, spoken_slope(line), transform=axes.transAxes,
            color=known[line.policy].colour, fontsize=7, va="center",
        )  # fmt: skip


def spoken_slope(line: Series) -> str:
    """A slope and its interval, if there is one."""
    ends = "" if math.isnan(line.slope_low) else f" [{line.slope_low:.2f}, {line.slope_high:.2f}]"
    return f"{line.slope:.2f}{ends}".replace("-", "−")


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
