"""``soids table``, ``soids plot`` and ``soids list``: what there is, for people and papers."""

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
from soids.cli.publish import draw, in_words, read_results, write_numbers
from soids.cli.run import reason
from soids.cli.whereabouts import shipped
from soids.output import regret_tables as tables
from soids.policies import POLICIES
from soids.simulation.results import parts_of

FORMATS = {"markdown": tables.as_markdown, "latex": tables.as_latex}
LAYOUT: dict[str, Any] = {
    "box": box.SIMPLE,
    "show_header": False,
    "pad_edge": False,
    "title_justify": "left",
}
folder_argument = click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path)
)


@click.command()
@folder_argument
@click.option(
    "--format", "form", type=click.Choice((*FORMATS, "csv")), default="markdown", show_default=True,
    help="Markdown for a page, LaTeX (booktabs) for a paper, CSV with intervals and quantiles.",
)  # fmt: skip
def table(folder: Path, form: str) -> None:
    """Print the final regrets in FOLDER, where soids run has put its results."""
    experiment, panels = read_results(folder)
    if form == "csv":
        click.echo(f"{experiment.note}\n" if experiment.note else "", err=True, nl=False)
        click.echo(tables.summary_csv(panels), nl=False)
        return
    click.echo("Regret at the horizon: mean ± standard error [worst seed].", err=True)
    parts = parts_of(experiment, panels)
    titles = [
        ": ".join(filter(None, (part.figure.title if len(parts) > 1 else "", part.note)))
        for part in parts
    ]
    texts = [FORMATS[form](part.panels, title) for part, title in zip(parts, titles, strict=True)]
    click.echo("\n".join(texts), nl=False)


@click.command()
@folder_argument
def plot(folder: Path) -> None:
    """Draw figures and report in FOLDER anew from the trials that are there, and the numbers."""
    experiment, panels = read_results(folder)
    try:
        write_numbers(experiment, panels, folder)
        pictures = draw(experiment, panels, folder)
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    click.echo(f"{folder / 'report.html'} has all of it, {in_words(pictures)}.")


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
