"""``limits``: each kernel's time against the time that its data alone take."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks.limits.figure import draw_limits
from benchmarks.limits.measure import Limit, measure_limits
from benchmarks.limits.tasks import DIMENSION, PARTICLES
from benchmarks.records import in_brief, out_option, write_records
from soids.cli.page import framed, page


@click.command()
@click.option(
    "--actions", multiple=True, type=click.IntRange(min=2), default=(200, 100_000),
    show_default=True, help="Number of actions; may be repeated for more than one problem.",
)  # fmt: skip
@click.option(
    "--turns", type=click.IntRange(min=1), default=7, show_default=True,
    help="Number of turns of each kernel and its floor; the fastest turn counts.",
)  # fmt: skip
@click.option(
    "--seconds", type=click.FloatRange(min=0.0), default=0.05, show_default=True,
    help="CPU time that a turn takes at least.",
)  # fmt: skip
@out_option
def limits(actions: tuple[int, ...], turns: int, seconds: float, out: Path | None) -> None:
    """Measure each kernel against the time of a pass over its data. A kernel that computes rewards
    is also compared with the BLAS product of parameters and actions.
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
        write_records("limits", {"kernels": found}, lambda: draw_limits(found), out, console)


def tabulated(actions: int, found: Iterable[Limit]) -> Table:
    """Each kernel on one problem."""
    table = framed(f"Kernels at d = {DIMENSION}, K = {actions:,}, {PARTICLES} particles")
    for head in ("kernel", "actions", "MB", "ms", "pass", "times", "BLAS", "times"):
        table.add_column(head, justify="left" if head == "kernel" else "right", no_wrap=True)
    for one in found:
        table.add_row(
            one.kernel, f"{one.seen:,}" if one.seen else "", in_brief(one.megabytes),
            in_brief(one.milliseconds), in_brief(one.floor), in_brief(one.ratio),
            in_brief(one.product), in_brief(one.product_ratio),
        )  # fmt: skip
    table.caption = "CPU ms of the fastest of several turns; pass: one pass over the data"
    return table
