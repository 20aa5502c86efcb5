"""Regret against rounds, in the layout of the paper's figure."""

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
from soids.simulation.statistics import Curve, curves, policies_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPAN = 8.0  # a regret this many times another cannot be read on one linear axis


def draw_curves(
    panels: list[Panel],
    title: str = "",
    *,
    note: str = "",
    caption: str = "",
    scale: str = "",
    listed: Sequence[str] = (),
    among: Sequence[str] = (),
) -> "Figure":
    """Regret against rounds, one panel beside the other: mean and standard deviation over seeds.

    Without a ``scale``, "linear" or "log", regrets that differ by orders of magnitude have a second
    row with a logarithmic scale; more than four panels have that scale only. The legend has the
    order of ``listed``, or of the regrets; ``among`` are the policies of all figures, for colours.
    A ``note`` stands below the title.
    """
    panels = played(panels)
    scales = scales_of(panels, scale)
    known = looks(policies_of(panels), among)
    order, hint = legend_order(panels, listed)
    with styled():
        columns = min(len(panels), 4)
        lines = math.ceil(len(panels) / columns)
        figure, grid = canvas(columns, lines * len(scales), len(order))
        for row, kind in enumerate(scales):
            for place, panel in enumerate(panels):
                axes = grid[row * lines + place // columns, place % columns]
                draw_panel(axes, panel, known, kind)
                if row == 0:
                    axes.set_title(panel.title)
                if row == len(scales) - 1 and place + columns >= len(panels):
                    axes.set_xlabel("round")
                if place % columns == 0:
                    axes.set_ylabel("regret" if kind == "linear" else "regret, log scale")
        align_logs(grid.flat)
        words = spread_in_words("Mean and standard deviation", panels)
        head(figure, title, f"{note}. {words}" if note else words, caption)
        legend(figure, [(policy, known[policy]) for policy in order], hint)
    return figure


def scales_of(panels: list[Panel], scale: str) -> list[str]:
    """The scale of each row."""
    if scale:
        return [scale]
    wide = spans_orders(panels)
    return ["linear", "log"] if wide and len(panels) <= 4 else ["log" if wide else "linear"]


def draw_panel(axes: "Axes", panel: Panel, known: dict[str, Look], scale: str) -> None:
    """All policies on one problem; the first in the file lies on top."""
    found = curves(panel)
    pale = min(0.15, 0.9 / len(found))  # many bands on top of each other
    for policy, curve in found.items():
        depth = list(known).index(policy)
        look, above = known[policy], 3.0 - 0.01 * depth
        if curve.sd.any():
            low = curve.mean - curve.sd
            floor = TINY if scale == "log" else -math.inf
            axes.fill_between(
                curve.rounds, np.maximum(low, floor), curve.mean + curve.sd,
                color=look.colour, alpha=pale, lw=0, zorder=above - 1.0,
            )  # fmt: skip
        axes.plot(
            curve.rounds, curve.mean, color=look.colour, lw=WIDE if depth == 0 else THIN,
            zorder=above, dashes=look.dash or (None, None),
            marker="o" if len(curve.rounds) == 1 else "", ms=4,
        )  # fmt: skip
    horizon = max(int(curve.rounds[-1]) for curve in found.values())
    axes.set_xlim(0, max(horizon, 2))
    if scale == "log":
        axes.set_yscale("log")
        axes.set_ylim(*log_limits(list(found.values())))
    else:
        axes.set_ylim(bottom=0.0, top=None if any(c.mean.any() for c in found.values()) else 1.0)
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
