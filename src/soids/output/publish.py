"""From stored outcomes to what people read: tables, numbers, figures and a report."""

from pathlib import Path

from soids.files import write_whole
from soids.output import regret_tables as texts
from soids.output.figures import draw_part, save
from soids.output.report import write_report
from soids.output.table import Table
from soids.simulation.experiment import Experiment
from soids.simulation.figures import ROUND
from soids.simulation.results import Panel, count, parts_of, versions_of
from soids.simulation.statistics import summarise

MANY = 8  # columns of a table in a terminal


def lacking(experiment: Experiment, panels: list[Panel]) -> str:
    """A line that says how many trials are missing, if any."""
    asked = sum(len(players) for players in experiment.players) * len(experiment.seeds)
    missing = asked - count(panels)
    if missing == 0:
        return ""
    return f"{missing} of {asked} trials are missing: all numbers are of the others.\n"


def regret_tables(experiment: Experiment, panels: list[Panel]) -> list[Table]:
    """A table for each figure, with what a decision takes on the last problem."""
    found = []
    remark = "ms: processor time of a round, on the last problem"
    for part in parts_of(experiment, panels):
        heading = [part.figure.title, part.note, "mean regret ± standard error [worst seed]"]
        heads, rows = texts.grid(part.panels)
        times = {one.policy: f"{one.milliseconds:.2f}" for one in summarise(part.panels[-1])}
        heads.append("ms")
        for row in rows:
            row.append(times.get(row[0], ""))
        if len(heads) > MANY:  # more problems than fit side by side
            heads, *rows = map(list, zip(heads, *rows, strict=True))
        title, note = "\n".join(filter(None, heading)), f"{part.figure.caption} {remark}".strip()
        found.append(Table(heads, rows, title, note))
    return found


def write_numbers(experiment: Experiment, panels: list[Panel], folder: Path) -> None:
    """The numbers, byte for byte the same for the same experiment; times apart."""
    parts = parts_of(experiment, panels)
    numbers = {
        "regret": texts.regret_csv(panels),
        "summary": texts.summary_csv(panels),
        "comparison": texts.comparison_csv([part.problems for part in parts]),
        "curves": texts.curves_csv(panels),
        "times": texts.times_csv(panels),
    }
    for part in parts:
        setting = part.figure.x
        if setting != ROUND:
            numbers[part.figure.stem("sweep")] = texts.sweep_csv(part.panels, setting)
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
