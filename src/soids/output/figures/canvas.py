"""What figures share: a style, a head, a legend, ticks, and how they are saved."""

import io
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soids.files import write_whole
from soids.output.figures.looks import Look
from soids.simulation.results import Panel
from soids.simulation.statistics import ranked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REMEDY = 'figures and reports need more packages: pip install "soids[plot]"'
INK = "#222222"
LEGEND = 2.3  # inches
CAPTION_LETTERS = 17.0  # an inch
WIDE, THIN = 2.2, 1.5  # the first policy of the file is the one to look at
TINY = 1e-12  # in place of zero on a logarithmic scale

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#999999",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "font.size": 9.0,
    "grid.color": "#ececec",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 3.2,
    "pdf.fonttype": 42,  # TrueType: text stays text
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a label is a dollar
    "xtick.color": "#999999",
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": "#999999",
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def styled() -> Iterator[None]:
    """Our style on top of Matplotlib's own, whatever the user's is."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    plain = matplotlib.rcParamsDefault.items()
    style: dict[Any, Any] = {key: value for key, value in plain if not key.startswith("backend")}
    style.update(STYLE)
    with matplotlib.rc_context(style):
        yield


def canvas(columns: int, rows: int, policies: int, height: float = 2.4) -> "tuple[Figure, Any]":
    """A figure with its grid of axes (rows, columns), and room for a legend on the right."""
    from matplotlib.figure import Figure

    size = (2.9 * max(columns, 1.4) + LEGEND, max(height * rows, 0.2 * policies) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def played(panels: list[Panel]) -> list[Panel]:
    """The panels in which something was played."""
    found = [panel for panel in panels if any(len(runs.seeds) for runs in panel.runs.values())]
    if not found:
        raise ValueError("panels must hold at least one trial: there is nothing to draw yet")
    return found


def seeds_in_words(panels: list[Panel]) -> str:
    """How many seeds there are.

    >>> from soids.simulation.results import Runs
    >>> runs = Runs(np.arange(10), np.array([1]), np.zeros((10, 1)), np.zeros(10))
    >>> seeds_in_words([Panel("", {}, {"SOIDS": runs})])
    '10 seeds'
    """
    counts = {len(r.seeds) for panel in panels for r in panel.runs.values() if len(r.seeds)}
    span = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"{span} seed{'' if span == '1' else 's'}"


def legend_order(panels: list[Panel], listed: Sequence[str]) -> tuple[list[str], str]:
    """The policies from top to bottom, and what a legend says of that order."""
    found = ranked(panels)
    if listed:
        return [policy for policy in listed if policy in found], ""
    return found[::-1], "most regret on top"


def spread_in_words(shown: str, panels: list[Panel]) -> str:
    """What lines and bands are, or that there is nothing but one seed to see."""
    seeds = seeds_in_words(panels)
    return (
        f"{shown} over {seeds}." if seeds != "1 seed" else "Only one seed: no standard deviation."
    )


def number_ticks(axes: "Axes") -> None:
    """Ticks as people write numbers; on a short logarithmic axis 2 and 5 are ticks, too."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if axes.get_xscale() == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))  # rounds are whole
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.9g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.9g}"))
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1.0,) if high > 300.0 * low else (1, 2, 5)))
            axis.set_minor_formatter(NullFormatter())


def align_logs(grid: "Iterable[Axes]") -> None:
    """One logarithmic scale for all; and no frame where there is nothing to see."""
    grid = list(grid)
    shown = [axes for axes in grid if axes.has_data()]
    for axes in grid:
        axes.set_visible(axes in shown)
    logs = [axes for axes in shown if axes.get_yscale() == "log"]
    if logs:
        limits = np.array([axes.get_ylim() for axes in logs])
        for axes in logs:
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
            number_ticks(axes)


def head(figure: "Figure", title: str, note: str, caption: str = "") -> None:
    """What the figure is, and what its lines are, above all axes; a caption below them."""
    width, height = figure.get_size_inches()
    foot = textwrap.wrap(caption, int(width * CAPTION_LETTERS))
    bottom = 0.25 + 0.15 * len(foot) if foot else 0.0  # inches
    height += bottom
    figure.set_size_inches(width, height)
    below = 0.1
    for text, points, weight in ((title, 12.0, "bold"), (note, 9.0, "normal")):
        for line in textwrap.wrap(text, int(width * 130.0 / points)):
            figure.text(
                0.1 / width, 1.0 - below / height, line, size=points, weight=weight, va="top"
            )
            below += points / 50.0
    for place, line in enumerate(foot):
        figure.text(0.1 / width, (bottom - 0.1 - 0.15 * place) / height, line, size=8.0, va="top")
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0.0, bottom / height, 1.0, 1.0 - (below + bottom) / height))


def legend(figure: "Figure", entries: list[tuple[str, Look]], note: str) -> None:
    """Lines and labels on the right, and how they are sorted."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=look.colour, dashes=look.dash or (None, None), lw=2.0)
        for _, look in entries
    ]
    labels = [wrapped(label) for label, _ in entries]
    figure.legend(
        handles, labels, loc="outside right center", title=note, title_fontsize=8,
        alignment="left",
    )  # fmt: skip


def wrapped(label: str) -> str:
    """A label in lines, none of which begins or ends with an equals sign.

    >>> wrapped("SOIDS, spike_slab(spread = 0.25)")
    'SOIDS,\\nspike_slab(spread = 0.25)'
    """
    return textwrap.fill(label.replace(" = ", "\0=\0"), 30).replace("\0", " ")


def save(figure: "Figure", stem: str | os.PathLike[str]) -> list[Path]:
    """Write ``stem.png`` and ``stem.pdf``, each whole or not at all, and say where they are."""
    written = []
    with styled():
        for ending, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=200, metadata=metadata)
            written.append(Path(f"{os.fspath(stem)}.{ending}"))
            write_whole(written[-1], content.getvalue())
    return written
