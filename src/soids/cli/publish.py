"""From stored outcomes to what people read: a table, numbers, a figure and a report."""

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from soids.cli.whereabouts import played_experiment
from soids.files import write_whole
from soids.plots import draw_curves, draw_sweep, save
from soids.report import write_report
from soids.simulation import tables
from soids.simulation.comparison import reference_of, summarise
from soids.simulation.experiment import Experiment
from soids.simulation.panels import Panel, gather, versions_of
from soids.simulation.store import Store

MANY = 8  # columns of a table in a terminal


def read_results(folder: Path) -> tuple[Experiment, list[Panel]]:
    """The experiment that was run into a folder, and the outcomes that are there."""
    experiment = played_experiment(folder)
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        raise click.ClickException(f"no trial in {folder} is finished: soids run goes on with it")
    click.echo(lacking(experiment, panels), err=True, nl=False)
    return experiment, panels


def count(panels: list[Panel]) -> int:
    """How many trials are finished."""
    return sum(len(runs.seeds) for panel in panels for runs in panel.runs.values())


def lacking(experiment: Experiment, panels: list[Panel]) -> str:
    """A line that says how many trials are missing, if any."""
    asked = sum(len(players) for players in experiment.players) * len(experiment.seeds)
    missing = asked - count(panels)
    if missing == 0:
        return ""
    return f"{missing} of {asked} trials are missing: all numbers are of the others.\n"


def publish(experiment: Experiment, folder: Path, console: Console) -> None:
    """Print the table, and write numbers, figure and report beside the trials."""
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        return
    console.print(shown(experiment, panels))
    console.print(lacking(experiment, panels), end="", markup=False)
    write_numbers(experiment, panels, folder)
    try:
        draw(experiment, panels, folder)
    except ImportError as error:
        console.print(f"[yellow]No figure and no report: {escape(str(error))}[/]")
        return
    console.print(
        f"{folder / 'report.html'} has all of it, "
        f"{folder / experiment.name}.png and .pdf the figure.",
        markup=False,
    )


def write_numbers(experiment: Experiment, panels: list[Panel], folder: Path) -> None:
    """The numbers, byte for byte the same for the same experiment; times apart."""
    reference = reference_of(panels)
    numbers = {
        "regret": tables.regret_csv(panels),
        "summary": tables.summary_csv(panels),
        "comparison": tables.comparison_csv(panels, reference),
        "curves": tables.curves_csv(panels),
        "times": tables.times_csv(panels),
    }
    if experiment.x != "round":
        numbers["sweep"] = tables.sweep_csv(panels, experiment.x)
    for name, text in numbers.items():
        write_whole(folder / f"{name}.csv", text.encode())


def draw(experiment: Experiment, panels: list[Panel], folder: Path) -> None:
    """The figure that the experiment asks for, as PNG and PDF, and the report."""
    title, bounds = experiment.title, experiment.bounds
    setting = None if experiment.x == "round" else experiment.x
    if setting is None:
        figure = draw_curves(panels, title)
    else:
        figure = draw_sweep(panels, setting, title, bounds)
    save(figure, folder / experiment.name)
    flags = "".join(f" --{flag}" for flag in ("quick", "full") if getattr(experiment, flag))
    text = f"# played with{flags}\n\n{experiment.text}" if flags else experiment.text
    page = folder / "report.html"
    write_report(
        panels, title, text, versions_of(panels), page,
        setting=setting, bounds=bounds, remark=lacking(experiment, panels),
    )  # fmt: skip


def shown(experiment: Experiment, panels: list[Panel]) -> Table:
    """The table for a terminal, with what a decision takes on the last problem."""
    table = Table(
        title=f"{escape(experiment.title)}\nmean regret ± standard error \\[worst seed]",
        caption="ms: processor time of a round, on the last problem",
        box=box.SIMPLE,
        pad_edge=False,
    )
    heads, rows = tables.grid(panels)
    times = {found.policy: f"{found.milliseconds:.2f}" for found in summarise(panels[-1])}
    heads.append("ms")
    for row in rows:
        row.append(times.get(row[0], ""))
    if len(heads) > MANY:  # more problems than fit side by side
        heads, *rows = map(list, zip(heads, *rows, strict=True))
    for number, head in enumerate(heads):
        table.add_column(escape(head), justify="right" if number else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
