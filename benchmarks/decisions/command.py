"""``decisions``: regret and time of decisions, beside those of other libraries."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.decisions.figure import draw_decisions
from benchmarks.decisions.playable import of_dimensions, without_absent
from benchmarks.decisions.standings import HEADS, cells, decisions_csv, standings
from soids.bandits.data import GENOTYPES, data_file
from soids.cli.page import framed
from soids.cli.run import carry_out, data_option, load_experiment, options
from soids.experiments.run import Results, play_missing
from soids.files import write_whole
from soids.output.figures import save
from soids.output.figures.canvas import seeds_in_words
from soids.output.publish import lacking
from soids.simulation.results import Panel, count
from soids.simulation.statistics import reference_of

EXPERIMENTS = {path.stem: path for path in Path(__file__).parent.glob("*.toml")}
PAPER = (20, 40, 100)  # dimensions of the paper's instances
REAL = 1001  # columns of the genotypes


@click.command()
@click.option(
    "--dimension", "dimensions", multiple=True,
    type=click.Choice([str(one) for one in (*PAPER, REAL)]),
    help=f"Play the problem of this dimension; may be repeated. {REAL} stands for the genotypes.  "
    "[default: all]",
)  # fmt: skip
@data_option
@options
def decisions(dimensions: tuple[str, ...], out: Path | None, **asked: Any) -> None:
    """Compare regret and time with learners of other libraries. Problems are the paper's instances
    and real genotypes. Finished trials are kept; the command plays what is missing.
    """
    wanted = {int(one) for one in dimensions}
    out = out or Path("results/decisions")
    if not wanted or wanted & set(PAPER):
        compare("peers", wanted & set(PAPER), out=out / "peers", **asked)
    if REAL in wanted or (not wanted and has_genotypes()):
        compare("genotypes", set(), out=out / "genotypes", **asked)


def has_genotypes() -> bool:
    """Whether the data of the genotypes are there; if not, a message says where to put them."""
    try:
        data_file(GENOTYPES)
    except ValueError as error:
        click.echo(f"Without the genotypes: {error}.")
        return False
    return True


def compare(name: str, dimensions: set[int], *, quick: bool, full: bool, **asked: Any) -> None:
    """Play the part of an experiment that can be played here, and show the standings."""
    experiment, reasons = without_absent(load_experiment(EXPERIMENTS[name], quick, full))
    for reason in reasons:
        click.echo(f"Without a peer: {reason}.")
    part = of_dimensions(experiment, dimensions) if dimensions else experiment
    carry_out(lambda watch: play_missing(part, watch=watch, **asked), show)


def show(results: Results, console: Console) -> None:
    """Print a table for each problem; write the same as numbers and as a figure."""
    panels, folder = results.panels, results.folder
    if not count(panels):
        return
    for panel in panels:
        if any(len(runs.seeds) for runs in panel.runs.values()):
            console.print(tabulated(panel))
    console.print(lacking(results.experiment, panels), end="", markup=False)
    write_whole(folder / "decisions.csv", decisions_csv(panels).encode())
    try:
        save(draw_decisions(panels, results.experiment.title), folder / "decisions")
    except ImportError as error:
        console.print(f"[yellow]No figure: {escape(str(error))}[/]")
        return
    console.print(f"{folder / 'decisions'}.csv has the numbers, .png and .pdf the figure.")


def tabulated(panel: Panel) -> Table:
    """All policies on one problem, the smallest regret first."""
    reference = reference_of([panel])
    horizon = max(int(runs.rounds[-1]) for runs in panel.runs.values() if len(runs.seeds))
    table = framed(panel.title)
    table.caption = (
        f"{seeds_in_words([panel])}, {horizon:,} rounds. ms: processor time to choose and observe. "
        f"Difference of regret and ratio of times (median of the seeds, smallest–largest): from "
        f"{escape(reference)}."
    )
    for number, title in enumerate(HEADS):
        table.add_column(escape(title), justify="right" if number else "left", no_wrap=True)
    for one in standings(panel):
        table.add_row(*map(escape, cells(one, reference)))
    return table
