"""``growth``: time and memory of a decision as problems grow."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.growth.figure import described, draw_growth
from benchmarks.growth.measure import Effort, Point, measure_axes
from benchmarks.growth.power_law import Fit, fits
from benchmarks.growth.sizes import AXES
from benchmarks.records import in_brief, out_option, write_records
from soids.cli.page import framed, page

NOTE = (
    "ms: CPU time to choose and observe, ± its standard error over runs; first ms: in the rounds "
    "that do not count; MB: peak memory minus the memory before the policy was made."
)


@click.command()
@click.option(
    "--axis", "names", multiple=True, type=click.Choice(tuple(AXES)),
    help="Let this size grow; may be repeated.  [default: all]",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="Measure small sizes only, in two minutes.")
@click.option(
    "--settling", type=click.IntRange(min=0), default=30, show_default=True,
    help="Number of rounds that are played first and do not count.",
)  # fmt: skip
@click.option(
    "--decisions", type=click.IntRange(min=1), default=30, show_default=True,
    help="Number of rounds that count.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(min=1), default=10, show_default=True,
    help="Maximum number of runs of each point.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0.0), default=10.0, show_default=True,
    help="CPU time after which no other run of a point begins.",
)  # fmt: skip
@out_option
def growth(names: tuple[str, ...], quick: bool, out: Path | None, **effort: Any) -> None:
    """Measure CPU time and memory of a decision as problems grow. Dimension, actions, particles and
    observed rewards grow one at a time, and exponents are fitted.
    """
    console = page()
    aside = Console(stderr=True, highlight=False)
    wanted = list(dict.fromkeys(names)) or list(AXES)
    found = []
    for point in measure_axes(wanted, Effort(**effort), quick=quick, aside=aside.print):
        found.append(point)
        aside.print(f"{point.axis} {point.size:,}: {in_brief(point.milliseconds)} ms")
    laws = list(fits(found))
    for name in dict.fromkeys(point.axis for point in found):
        console.print(tabulated(name, [point for point in found if point.axis == name]))
    console.print(NOTE)
    if laws:
        console.print(law_table(laws))
    if out is not None and found:
        records: dict[str, Sequence[NamedTuple]] = {"points": found, "exponents": laws}
        write_records("growth", records, lambda: draw_growth(found, laws), out, console)


def tabulated(axis: str, found: Sequence[Point]) -> Table:
    """The points of one axis."""
    table = framed(f"A decision by {described(axis, found[0])}")
    for head in (AXES[axis].symbol, "ms", "±", "first ms", "MB", "process MB", "runs"):
        table.add_column(head, justify="right")
    for one in found:
        table.add_row(
            f"{one.size:,}", in_brief(one.milliseconds), in_brief(one.error),
            in_brief(one.settling), in_brief(one.megabytes), in_brief(one.process), f"{one.runs}",
        )  # fmt: skip
    return table


def law_table(laws: Iterable[Fit]) -> Table:
    """The exponents."""
    table = framed("Exponents, by least squares on logarithms")
    for head in ("axis", "of", "above", "points", "exponent"):
        table.add_column(head, justify="left" if head in ("axis", "of") else "right")
    for law in laws:
        table.add_row(law.axis, law.quantity, f"{law.beyond:,}", f"{law.points}", law.in_words())
    return table
