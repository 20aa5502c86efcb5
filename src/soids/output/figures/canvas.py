"""What figures share: a style, a head, a legend, ticks, and how they are saved."""

import io
import os
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from soids.files import write_whole
from soids.output.figures.looks import Look
from soids.simulation.results import Panel, Part
from soids.simulation.statistics import order_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REMEDY = 'figures and reports need more packages: pip install "soids[plot]"'
INK = "#222222"
LEGEND = 2.3  # inches
CAPTION_LETTERS = 17.0  # an inch
TINY = 1e-12  # in place of zero on a logarithmic scale

STYLE: dict[str, Any] = {
    "text.color": INK, "text.parse_math": False,  # a dollar in a label is a dollar
    "font.size": 9.0, "pdf.fonttype": 42,  # TrueType: text stays text
    "axes.axisbelow": True, "axes.edgecolor": "#999999", "axes.labelcolor": INK,
    "axes.labelsize": 9.0, "axes.linewidth": 0.7, "axes.titlelocation": "left",
    "axes.titlesize": 10.0, "axes.spines.right": False, "axes.spines.top": False,
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#ececec", "grid.linewidth": 0.7,
    "xtick.color": "#999999", "xtick.labelcolor": INK, "xtick.labelsize": 8.5,
    "ytick.color": "#999999", "ytick.labelcolor": INK, "ytick.labelsize": 8.5,
    "legend.frameon": False, "legend.fontsize": 8.5, "legend.handlelength": 3.2,
}  # fmt: skip


@contextmanager
def styled() -> Iterator[None]:
    """Our style on top of Matplotlib's own, whatever the user's is."""
    try:
        from matplotlib import style
    except ImportError as error:
        raise ImportError(f"{REMEDY} ({error})") from None
    with style.context(["default", STYLE]):
        yield


def axes_grid(columns: int, rows: int, policies: int, height: float = 2.4) -> "tuple[Figure, Any]":
    """A figure with its grid of axes (rows, columns), and room for a legend on the right."""
    from matplotlib.figure import Figure

    size = (2.9 * max(columns, 1.4) + LEGEND, max(height * rows, 0.2 * policies) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def played(panels: list[Panel]) -> list[Panel]:
    """The panels with a finished trial."""
    found = [panel for panel in panels if panel.played]
    if not found:
        raise ValueError("panels must hold at least one trial: there is nothing to draw yet")
    return found


def seeds_in_words(panels: list[Panel]) -> str:
    """The number of seeds of each policy on each problem, such as "10 seeds" or "8 to 10 seeds"."""
    counts = {len(runs.seeds) for panel in panels for runs in panel.played.values()}
    span = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"{span} seed{'' if span == '1' else 's'}"


def number_ticks(axes: "Axes") -> None:
    """Ticks with commas between thousands; a short logarithmic axis has ticks at 2 and 5, too."""
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
    """Give all logarithmic axes the same limits, and hide axes without data."""
    grid = list(grid)
    for axes in grid:
        axes.set_visible(axes.has_data())
    logs = [axes for axes in grid if axes.get_visible() and axes.get_yscale() == "log"]
    if logs:
        limits = np.array([axes.get_ylim() for axes in logs])
        for axes in logs:
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
            number_ticks(axes)


def finish(
    figure: "Figure", part: Part, note: str, known: dict[str, Look],
    more: Iterable[tuple[str, Look]] = (),
) -> None:  # fmt: skip
    """Write the title, note and caption of a part around its axes, and its legend."""
    note = f"{part.note}. {note}" if part.note else note
    head(figure, part.figure.title, note, part.figure.caption)
    listed = bool(part.figure.policies)
    order = order_of(part) if listed else order_of(part)[::-1]
    entries = [*((policy, known[policy]) for policy in order), *more]
    legend(figure, entries, "" if listed else "most regret on top")


def head(figure: "Figure", title: str, note: str, caption: str = "") -> None:
    """Write a title and a note above all axes, and a caption below them."""
    width, height = figure.get_size_inches()
    foot = textwrap.wrap(caption, int(width * CAPTION_LETTERS))
    bottom = 0.25 + 0.15 * len(foot) if foot else 0.0  # inches
    height += bottom
    figure.set_size_inches(width, height)
    left, below = 0.1 / width, 0.1
    for text, points, weight in ((title, 12.0, "bold"), (note, 9.0, "normal")):
        for line in textwrap.wrap(text, int(width * 130.0 / points)):
            figure.text(left, 1.0 - below / height, line, size=points, weight=weight, va="top")
            below += points / 50.0
    for place, line in enumerate(foot):
        figure.text(left, (bottom - 0.1 - 0.15 * place) / height, line, size=8.0, va="top")
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0.0, bottom / height, 1.0, 1.0 - (below + bottom) / height))


def legend(figure: "Figure", entries: list[tuple[str, Look]], note: str) -> None:
    """Lines and labels on the right, under a note on their order."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=look.colour, dashes=look.dash or (None, None), lw=2.0)
        for _, look in entries
    ]
    figure.legend(
        handles, [wrapped(label) for label, _ in entries], loc="outside right center",
        title=note, title_fontsize=8, alignment="left",
    )  # fmt: skip


def wrapped(label: str) -> str:
    """A label in lines that neither begin nor end with an equals sign.

    >>> wrapped("SOIDS, spike_slab(spread = 0.25)")
    'SOIDS,\\nspike_slab(spread = 0.25)'
    """
    return textwrap.fill(label.replace(" = ", "\0=\0"), 30).replace("\0", " ")


def save(figure: "Figure", stem: str | os.PathLike[str]) -> list[Path]:
    """Write ``stem.png`` and ``stem.pdf``, each whole or not at all, and return their paths."""
    written, folder = list[Path](), Path(stem).parent
    with styled():
        for ending, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            content = io.BytesIO()
            figure.savefig(content, format=ending, dpi=200, metadata=metadata)
            written.append(Path(f"{os.fspath(stem)}.{ending}"))
            write_whole(written[-1], content.getvalue(), folder)
    return written
