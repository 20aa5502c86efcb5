"""A figure of the time of kernels over their floors."""

from typing import TYPE_CHECKING

from benchmarks.limits.measure import Limit
from soids.output.figures.canvas import INK, head, legend, number_ticks, styled
from soids.output.figures.looks import looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_limits(limits: list[Limit]) -> "Figure":
    """The time of each kernel over its floor: a row for each kernel, a colour for each problem."""
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
