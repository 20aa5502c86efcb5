"""``soids bench growth``: time and memory of a decision as problems grow."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from soids.bench.growth import AXES, Effort, Fit, Point, fits, measure_axes
from soids.bench.laws import described, draw_growth
from soids.cli.bench_limits import brief
from soids.cli.deliver import deliver, framed, out_option
from soids.cli.page import page

NOTE = (
    "ms: CPU time to choose and observe, ± its standard error over runs; first ms: of the rounds "
    "before those that count; MB: most memory beyond what there was before the policy."
)


@click.command()
@click.option(
    "--axis", "names", multiple=True, type=click.Choice(tuple(AXES)),
    help="What grows; again for more than one.  [default: all]",
)  # fmt: skip
@click.option("--quick", is_flag=True, help="Small sizes only: two minutes in place of many.")
@click.option(
    "--settling", type=click.IntRange(min=0), default=30, show_default=True,
    help="Rounds before those that count.",
)  # fmt: skip
@click.option(
    "--decisions", type=click.IntRange(min=1), default=30, show_default=True,
    help="That count.",
)  # fmt: skip
@click.option(
    "--runs", type=click.IntRange(min=1), default=10, show_default=True,
    help="Of each point, at most.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0.0), default=10.0, show_default=True,
    help="Of CPU time, after which no other run of a point begins.",
)  # fmt: skip
@out_option
def growth(
    names: tuple[str, ...],
    quick: bool,
    settling: int,
    decisions: int,
    runs: int,
    seconds: float,
    out: Path | None,
) -> None:
    """CPU time and memory of a decision of SOIDS as functions of dimension, actions, particles and
    rewards so far, one at a time, with fitted exponents.
    """
    console = page()
    aside = Console(stderr=True, highlight=False)
    effort = Effort(settling, decisions, runs, seconds)
    wanted = list(dict.fromkeys(names)) or list(AXES)
    found = []
    for point in measure_axes(wanted, effort, quick=quick, aside=aside.print):
        found.append(point)
        aside.print(f"{point.axis} {point.size:,}: {brief(point.milliseconds)} ms")
    laws = list(fits(found))
    for name in dict.fromkeys(point.axis for point in found):
        console.print(tabulated(name, [point for point in found if point.axis == name]))
    console.print(NOTE)
    if laws:
        console.print(law_table(laws))
    if out is not None and found:
        records: dict[str, Sequence[NamedTuple]] = {"points": found, "exponents": laws}
        deliver("growth", records, lambda: draw_growth(found, laws), out, console)


def tabulated(axis: str, found: Sequence[Point]) -> Table:
    """The points of one axis."""
    table = framed(f"A decision by {described(axis, found[0])}")
    for head in (AXES[axis].symbol, "ms", "±", "first ms", "MB", "process MB", "runs"):
        table.add_column(head, justify="right")
    for one in found:
        table.add_row(
            f"{one.size:,}", brief(one.milliseconds), brief(one.error), brief(one.settling),
            brief(one.megabytes), brief(one.process), f"{one.runs}",
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
