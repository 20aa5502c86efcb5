"""Regret at the horizon against a setting that was swept, beside the rates of theory."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from soids.arrays import Floats
from soids.output.figures import canvas
from soids.output.figures.looks import Look, looks, stroke
from soids.simulation.results import Part, policies_of
from soids.simulation.statistics import order_of, reference_of
from soids.simulation.sweeps import RATES, Series, grouped, rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THEORY = dict(zip(RATES, (Look("#777777", (6.0, 2.0)), Look("#777777", (2.0, 1.5))), strict=True))


def draw_sweep(part: Part, labels: Sequence[str] = ()) -> "Figure":
    """Regret at the horizon against a setting that was swept, both logarithmic.

    Bars are 95 % intervals of the mean. If the setting is one of the bandit, the slope of each line
    is written at its end; a policy without the setting is a level line with its interval. The
    paper's rates are drawn if the figure asks for bounds: the smallest multiples that are nowhere
    below the first policy. ``labels`` are the policies of all figures, which share the colours.
    """
    panels, setting, bounds = canvas.played(part.panels), part.figure.x, part.figure.bounds
    slopes = all(setting in panel.problem for panel in part.problems)
    known, groups = looks(policies_of(panels), labels), grouped(panels, setting)
    columns = min(len(groups), 4)
    with canvas.styled():
        figure, grid = canvas.axes_grid(
            columns, math.ceil(len(groups) / columns), len(order_of(part)), height=3.6
        )
        for place, (title, lines) in enumerate(groups.items()):
            axes = grid[place // columns, place % columns]
            draw_group(axes, lines, known)
            if bounds and axes.get_yscale() == "log":
                for rate in rates(panels, setting, lines[0]):
                    colour, dashes = THEORY[rate.name]
                    axes.plot(rate.values, rate.regret, color=colour, dashes=dashes, lw=1.3)
            axes.set(title=title, xlabel=setting)
            if place % columns == 0:
                axes.set_ylabel("regret at the horizon")
        canvas.align_logs(grid.flat)
        for axes, lines in zip(grid.flat, groups.values(), strict=False):
            mark_values(axes, lines)
            if slopes:
                label_slopes(axes, lines, known)
        seeds = canvas.seeds_in_words(panels)
        note = f"Shown are means over {seeds} with their 95 % confidence intervals."
        if seeds == "1 seed":
            note = "There is only one seed, so there are no intervals."
        if slopes:
            note += " Numbers are slopes of log regret with their intervals."
        if bounds:
            first = reference_of(panels)
            note += f" Grey lines are rates of theory, scaled to touch {first} from above."
        canvas.finish(figure, part, note, known, THEORY.items() if bounds else ())
    return figure


def draw_group(axes: "Axes", lines: list[Series], known: dict[str, Look]) -> None:
    """All policies, for one choice of the other settings."""
    for line in lines:
        draw = draw_level if line.level else draw_series
        draw(axes, line, known)
    axes.set_xscale("log")
    if any(line.mean.any() for line in lines):  # zero has no logarithm
        ends = np.concatenate([part for line in lines for part in (line.low, line.mean, line.high)])
        axes.set_yscale("log")
        axes.set_ylim(float(ends[ends > 0.0].min()) / 1.3, float(ends[ends > 0.0].max()) * 1.3)
    canvas.number_ticks(axes)


def draw_level(axes: "Axes", line: Series, known: dict[str, Look]) -> None:
    """A policy without the setting: its mean and the interval of the mean, across the axes."""
    look = stroke(known, line.policy)
    if not math.isnan(line.low[0]):
        axes.axhspan(
            max(line.low[0], canvas.TINY), line.high[0], color=look["color"], alpha=0.15, lw=0,
            zorder=look["zorder"] - 1.0,
        )  # fmt: skip
    axes.axhline(line.mean[0], **look)


def draw_series(axes: "Axes", line: Series, known: dict[str, Look]) -> None:
    """One policy: its means and their intervals."""
    shown = (line.mean > 0.0) | ~line.mean.any()  # zero has no logarithm
    values, mean = line.values[shown], line.mean[shown]
    bars = np.stack([mean - np.maximum(line.low[shown], canvas.TINY), line.high[shown] - mean])
    axes.errorbar(
        values, mean, np.nan_to_num(np.maximum(bars, 0.0)), elinewidth=1.0, capsize=2.0,
        marker="o", ms=3.5, **stroke(known, line.policy),
    )  # fmt: skip


def mark_values(axes: "Axes", lines: list[Series]) -> None:
    """A tick at every value that was played."""
    values = sorted({float(value) for line in lines for value in line.values})
    axes.set_xticks(values, [f"{value:,.9g}" for value in values])
    axes.minorticks_off()


def label_slopes(axes: "Axes", lines: list[Series], known: dict[str, Look]) -> None:
    """The slope of each line at its end, none on top of another."""
    lines = [line for line in lines if not math.isnan(line.slope)]
    if not lines:
        return
    low, high = np.log(axes.get_ylim())
    ends = [(math.log(line.mean[-1]) - low) / (high - low) for line in lines]
    for line, height in zip(lines, separated(np.array(ends), 0.045), strict=True):
        axes.text(
            1.02, height, slope_in_words(line), transform=axes.transAxes,
            color=known[line.policy].colour, fontsize=7, va="center",
        )  # fmt: skip


def slope_in_words(line: Series) -> str:
    """A slope and its interval, if there is one."""
    ends = "" if math.isnan(line.slope_low) else f" [{line.slope_low:.2f}, {line.slope_high:.2f}]"
    return f"{line.slope:.2f}{ends}".replace("-", "−")


def separated(heights: Floats, gap: float) -> Floats:  # (N,)
    """The nearest heights in the same order that are at least a gap apart.

    >>> separated(np.array([0.5, 0.1, 0.5]), 0.1).round(2).tolist()
    [0.45, 0.1, 0.55]
    """
    order, steps = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    moved = np.empty(len(heights))
    moved[order] = isotonic_regression(heights[order] - steps).x + steps
    return moved
