"""``soids run``: play an experiment, or what is missing of it."""

import functools
import itertools
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from loky import cpu_count
from rich.console import Console
from rich.markup import escape

from soids.bandits.data import PLACE, data_in
from soids.cli.errors import Unusable, usable
from soids.cli.page import page
from soids.cli.progress import Progress
from soids.experiments import run as experiments
from soids.experiments.folder import FAILURES
from soids.experiments.run import Results, Watch
from soids.experiments.shipped import find
from soids.files import reason
from soids.output.publish import lacking
from soids.output.table import as_console
from soids.simulation.engines import ADDRESS, EngineError
from soids.simulation.experiment import Experiment, read_experiment
from soids.simulation.reading import ExperimentError

OPTIONS = (
    click.option("--quick", is_flag=True, help="Play the small version that the file describes."),
    click.option("--full", is_flag=True, help="Play the policies that the file calls slow, too."),
    click.option("--fresh", is_flag=True, help="Play again what has been played."),
    click.option(
        "--out", type=click.Path(file_okay=False, path_type=Path),
        help="Write the results into this folder.  [default: one of its own in results]",
    ),
    click.option(
        "--engine", type=click.Choice(("processes", "dask")), default="processes",
        show_default=True, help="Play on this machine, or on a Dask cluster.",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), default=cpu_count(), show_default="cores",
        help="Number of processes on this machine, which have one thread each.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS",
        help="Address of the cluster's scheduler, as tcp://HOST:PORT.",
    ),
)  # fmt: skip


data_option = click.option(
    "--data", type=click.Path(exists=True, file_okay=False, resolve_path=True), envvar=PLACE,
    expose_value=False, metavar="DIR",
    callback=lambda context, option, folder: context.with_resource(data_in(folder or "")),
    help=f"Take real data from this folder, if a family needs them.  [default: {PLACE}]",
)  # fmt: skip


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all settings of ``soids.run`` as options."""

    @functools.wraps(command)
    def checked(*, engine: str, scheduler: str | None, **asked: Any) -> None:
        if (engine == "dask") != (scheduler is not None):
            raise click.UsageError("--engine dask and --scheduler ADDRESS belong together")
        if scheduler is not None and not ADDRESS.fullmatch(scheduler):
            raise click.UsageError(f"--scheduler must be as tcp://HOST:PORT, got {scheduler!r}")
        command(scheduler=scheduler, **asked)

    return functools.reduce(lambda made, option: option(made), reversed(OPTIONS), checked)


@click.command()
@click.argument("file")
@data_option
@options
def run(file: str, quick: bool, full: bool, **asked: Any) -> None:
    """Play the experiment in FILE, a TOML file or the name of a shipped one (see soids list).

    Results are kept trial by trial: a run that was stopped goes on where it was.
    """
    try:
        path = find(file)
    except OSError as error:
        raise click.BadParameter(str(error)) from None
    experiment = load_experiment(path, quick, full)
    carry_out(lambda watch: experiments.run(experiment, watch=watch, **asked))


def load_experiment(path: Path, quick: bool, full: bool) -> Experiment:
    """The experiment in a file, or an error that the command line reports."""
    with usable():
        return read_experiment(path, quick, full)


def show_results(results: Results, console: Console) -> None:
    """Print the tables, and where numbers, figures and report are."""
    for table in results.tables():
        console.print(as_console(table))
    console.print(lacking(results.experiment, results.panels), end="", markup=False)
    if results.pictures:
        words = in_words(results.folder, results.pictures)
        console.print(words, soft_wrap=True, markup=False)


def in_words(folder: Path, pictures: Iterable[Path]) -> str:
    """Where the report and the figures are."""
    *others, last = map(str, pictures)
    figures = f"{', '.join(others)} and {last} (and .pdf) the figures"
    one = f"{last} and .pdf the figure"
    return f"{folder / 'report.html'} has all of it, {figures if others else one}."


def carry_out(
    play: Callable[[Watch], Results],
    show: Callable[[Results, Console], None] = show_results,
) -> None:
    """Play and show the results; errors become messages and exit codes."""
    console = page()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as for Ctrl-C
    warned = list[str]()

    def warn(text: str) -> None:
        console.print(text, markup=False, style="yellow", soft_wrap=True)
        warned.append(text)

    watch = Watch(
        functools.partial(console.print, markup=False), warn, functools.partial(Progress, console)
    )
    try:
        results = play(watch)
        show(results, console)
        for text in warned:  # tables may have moved the first ones out of sight
            console.print(text, markup=False, style="yellow", soft_wrap=True)
    except ExperimentError as error:
        raise Unusable(str(error)) from None
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    except EngineError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        console.print("Stopped: finished trials are kept, the same command goes on.")
        sys.exit(130)
    failures = results.failures
    for label, failed in itertools.groupby(failures, key=lambda trial: trial.player.label):
        several = list(failed)
        first = escape(failures[several[0]].reason)
        console.print(f"[red]{escape(label)}[/]: {len(several)} trials failed: {first}")
    if failures:
        raise click.ClickException(f"some trials failed, see {results.folder / FAILURES}")
