"""A figure of the time that an effective sample takes."""

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.samplers.chains import GOOD
from benchmarks.samplers.measurement import HOPELESS, Measurement, ratios
from soids.output.figures.canvas import align_logs, axes_grid, head, styled
from soids.output.figures.looks import looks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

YARDSTICK = "numpyro"  # the ratio of its time to ours is written above our points


def draw_samplers(measurements: list[Measurement]) -> "Figure":
    """Time per effective sample: one panel for each problem, one point for each group of chains."""
    samplers = list(dict.fromkeys(found.sampler for found in measurements))
    problems = list(dict.fromkeys(found.problem for found in measurements))
    compared = [one for one in ratios(measurements) if one.sampler == YARDSTICK]
    known = looks(samplers)
    columns = 2 if len(problems) == 4 else min(len(problems), 3)
    with styled():
        figure, grid = axes_grid(columns, -(-len(problems) // columns), len(samplers))
        for axes, problem in zip(grid.flat, problems, strict=False):
            for found in measurements:
                if found.problem == problem:
                    place, colour = samplers.index(found.sampler), known[found.sampler].colour
                    places = np.linspace(place - 0.2, place + 0.2, len(found.by_group) + 2)[1:-1]
                    if found.rhat_worst < HOPELESS:
                        inside = colour if found.rhat_worst < GOOD else "none"
                        axes.scatter(
                            places, found.by_group, s=18, edgecolors=colour, facecolors=inside
                        )
                    else:
                        axes.scatter(places, found.by_group, s=18, marker="x", color=colour)
            for one in compared:
                if one.problem == problem and one.is_valid:
                    ours = next(
                        m for m in measurements if (m.sampler, m.problem) == (one.ours, problem)
                    )
                    axes.annotate(
                        f"{one.ratio:.3g}", (samplers.index(one.ours), max(ours.by_group)), (0, 4),
                        textcoords="offset points", ha="center", size=7.5,
                    )  # fmt: skip
            dimension, rounds, data, _ = problem
            axes.set(title=f"d = {dimension}, t = {rounds}, {data} data", yscale="log")
            axes.set_xlim(-0.5, len(samplers) - 0.5)
        align_logs(grid.flat)
        for axes in grid.flat:
            axes.set_xticks(
                range(len(samplers)), samplers, rotation=30, ha="right", rotation_mode="anchor"
            )
        for axes in grid[:, 0]:
            axes.set_ylabel("CPU ms per effective sample")
        head(
            figure,
            "CPU time per effective sample",
            f"One mark for each group of four chains. Filled: R-hat of all groups is below {GOOD}; "
            f"open: below {HOPELESS}; crosses: chains disagree, and their time is not valid."
            + (f" Numbers: the time of {YARDSTICK} divided by ours." if compared else ""),
        )
    return figure
