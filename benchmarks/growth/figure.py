"""A figure of time and memory against each size."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.growth.measure import Point
from benchmarks.growth.power_law import QUANTITIES, Fit
from benchmarks.growth.sizes import AXES
from soids.output.figures.canvas import INK, align_logs, head, legend, styled
from soids.output.figures.looks import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES = 100.0  # smallest ratio of the ends of an axis of values
UNITS = {"milliseconds": "CPU milliseconds", "megabytes": "megabytes"}


def draw_growth(points: list[Point], laws: list[Fit]) -> "Figure":
    """Time and memory against each size, and the fitted power laws."""
    names = list(dict.fromkeys(point.axis for point in points))
    columns = min(2, len(names))
    rows = -(-len(names) // columns)
    known = looks(UNITS.values())
    with styled():
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter

        figure = Figure(figsize=(3.6 * max(columns, 1.4) + 1.6, 2.7 * rows + 0.9))
        figure.set_layout_engine("constrained")
        grid: Any = figure.subplots(rows, columns, squeeze=False)
        for axes, name in zip(grid.flat, names, strict=False):
            along = [point for point in points if point.axis == name]
            for quantity in QUANTITIES:
                draw_quantity(axes, along, quantity, known[UNITS[quantity]].colour)
            for law in laws:
                if law.axis == name:
                    draw_law(axes, along, law, known[UNITS[law.quantity]].colour)
            axes.set(title=described(name, along[0]), xlabel=AXES[name].symbol)
            axes.set(xscale="log", yscale="log")
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.tick_params(axis="x", labelsize=7.5)  # a million is wide
        widen(grid.flat[: len(names)])
        align_logs(grid.flat)
        for law in laws:
            if law.quantity == "milliseconds":
                draw_proportion(grid.flat[names.index(law.axis)], law)
        for axes in grid[:, 0]:
            axes.set_ylabel("milliseconds, megabytes")
        head(
            figure,
            "Time and memory of a decision as problems grow",
            "CPU time, and peak memory beyond that before the policy was made. Lines: power laws "
            "fitted to the larger sizes, with their exponents in the corners. Dotted: time in "
            "proportion to the size.",
        )
        legend(figure, [(unit, known[unit]) for unit in UNITS.values()], note="")
    return figure


def widen(grid: "Iterable[Axes]") -> None:
    """Show at least two decades, so that slow growth looks slow."""
    for axes in grid:
        low, high = axes.get_ylim()
        more = max(1.0, DECADES / (high / low)) ** 0.5
        axes.set_ylim(low / more, high * more)


def described(name: str, point: Point) -> str:
    """The name of an axis, and the sizes that are fixed along it."""
    fixed = {"d": point.dimension, "K": point.actions, "M": point.particles}
    fixed.pop(AXES[name].symbol, None)
    values = ", ".join(f"{symbol} = {value:,}" for symbol, value in fixed.items())
    return f"{name} ({values})"


def draw_quantity(axes: "Axes", along: list[Point], quantity: str, colour: str) -> None:
    """A point for each size, with the standard error of its time."""
    sizes, values = zip(*((one.size, getattr(one, quantity)) for one in along), strict=True)
    if quantity == "milliseconds":
        errors = [one.error for one in along]
        axes.errorbar(sizes, values, errors, fmt="none", ecolor=colour, elinewidth=1.0)
    axes.plot(sizes, values, "o", color=colour, ms=4.5, mec="white", mew=0.6)


def draw_law(axes: "Axes", along: list[Point], law: Fit, colour: str) -> None:
    """A line over the points that it was fitted to, and its exponent in the corner."""
    ends = np.array([one.size for one in along if one.size > law.beyond])[[0, -1]]
    axes.plot(ends, law.scale * ends.astype(np.float64) ** law.exponent, color=colour, lw=1.4)
    axes.text(
        0.03, 0.97 - 0.09 * QUANTITIES.index(law.quantity), law.in_words(),
        transform=axes.transAxes, va="top", size=8, color=colour,
    )  # fmt: skip


def draw_proportion(axes: "Axes", law: Fit) -> None:
    """A line for time in proportion to the size, from the beginning of the power law."""
    ends = np.array([law.beyond, axes.get_xlim()[1]])
    begin = law.scale * law.beyond**law.exponent
    axes.plot(ends, begin * ends / law.beyond, color=INK, lw=0.8, ls=":", zorder=1.0)
