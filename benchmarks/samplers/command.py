"""``samplers``: CPU time per effective sample, ours beside others'."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from benchmarks.peers import REMEDY, is_installed
from benchmarks.problems import DATA, SETTINGS, pose
from benchmarks.records import out_option, write_records
from benchmarks.samplers.chains import GOOD
from benchmarks.samplers.figure import draw_samplers
from benchmarks.samplers.measurement import HOPELESS, Effort, Measurement, Ratio, measure, ratios
from benchmarks.samplers.walks import OURS, SAMPLERS, is_missing
from soids.cli.page import framed, page


@click.command()
@click.option(
    "--sampler", "names", multiple=True, type=click.Choice(tuple(SAMPLERS)),
    help="Measure this sampler; may be repeated.  [default: all]",
)  # fmt: skip
@click.option(
    "--dimension", "dimensions", multiple=True, type=click.IntRange(min=10), default=(100,),
    show_default=True, help="Dimension of the paper's instance; may be repeated.",
)  # fmt: skip
@click.option(
    "--rounds", multiple=True, type=click.IntRange(min=1), default=(200, 1000), show_default=True,
    help="Number of rewards in the evidence; may be repeated.",
)  # fmt: skip
@click.option(
    "--data", multiple=True, type=click.Choice(tuple(DATA)), default=("random", "paper"),
    show_default=True,
    help="Rewards of random actions, of actions chosen by SOIDS with its defaults, or with the "
    "paper's settings; may be repeated.",
)  # fmt: skip
@click.option(
    "--settings", type=click.Choice(tuple(SETTINGS)), default="paper", show_default=True,
    help="Likelihood power and learning rate of the posterior.",
)  # fmt: skip
@click.option(
    "--sweeps", type=click.IntRange(min=20), default=3000, show_default=True,
    help="Length of our chains, at first, and of Langevin's.",
)  # fmt: skip
@click.option(
    "--patience", type=click.IntRange(min=1), default=4, show_default=True,
    help=f"Our chains grow until every R-hat is below {GOOD}, at most by this factor.",
)  # fmt: skip
@click.option(
    "--draws", type=click.IntRange(min=20), default=500, show_default=True,
    help="Length of the chains of NUTS, after 500 iterations of adaptation.",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(min=1), default=25, show_default=True,
    help="Groups of four chains, ours and Langevin's; an interval needs two.",
)  # fmt: skip
@click.option(
    "--peer-groups", type=click.IntRange(min=1), default=3, show_default=True,
    help="Groups of four chains of NUTS, which takes most of the time.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True,
    help="Seed of the instance, of the data and of the chains.",
)  # fmt: skip
@out_option
def samplers(
    names: tuple[str, ...],
    dimensions: tuple[int, ...],
    rounds: tuple[int, ...],
    data: tuple[str, ...],
    settings: str,
    seed: int,
    out: Path | None,
    **effort: int,
) -> None:
    """Measure CPU time per effective sample, and R-hat.

    Our moves sample the optimistic posterior under the priors subset, spike_slab and relaxed; NUTS
    of NumPyro and BlackJAX and the paper's Langevin sampler under relaxed. Chains start far apart.
    """
    if not is_installed("arviz_stats"):
        raise click.ClickException(f"R-hat needs arviz-stats, which is missing: {REMEDY}")
    console = page()
    present = []
    for name in dict.fromkeys(names or SAMPLERS):
        if is_missing(name):
            console.print(f"{name} is left out, it is not installed: {REMEDY}.", markup=False)
        else:
            present.append(name)
    if not present:
        raise click.ClickException(f"none of these samplers is installed: {REMEDY}")
    found = []
    aside = Console(stderr=True, highlight=False)
    with aside.status("") as status:
        for dimension, time, kind in product(
            dict.fromkeys(dimensions), dict.fromkeys(rounds), dict.fromkeys(data)
        ):
            where = f"d = {dimension}, t = {time}, {kind}"
            status.update(where)
            if kind != "random":
                aside.print(f"{where}: playing the bandit that chooses the data")
            try:
                problem = pose(dimension, time, kind, settings, seed)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            for name in present:
                status.update(f"{where}: {name}")
                one = measure(name, problem, Effort(**effort), seed)
                found.append(one)
                spent = f"{one.milliseconds:.3g} ms" if one.is_valid else "chains disagree"
                aside.print(f"{where}: {name} {spent}, R-hat {one.rhat_worst:.3f}")
    compared = list(ratios(found))
    console.print(tabulated(found))
    if compared:
        console.print(ratio_table(compared))
    if out is not None:
        records: dict[str, Sequence[NamedTuple]] = {"measurements": found, "ratios": compared}
        write_records("samplers", records, lambda: draw_samplers(found), out, console)


def tabulated(found: Sequence[Measurement]) -> Table:
    """Each sampler on each problem."""
    table = framed("CPU milliseconds per effective sample, over groups of four chains")
    numbers = ("draws", "R-hat", "worst", "ms", "in all", "squares", "weights")
    for head in ("sampler", "d", "t", "data", *numbers):
        table.add_column(head, justify="left" if head in ("sampler", "data") else "right")
    for one in found:
        worst = f"{one.rhat_worst:.3f}"
        times = (one.milliseconds, one.milliseconds_in_all, one.milliseconds_of_squares)
        table.add_row(
            one.sampler, f"{one.dimension}", f"{one.rounds}", one.data, f"{one.draws}",
            f"{one.rhat:.3f}", worst if one.rhat_worst < GOOD else f"[red]{worst}[/]",
            *(f"{time:.3g}" if one.is_valid else "" for time in times),
            f"{one.weights:.2f}",
        )  # fmt: skip
    table.caption = (
        "in all: with adaptation and burn-in; squares: per effective sample of squared deviations; "
        "weights: their efficiency; the time of compilation is left out"
    )
    if any(one.rhat_worst >= GOOD for one in found):
        table.caption += (
            f"; chains with an R-hat of {GOOD} and more should be longer (--sweeps, --patience; "
            f"--draws for NUTS), from {HOPELESS} on they disagree and no time is given"
        )
    return table


def ratio_table(compared: Sequence[Ratio]) -> Table:
    """The other samplers over ours, a column for each of our priors."""
    ours = [name for name in OURS if any(one.ours == name for one in compared)]
    table = framed("CPU time per effective sample divided by ours [95 % interval]; in all")
    for head in ("sampler", "d", "t", "data", *(f"over {name}" for name in ours)):
        table.add_column(head, justify="left" if head in ("sampler", "data") else "right")
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for one in compared:
        key = (one.sampler, f"{one.dimension}", f"{one.rounds}", one.data)
        rows.setdefault(key, {})[one.ours] = in_words(one)
    for key, cells in rows.items():
        table.add_row(*key, *(cells.get(name, "") for name in ours))
    return table


def in_words(one: Ratio) -> str:
    """A ratio, its interval, and the ratio in all."""
    if not one.is_valid:
        return "chains disagree"
    ends = "" if one.low != one.low else f" \\[{one.low:.3g}, {one.high:.3g}]"
    return f"{one.ratio:.3g}{ends}; {one.in_all:.3g}"
