"""``soids bench limits``: each kernel's time against what its data alone would take."""

import math
from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from soids.bench.laws import draw_limits
from soids.bench.limits import DIMENSION, PARTICLES, Limit, measure_limits
from soids.cli.deliver import deliver, framed, out_option
from soids.cli.page import page


@click.command()
@click.option(
    "--actions", multiple=True, type=click.IntRange(min=2), default=(200, 100_000),
    show_default=True, help="On offer; again for more than one problem.",
)  # fmt: skip
@click.option(
    "--turns", type=click.IntRange(min=1), default=7, show_default=True,
    help="Of each kernel and its floor, of which the fastest counts.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0.0), default=0.05, show_default=True,
    help="Of CPU time that a turn takes at least.",
)  # fmt: skip
@out_option
def limits(actions: tuple[int, ...], turns: int, seconds: float, out: Path | None) -> None:
    """CPU time of each kernel of a decision against its floor: one pass over the data it must touch
    and, where rewards are made, the BLAS product of parameters and actions.
    """
    console = page()
    aside = Console(stderr=True, highlight=False)
    found: list[Limit] = []
    with aside.status("") as status:
        for count in dict.fromkeys(actions):
            status.update(f"{count:,} actions")
            found += measure_limits(count, turns, seconds)
    for count in dict.fromkeys(actions):
        console.print(tabulated(count, [one for one in found if one.actions == count]))
    if out is not None:
        deliver("limits", {"kernels": found}, lambda: draw_limits(found), out, console)


def tabulated(actions: int, found: Iterable[Limit]) -> Table:
    """Each kernel on one problem."""
    table = framed(f"Kernels at d = {DIMENSION}, K = {actions:,}, {PARTICLES} particles")
    for head in ("kernel", "actions", "MB", "ms", "pass", "times", "BLAS", "times"):
        table.add_column(head, justify="left" if head == "kernel" else "right", no_wrap=True)
    for one in found:
        table.add_row(
            one.kernel, f"{one.seen:,}" if one.seen else "", brief(one.megabytes),
            brief(one.milliseconds), brief(one.floor), brief(one.ratio), brief(one.product),
            brief(one.product_ratio),
        )  # fmt: skip
    table.caption = "CPU ms by the fastest of several turns; pass: once over the data"
    return table


def brief(number: float) -> str:
    """Two digits, or all before the point; nothing where nothing was measured.

    >>> brief(0.01234), brief(1.234), brief(1234.5), brief(math.nan)
    ('0.012', '1.2', '1,234', '')
    """
    if math.isnan(number):
        return ""
    return f"{number:,.0f}" if number >= 10.0 else f"{number:.2g}"
