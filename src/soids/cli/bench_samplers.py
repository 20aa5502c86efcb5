"""``soids bench samplers``: what an effective sample costs, ours and others'."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from soids.bench import REMEDY, is_installed
from soids.bench.chains import GOOD
from soids.bench.charts import draw_samplers
from soids.bench.problems import DATA, SETTINGS, pose
from soids.bench.samplers import (
    HOPELESS,
    OURS,
    SAMPLERS,
    Effort,
    Measurement,
    Ratio,
    is_missing,
    measure,
    ratios,
)
from soids.cli.deliver import deliver, framed, out_option
from soids.cli.page import page


@click.command()
@click.option(
    "--sampler", "names", multiple=True, type=click.Choice(tuple(SAMPLERS)),
    help="Again for more than one.  [default: all]",
)  # fmt: skip
@click.option(
    "--dimension", "dimensions", multiple=True, type=click.IntRange(min=10), default=(100,),
    show_default=True,
    help="Of the paper's instance.",
)  # fmt: skip
@click.option(
    "--rounds", multiple=True, type=click.IntRange(min=1), default=(200, 1000), show_default=True,
    help="How much evidence there is.",
)  # fmt: skip
@click.option(
    "--data", multiple=True, type=click.Choice(tuple(DATA)), default=("random", "paper"),
    show_default=True,
    help="Actions drawn at random, chosen by SOIDS, or by SOIDS as the paper runs it.",
)  # fmt: skip
@click.option(
    "--settings", type=click.Choice(tuple(SETTINGS)), default="paper", show_default=True,
    help="Likelihood power and learning rate.",
)  # fmt: skip
@click.option(
    "--sweeps", type=click.IntRange(min=20), default=3000, show_default=True,
    help="Of our chains, at first, and of Langevin's.",
)  # fmt: skip
@click.option(
    "--patience", type=click.IntRange(min=1), default=4, show_default=True,
    help="Let ours grow so many times longer, until every R-hat is below 1.01.",
)  # fmt: skip
@click.option(
    "--draws", type=click.IntRange(min=20), default=500, show_default=True,
    help="Of the chains of NUTS, after as many that adapt as is usual.",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(min=1), default=25, show_default=True,
    help="Of four chains each, ours and Langevin's; an interval takes two.",
)  # fmt: skip
@click.option(
    "--peer-groups", type=click.IntRange(min=1), default=3, show_default=True,
    help="The same for NUTS, which takes most of the time.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@out_option
def samplers(
    names: tuple[str, ...],
    dimensions: tuple[int, ...],
    rounds: tuple[int, ...],
    data: tuple[str, ...],
    settings: str,
    sweeps: int,
    patience: int,
    draws: int,
    groups: int,
    peer_groups: int,
    seed: int,
    out: Path | None,
) -> None:
    """CPU time per effective sample of the optimistic posterior, and R-hat beside it.

    Ours on the priors subset, spike_slab and relaxed; NUTS of NumPyro and BlackJAX and the paper's
    Langevin sampler on relaxed. Chains start far apart.
    """
    if not is_installed("arviz_stats"):
        raise click.ClickException(f"R-hat needs arviz-stats, which is missing: {REMEDY}")
    console = page()
    effort = Effort(sweeps, draws, groups, peer_groups, patience)
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
                one = measure(name, problem, effort, seed)
                found.append(one)
                cost = f"{one.milliseconds:.3g} ms" if agrees(one) else "chains disagree"
                aside.print(f"{where}: {name} {cost}, R-hat {one.rhat_worst:.3f}")
    compared = list(ratios(found))
    console.print(tabulated(found))
    if compared:
        console.print(ratio_table(compared))
    if out is not None:
        records: dict[str, Sequence[NamedTuple]] = {"measurements": found, "ratios": compared}
        deliver("samplers", records, lambda: draw_samplers(found), out, console)


def agrees(one: Measurement) -> bool:
    """Whether chains agree well enough for effective sizes, and so times, to mean something."""
    return one.rhat_worst < HOPELESS


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
            *(f"{time:.3g}" if agrees(one) else "" for time in times),
            f"{one.weights:.2f}",
        )  # fmt: skip
    table.caption = (
        "in all: with burning in and adapting; squares: per effective sample of squared "
        "deviations; compiling is left out everywhere"
    )
    if any(one.rhat_worst >= GOOD for one in found):
        table.caption += (
            f"; chains with an R-hat of {GOOD} and more should be longer (--sweeps, --patience; "
            f"--draws for NUTS), from {HOPELESS} on they disagree and no time is given"
        )
    return table


def ratio_table(compared: Sequence[Ratio]) -> Table:
    """The others over ours, a column for each of our priors."""
    ours = [name for name in OURS if any(one.ours == name for one in compared)]
    table = framed("Times as much CPU time per effective sample as ours [95 % interval]; in all")
    for head in ("sampler", "d", "t", "data", *(f"over {name}" for name in ours)):
        table.add_column(head, justify="left" if head in ("sampler", "data") else "right")
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for one in compared:
        key = (one.sampler, f"{one.dimension}", f"{one.rounds}", one.data)
        rows.setdefault(key, {})[one.ours] = spoken(one)
    for key, cells in rows.items():
        table.add_row(*key, *(cells.get(name, "") for name in ours))
    return table


def spoken(one: Ratio) -> str:
    """A ratio, its interval, and what it is in all."""
    if not one.means_something:
        return "chains disagree"
    ends = "" if one.low != one.low else f" \\[{one.low:.3g}, {one.high:.3g}]"
    return f"{one.ratio:.3g}{ends}; {one.in_all:.3g}"
