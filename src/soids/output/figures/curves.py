"""Regret against rounds, in the layout of the paper's figure."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from soids.output.figures import canvas
from soids.output.figures.looks import Look, looks, stroke
from soids.simulation.results import Panel, Part, policies_of
from soids.simulation.statistics import Curve, curves, order_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPAN = 8.0  # largest ratio of two regrets that can be read on one linear axis


def draw_curves(part: Part, labels: Sequence[str] = ()) -> "Figure":
    """Regret against rounds, one panel beside the other: mean and standard deviation over seeds.

    If the figure has no scale, "linear" or "log", regrets that differ by orders of magnitude get a
    second row with a logarithmic scale; more than four panels have that scale only. ``labels`` are
    the policies of all figures, which share the colours.
    """
    panels = canvas.played(part.panels)
    scales = [part.figure.scale] if part.figure.scale else scales_of(panels)
    known = looks(policies_of(panels), labels)
    columns = min(len(panels), 4)
    lines = math.ceil(len(panels) / columns)
    with canvas.styled():
        figure, grid = canvas.axes_grid(columns, lines * len(scales), len(order_of(part)))
        for row, scale in enumerate(scales):
            for place, panel in enumerate(panels):
                axes = grid[row * lines + place // columns, place % columns]
                draw_panel(axes, panel, known, scale)
                if row == 0:
                    axes.set_title(panel.title)
                if row == len(scales) - 1 and place + columns >= len(panels):
                    axes.set_xlabel("round")
                if place % columns == 0:
                    axes.set_ylabel("regret" if scale == "linear" else "regret, log scale")
        canvas.align_logs(grid.flat)
        seeds = canvas.seeds_in_words(panels)
        note = f"Lines are means over {seeds}, bands one standard deviation on either side."
        if seeds == "1 seed":
            note = "There is only one seed, so there is no standard deviation."
        canvas.finish(figure, part, note, known)
    return figure


def scales_of(panels: list[Panel]) -> list[str]:
    """The scale of each row, with a logarithmic one if regrets are too far apart for the other."""
    for panel in panels:
        ends = [float(runs.final.mean()) for runs in panel.played.values()]
        if max(ends) > SPAN * min((end for end in ends if end > 0.0), default=math.inf):
            return ["linear", "log"] if len(panels) <= 4 else ["log"]
    return ["linear"]


def draw_panel(axes: "Axes", panel: Panel, known: dict[str, Look], scale: str) -> None:
    """All policies on one problem; the first in the file lies on top."""
    found = curves(panel)
    pale = min(0.15, 0.9 / len(found))  # many bands on top of each other
    for policy, curve in found.items():
        look = stroke(known, policy)
        if curve.sd.any():
            floor = canvas.TINY if scale == "log" else -math.inf
            axes.fill_between(
                curve.rounds, np.maximum(curve.mean - curve.sd, floor), curve.mean + curve.sd,
                color=look["color"], alpha=pale, lw=0, zorder=look["zorder"] - 1.0,
            )  # fmt: skip
        marker = "o" if len(curve.rounds) == 1 else ""
        axes.plot(curve.rounds, curve.mean, marker=marker, ms=4, **look)
    horizon = max(int(curve.rounds[-1]) for curve in found.values())
    axes.set_xlim(0, max(horizon, 2))
    if scale == "log":
        axes.set_yscale("log")
        axes.set_ylim(*log_limits(list(found.values())))
    else:
        axes.set_ylim(bottom=0.0, top=None if any(c.mean.any() for c in found.values()) else 1.0)
    canvas.number_ticks(axes)


def log_limits(found: list[Curve]) -> tuple[float, float]:
    """From the smallest mean after the first rounds to the top of the highest band."""
    means = np.concatenate([curve.mean[len(curve.mean) // 20 :] for curve in found])
    low = float(means[means > 0.0].min(initial=1.0 if not means.any() else math.inf))
    high = max(float((curve.mean + curve.sd).max()) for curve in found)
    return 0.8 * low, 1.2 * max(high, 2.0 * low)
