"""``soids table`` and ``soids plot``: the results of a run, for papers."""

from pathlib import Path

import click

from soids.cli.errors import usable
from soids.cli.run import in_words
from soids.experiments.run import Results, read_results
from soids.files import reason
from soids.output.publish import lacking
from soids.output.regret_tables import mean_regret, summary
from soids.output.table import as_csv, as_latex, as_markdown, visible
from soids.simulation.results import count, parts_of

FORMATS = {"markdown": as_markdown, "latex": as_latex}
folder_argument = click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path)
)


def finished_trials(folder: Path) -> Results:
    """The finished trials in a folder; a message says if others are missing."""
    with usable():
        results = read_results(folder)
    if not count(results.panels):
        raise click.ClickException(f"no trial in {folder} is finished: soids run goes on with it")
    click.echo(lacking(results.experiment, results.panels), err=True, nl=False)
    return results


@click.command()
@folder_argument
@click.option(
    "--format", "form", type=click.Choice((*FORMATS, "csv")), default="markdown", show_default=True,
    help="Write Markdown for a page, LaTeX (booktabs) for a paper, or CSV with intervals and "
    "quantiles.",
)  # fmt: skip
def table(folder: Path, form: str) -> None:
    """Print the final regrets in FOLDER, where soids run has put its results."""
    experiment, _, panels, *_ = finished_trials(folder)
    if form == "csv":
        note = visible(experiment.note)
        click.echo(f"{note}\n" if note else "", err=True, nl=False)
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
    results = finished_trials(folder)
    try:
        pictures = results.write().pictures
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    click.echo(in_words(folder, pictures))
