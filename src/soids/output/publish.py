"""From stored outcomes to files for people: numbers, figures and a report."""

from pathlib import Path

from soids.files import write_whole
from soids.output import regret_tables as tables
from soids.output.figures import draw_part, save
from soids.output.report import render
from soids.output.table import Table, as_csv
from soids.simulation.experiment import Experiment
from soids.simulation.figures import ROUND
from soids.simulation.results import Panel, count, parts_of, versions_of


def lacking(experiment: Experiment, panels: list[Panel]) -> str:
    """A line that says how many trials are missing; empty if none is."""
    asked = sum(len(players) for players in experiment.players) * len(experiment.seeds)
    missing = asked - count(panels)
    if missing == 0:
        return ""
    return f"{missing} of {asked} trials are missing: all numbers are of the others.\n"


def regret_tables(experiment: Experiment, panels: list[Panel]) -> list[Table]:
    """The tables that ``soids run`` prints, one for each figure."""
    return [tables.printed(part) for part in parts_of(experiment, panels)]


def write_numbers(experiment: Experiment, panels: list[Panel], folder: Path) -> None:
    """Write all numbers as CSV: the same bytes for the same trials, but for the times."""
    parts = parts_of(experiment, panels)
    found = {
        "regret": tables.regret(panels),
        "summary": tables.summary(panels),
        "comparison": tables.comparison([part.problems for part in parts]),
        "curves": tables.regret_by_round(panels),
        "times": tables.times(panels),
    }
    for part in parts:
        if part.figure.x != ROUND:
            found[part.figure.stem("sweep")] = tables.sweep(part.panels, part.figure.x)
    for name, table in found.items():
        write_whole(folder / f"{name}.csv", as_csv(table).encode(), folder)


def draw(experiment: Experiment, panels: list[Panel], folder: Path) -> list[Path]:
    """Draw all figures as PNG and PDF, and write the report; return the paths of the PNG files."""
    parts = parts_of(experiment, panels)
    pictures = [
        save(draw_part(part, parts), folder / part.figure.stem(experiment.name))[0]
        for part in parts
    ]
    flags = "".join(f" --{flag}" for flag in ("quick", "full") if getattr(experiment, flag))
    text = f"# played with{flags}\n\n{experiment.text}" if flags else experiment.text
    remark = lacking(experiment, panels)
    page = render(parts, experiment.title, text, versions_of(panels), remark=remark)
    write_whole(folder / "report.html", page.encode(), folder)
    return pictures
