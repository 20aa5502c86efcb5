"""A figure of regret against the time of a decision: below and to the left is better."""

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from benchmarks.decisions.standings import standings
from soids.arrays import Floats
from soids.output.figures.canvas import (
    INK,
    TINY,
    head,
    number_ticks,
    played,
    seeds_in_words,
    styled,
)
from soids.output.figures.looks import DASHES, Look, looks
from soids.simulation.results import Panel, policies_of
from soids.simulation.statistics import reference_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 7.5  # size of a label
LINE = 1.25 * POINTS  # distance from one label to the next
WIDTH, HEIGHT = 5.2, 3.6  # of a panel with its labels, in inches
MARKS = dict(zip(DASHES, "osD^v", strict=True))  # for points


def draw_decisions(panels: list[Panel], title: str = "") -> "Figure":
    """One panel for each problem: mean regret with its interval against time, for each policy."""
    panels = played(panels)
    known = looks(policies_of(panels))
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    most = max(len(standings(panel)) for panel in panels)
    height = max(HEIGHT, (most + 3) * LINE / 72.0 + 0.5)
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH * columns, height * rows + 0.7), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False)
        for place, axes in enumerate(grid.flat):
            axes.set_visible(place < len(panels))
            if place < len(panels):
                draw_panel(axes, panels[place], known, height - 0.9)
        head(figure, title, f"Mean regret with its 95 % interval over {seeds_in_words(panels)}.")
    return figure


def draw_panel(axes: "Axes", panel: Panel, known: dict[str, Look], inches: float) -> None:
    """All policies on one problem; their names stand on the right in the order of regret."""
    found, reference = standings(panel), reference_of([panel])
    axes.set(xscale="log", yscale="log", ylabel="regret", xlabel="processor ms a decision")
    axes.set_title(panel.title)
    axes.grid(axis="x")
    for one in found:
        colour, dash = known[one.policy]
        size = 8 if one.policy == reference else 5
        if one.seeds > 1:
            ends = max(one.low, TINY), one.high
            axes.plot([one.milliseconds] * 2, ends, color=colour, lw=1.2)
        axes.plot(
            one.milliseconds, one.regret, MARKS[dash], color=colour, ms=size, mec="white", mew=0.6
        )
    axes.margins(x=0.06)
    low, high = 0.7 * max(found[0].regret, TINY), 1.4 * max(found[-1].regret, TINY)
    axes.set_ylim(low, high)  # an interval may be wider, and reach below zero
    regrets = np.array([max(one.regret, TINY) for one in found])
    heights = np.log(regrets / low) / math.log(high / low)
    places = separated(heights, LINE / 72.0 / inches)
    for one, place in zip(found, places, strict=True):
        axes.annotate(
            f"{one.policy}  {one.regret:,.0f}", (one.milliseconds, one.regret), (1.05, place),
            xycoords="data", textcoords="axes fraction", va="center", size=POINTS, color=INK,
            weight="bold" if one.policy == reference else "normal",
            arrowprops={
                "arrowstyle": "-", "lw": 0.5, "color": known[one.policy].colour, "alpha": 0.6,
                "shrinkA": 0.0, "shrinkB": 3.0, "relpos": (0.0, 0.5),
            },
        )  # fmt: skip
    number_ticks(axes)


def separated(heights: Floats, gap: float) -> Floats:  # (N,)
    """The places nearest to ascending heights that are a gap apart, in 0..1 if they fit.

    >>> separated(np.array([0.2, 0.2, 0.9]), 0.1).round(2).tolist()
    [0.15, 0.25, 0.9]
    """
    steps = gap * np.arange(len(heights))
    near = isotonic_regression(heights - steps).x
    return np.clip(near, 0.0, max(1.0 - steps[-1], 0.0)) + steps
