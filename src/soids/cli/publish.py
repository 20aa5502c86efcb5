"""From stored outcomes to what people read: tables, numbers, figures and a report."""

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from soids.cli.whereabouts import played_experiment
from soids.files import write_whole
from soids.output import regret_tables as tables
from soids.output.figures import draw_part, save
from soids.output.report import write_report
from soids.simulation.experiment import Experiment
from soids.simulation.figures import ROUND
from soids.simulation.results import Panel, Part, count, gather, parts_of, versions_of
from soids.simulation.statistics import summarise
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


def lacking(experiment: Experiment, panels: list[Panel]) -> str:
    """A line that says how many trials are missing, if any."""
    asked = sum(len(players) for players in experiment.players) * len(experiment.seeds)
    missing = asked - count(panels)
    if missing == 0:
        return ""
    return f"{missing} of {asked} trials are missing: all numbers are of the others.\n"


def publish(experiment: Experiment, folder: Path, console: Console) -> None:
    """Print the tables, and write numbers, figures and report beside the trials."""
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        return
    parts = parts_of(experiment, panels)
    for part in parts:
        console.print(shown(part))
    console.print(lacking(experiment, panels), end="", markup=False)
    write_numbers(experiment, panels, folder)
    try:
        pictures = draw(experiment, panels, folder)
    except ImportError as error:
        console.print(f"[yellow]No figure and no report: {escape(str(error))}[/]")
        return
    console.print(
        f"{folder / 'report.html'} has all of it, {in_words(pictures)}.",
        soft_wrap=True,
        markup=False,
    )


def in_words(pictures: list[Path]) -> str:
    """Where the figures are."""
    names = [str(picture) for picture in pictures]
    if len(names) == 1:
        return f"{names[0]} and .pdf the figure"
    return f"{', '.join(names[:-1])} and {names[-1]} (and .pdf) the figures"


def write_numbers(experiment: Experiment, panels: list[Panel], folder: Path) -> None:
    """The numbers, byte for byte the same for the same experiment; times apart."""
    parts = parts_of(experiment, panels)
    numbers = {
        "regret": tables.regret_csv(panels),
        "summary": tables.summary_csv(panels),
        "comparison": tables.comparison_csv([part.problems for part in parts]),
        "curves": tables.curves_csv(panels),
        "times": tables.times_csv(panels),
    }
    for part in parts:
        setting = part.figure.x
        if setting != ROUND:
            numbers[part.figure.stem("sweep")] = tables.sweep_csv(part.panels, setting)
    for name, text in numbers.items():
        write_whole(folder / f"{name}.csv", text.encode())


def draw(experiment: Experiment, panels: list[Panel], folder: Path) -> list[Path]:
    """Draw all figures, as PNG and PDF, and the report; the answer is where the PNG are."""
    parts = parts_of(experiment, panels)
    pictures = [
        save(draw_part(part, parts), folder / part.figure.stem(experiment.name))[0]
        for part in parts
    ]
    flags = "".join(f" --{flag}" for flag in ("quick", "full") if getattr(experiment, flag))
    text = f"# played with{flags}\n\n{experiment.text}" if flags else experiment.text
    write_report(
        parts, experiment.title, text, versions_of(panels), folder / "report.html",
        remark=lacking(experiment, panels),
    )  # fmt: skip
    return pictures


def shown(part: Part) -> Table:
    """The table for a terminal, with what a decision takes on the last problem."""
    panels = part.panels
    remark = "ms: processor time of a round, on the last problem"
    heading = [part.figure.title, part.note, "mean regret ± standard error [worst seed]"]
    table = Table(
        title=escape("\n".join(filter(None, heading))),
        caption=escape(" ".join([part.figure.caption, remark]).strip()),
        box=box.SIMPLE,
        caption_justify="left",
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
