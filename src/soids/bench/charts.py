"""What was measured, as figures."""

from typing import TYPE_CHECKING

from soids.bench.chains import GOOD
from soids.bench.samplers import HOPELESS, Measurement
from soids.plots.canvas import align_logs, canvas, head, legend, styled
from soids.plots.looks import looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_samplers(measurements: list[Measurement]) -> "Figure":
    """Time per effective sample, one panel a problem, one point a group of chains."""
    samplers = list(dict.fromkeys(found.sampler for found in measurements))
    problems = list(dict.fromkeys(found.problem for found in measurements))
    known = looks(samplers)
    columns = 2 if len(problems) == 4 else min(len(problems), 3)
    with styled():
        figure, grid = canvas(columns, -(-len(problems) // columns), len(samplers))
        for axes, problem in zip(grid.flat, problems, strict=False):
            for found in measurements:
                if found.problem == problem:
                    place, colour = samplers.index(found.sampler), known[found.sampler].colour
                    places = [place] * len(found.by_group)
                    if found.rhat_worst < HOPELESS:
                        inside = colour if found.rhat_worst < GOOD else "none"
                        axes.scatter(
                            places, found.by_group, s=18, edgecolors=colour, facecolors=inside
                        )
                    else:
                        axes.scatter(places, found.by_group, s=18, marker="x", color=colour)
            dimension, rounds, data, _ = problem
            axes.set(title=f"d = {dimension}, t = {rounds}, {data}", yscale="log")
            axes.set_xlim(-0.5, len(samplers) - 0.5)
        align_logs(grid.flat)
        for axes in grid.flat:
            axes.set_xticks([])
        for axes in grid[:, 0]:
            axes.set_ylabel("CPU ms per effective sample")
        head(
            figure,
            "What an effective sample costs",
            f"One mark a group of four chains. Filled: all groups of the sampler have R-hat below "
            f"{GOOD}; open: below {HOPELESS}; crosses: they disagree, and the time means nothing.",
        )
        legend(figure, [(name, known[name]) for name in samplers], note="from left to right")
    return figure
