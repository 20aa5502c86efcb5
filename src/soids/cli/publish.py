"""What ``soids run`` shows of its results."""

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from soids.output.publish import draw, lacking, regret_tables, write_numbers
from soids.output.table import as_console
from soids.simulation.experiment import Experiment
from soids.simulation.results import count, gather
from soids.simulation.store import Store


def publish(experiment: Experiment, folder: Path, console: Console) -> None:
    """Print the tables, and write numbers, figures and report beside the trials."""
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        return
    for table in regret_tables(experiment, panels):
        console.print(as_console(table))
    console.print(lacking(experiment, panels), end="", markup=False)
    write_numbers(experiment, panels, folder)
    try:
        pictures = draw(experiment, panels, folder)
    except ImportError as error:
        console.print(f"[yellow]No figure and no report: {escape(str(error))}[/]")
        return
    console.print(in_words(folder, pictures), soft_wrap=True, markup=False)


def in_words(folder: Path, pictures: list[Path]) -> str:
    """Where the report and the figures are."""
    names, report = [str(picture) for picture in pictures], folder / "report.html"
    if len(names) == 1:
        return f"{report} has all of it, {names[0]} and .pdf the figure."
    joined = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{report} has all of it, {joined} (and .pdf) the figures."
