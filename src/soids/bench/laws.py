"""Growth and limits as figures."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from soids.bench.growth import AXES, QUANTITIES, Fit, Point
from soids.bench.limits import Limit
from soids.plots.canvas import INK, align_logs, head, legend, number_ticks, styled
from soids.plots.looks import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DECADES = 100.0  # the largest value shown over the smallest, at least
UNITS = {"milliseconds": "CPU milliseconds", "megabytes": "megabytes"}


def draw_growth(points: list[Point], laws: list[Fit]) -> "Figure":
    """Time and memory against each size, and the power laws fitted to them."""
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
            "What a decision takes as problems grow",
            "CPU time and the most memory beyond what there was before the policy. Lines: power "
            "laws fitted to the larger sizes; in the corners are their exponents. Dotted: in "
            "proportion to the size.",
        )
        legend(figure, [(unit, known[unit]) for unit in UNITS.values()], note="")
    return figure


def widen(grid: "Iterable[Axes]") -> None:
    """Show two decades at least: what hardly grows should look like it."""
    for axes in grid:
        low, high = axes.get_ylim()
        more = max(1.0, DECADES / (high / low)) ** 0.5
        axes.set_ylim(low / more, high * more)


def described(name: str, point: Point) -> str:
    """What grows, and how large all else is."""
    fixed = {"d": point.dimension, "K": point.actions, "M": point.particles}
    fixed.pop(AXES[name].symbol, None)
    told = ", ".join(f"{symbol} = {value:,}" for symbol, value in fixed.items())
    return f"{name} ({told})"


def draw_quantity(axes: "Axes", along: list[Point], quantity: str, colour: str) -> None:
    """One point a size, with the standard error of its time."""
    sizes, values = zip(*((one.size, getattr(one, quantity)) for one in along), strict=True)
    if quantity == "milliseconds":
        errors = [one.error for one in along]
        axes.errorbar(sizes, values, errors, fmt="none", ecolor=colour, elinewidth=1.0)
    axes.plot(sizes, values, "o", color=colour, ms=4.5, mec="white", mew=0.6)


def draw_law(axes: "Axes", along: list[Point], law: Fit, colour: str) -> None:
    """A line over the points that made it, and its exponent in the corner."""
    ends = np.array([one.size for one in along if one.size > law.beyond])[[0, -1]]
    axes.plot(ends, law.scale * ends.astype(np.float64) ** law.exponent, color=colour, lw=1.4)
    axes.text(
        0.03, 0.97 - 0.09 * QUANTITIES.index(law.quantity), law.in_words(),
        transform=axes.transAxes, va="top", size=8, color=colour,
    )  # fmt: skip


def draw_proportion(axes: "Axes", law: Fit) -> None:
    """What time in proportion to the size would look like, from where the law begins."""
    ends = np.array([law.beyond, axes.get_xlim()[1]])
    begin = law.scale * law.beyond**law.exponent
    axes.plot(ends, begin * ends / law.beyond, color=INK, lw=0.8, ls=":", zorder=1.0)


def draw_limits(limits: list[Limit]) -> "Figure":
    """How many times its floor each kernel takes, one row a kernel, one colour a problem."""
    kernels = list(dict.fromkeys(limit.kernel for limit in limits))[::-1]
    problems = list(dict.fromkeys(limit.actions for limit in limits))
    labels = {actions: f"{actions:,} actions" for actions in problems}
    known = looks(labels.values())
    with styled():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7.0, 0.4 * len(kernels) + 1.6), layout="constrained")
        axes = figure.subplots()
        for limit in limits:
            colour = known[labels[limit.actions]].colour
            row = kernels.index(limit.kernel) - 0.2 * problems.index(limit.actions)
            axes.plot(limit.ratio, row, "o", color=colour, ms=6)
            axes.plot(limit.product_ratio, row, "o", mec=colour, mfc="none", ms=6)
        axes.set(xscale="log", xlabel="CPU time over that of the floor")
        number_ticks(axes)
        axes.set_yticks(range(len(kernels)), kernels)
        axes.axvline(1.0, color=INK, lw=0.8)
        axes.grid(axis="x")
        axes.margins(y=0.15)
        head(
            figure,
            "Kernels against their floors",
            "Filled: over one pass over the data. Open: over the BLAS product of particles and "
            "actions.",
        )
        legend(figure, [(label, known[label]) for label in labels.values()], note="")
    return figure
