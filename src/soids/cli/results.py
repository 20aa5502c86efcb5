"""``soids table`` and ``soids plot``: results, for people and papers."""

from pathlib import Path

import click

from soids.cli.errors import usable
from soids.cli.run import in_words
from soids.experiments.shipped import played_experiment
from soids.files import reason
from soids.output import regret_tables as tables
from soids.output.publish import draw, lacking, write_numbers
from soids.simulation.experiment import Experiment
from soids.simulation.results import Panel, count, gather, parts_of
from soids.simulation.store import Store

FORMATS = {"markdown": tables.as_markdown, "latex": tables.as_latex}
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


def read_results(folder: Path) -> tuple[Experiment, list[Panel]]:
    """The experiment that was run into a folder, and the outcomes that are there."""
    with usable():
        experiment = played_experiment(folder)
    panels = gather(experiment, Store(folder / "trials"))
    if not count(panels):
        raise click.ClickException(f"no trial in {folder} is finished: soids run goes on with it")
    click.echo(lacking(experiment, panels), err=True, nl=False)
    return experiment, panels
