"""``soids table`` and ``soids plot``: the results of a run, for papers; ``soids list``."""

import inspect
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.markup import escape
from rich.table import Table

from soids.bandits import FAMILIES
from soids.cli.page import page
from soids.cli.publish import in_words
from soids.cli.run import reason
from soids.cli.whereabouts import played_experiment, shipped
from soids.output.publish import draw, lacking, write_numbers
from soids.output.regret_tables import mean_regret, summary
from soids.output.table import as_csv, as_latex, as_markdown
from soids.policies import POLICIES
from soids.simulation.experiment import Experiment
from soids.simulation.results import Panel, count, gather, parts_of
from soids.simulation.store import Store

FORMATS = {"markdown": as_markdown, "latex": as_latex}
LAYOUT: dict[str, Any] = {
    "box": box.SIMPLE,
    "show_header": False,
    "pad_edge": False,
    "title_justify": "left",
}
folder_argument = click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path)
)


def read_results(folder: Path) -> tuple[Experiment, list[Panel]]:
    """The experiment that was run into a folder, and its finished trials."""
    experiment = played_experiment(folder)
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        raise click.ClickException(f"no trial in {folder} is finished: soids run goes on with it")
    click.echo(lacking(experiment, panels), err=True, nl=False)
    return experiment, panels


@click.command()
@folder_argument
@click.option(
    "--format", "form", type=click.Choice((*FORMATS, "csv")), default="markdown", show_default=True,
    help="Write Markdown for a page, LaTeX (booktabs) for a paper, or CSV with intervals and "
    "quantiles.",
)  # fmt: skip
def table(folder: Path, form: str) -> None:
    """Print the final regrets in FOLDER, where soids run has put its results."""
    experiment, panels = read_results(folder)
    if form == "csv":
        click.echo(f"{experiment.note}\n" if experiment.note else "", err=True, nl=False)
        click.echo(as_csv(summary(panels)), nl=False)
        return
    click.echo("Regret at the horizon: mean ± standard error [worst seed].", err=True)
    parts = parts_of(experiment, panels)
    titles = [(part.figure.title if len(parts) > 1 else "", part.note) for part in parts]
    texts = [
        FORMATS[form](mean_regret(part.panels, ": ".join(filter(None, title))))
        for part, title in zip(parts, titles, strict=True)
    ]
    click.echo("\n".join(texts), nl=False)


@click.command()
@folder_argument
def plot(folder: Path) -> None:
    """Draw the figures, the report and the numbers in FOLDER again, from its finished trials."""
    experiment, panels = read_results(folder)
    try:
        write_numbers(experiment, panels, folder)
        pictures = draw(experiment, panels, folder)
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    click.echo(in_words(folder, pictures))


@click.command("list")
def listing() -> None:
    """List policies, families of bandits and shipped experiments, with their settings."""
    console = page()
    console.print(described("Policies", POLICIES, "dimension"))
    console.print(described("Families of bandits", FAMILIES, "seed"))
    experiments = Table(title="Experiments (soids run NAME)", **LAYOUT)
    for name, path in shipped().items():
        experiments.add_row(name, first_comment(path))
    console.print(experiments)


def described(title: str, family: Mapping[str, Callable[..., object]], passed: str) -> Table:
    """The members of a family: name, first paragraph of the docstring, settings."""
    shown = Table(title=title, **LAYOUT)
    for name, member in family.items():
        sentence = " ".join((inspect.getdoc(member) or "").partition("\n\n")[0].split())
        settings = [
            p.name if p.default is p.empty else f"{p.name}={p.default!r}"
            for p in inspect.signature(member).parameters.values()
            if p.name != passed
        ]
        shown.add_row(
            f"[bold]{name}[/]", f"{sentence}\n[dim]{escape(', '.join(settings) or 'none')}[/]"
        )
    return shown


def first_comment(path: Path) -> str:
    """What an experiment says of itself: the comment that opens its file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    opening = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.lstrip("# ") for line in opening)
