"""``soids run``: play an experiment, or what is missing of it."""

import functools
import itertools
import json
import math
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
from loky import cpu_count
from rich.console import Console
from rich.markup import escape

from soids.bandits.data import PLACE
from soids.cli.page import page
from soids.cli.progress import Progress
from soids.cli.publish import publish
from soids.cli.whereabouts import MANIFEST, Unusable, find_file, last_run, load_experiment
from soids.files import write_whole
from soids.simulation.board import Board
from soids.simulation.engines import EngineError, Played, on_dask, on_processes
from soids.simulation.experiment import Experiment
from soids.simulation.provenance import fingerprint
from soids.simulation.store import Store
from soids.simulation.trial import Trial
from soids.simulation.worker import Failure, Post


@dataclass(frozen=True)
class Asked:
    """How to run an experiment, as the command line says it."""

    quick: bool
    full: bool
    fresh: bool
    out: Path | None
    workers: int
    scheduler: str | None

    def play(self, trials: list[Trial], post: Post) -> Played:
        """Play trials where they are to be played."""
        if self.scheduler is not None:
            return on_dask(trials, post, self.scheduler)
        return on_processes(trials, post, self.workers)


FAILURES = "failures.txt"
STALE = 600.0  # seconds after which nobody can still be writing a file
OPTIONS = (
    click.option("--quick", is_flag=True, help="The small version that the file describes."),
    click.option("--full", is_flag=True, help="With the policies that the file calls slow."),
    click.option("--fresh", is_flag=True, help="Play again what has been played."),
    click.option(
        "--out", type=click.Path(file_okay=False, path_type=Path),
        help="Folder of the results.  [default: one of its own in results]",
    ),
    click.option(
        "--engine", type=click.Choice(("processes", "dask")), default="processes",
        show_default=True, help="Where to play: on this machine, or on a Dask cluster.",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), default=cpu_count(), show_default="cores",
        help="Processes on this machine, one thread each.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Of the cluster, as tcp://HOST:PORT."),
)  # fmt: skip


def set_data(context: click.Context, option: click.Parameter, folder: str | None) -> None:
    """Name the folder of data for this process and its workers."""
    if folder is not None:
        os.environ[PLACE] = folder


data_option = click.option(
    "--data", type=click.Path(exists=True, file_okay=False, resolve_path=True), envvar=PLACE,
    expose_value=False, callback=set_data, metavar="DIR",
    help=f"Folder of real data, for families that need them.  [default: {PLACE}]",
)  # fmt: skip


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command all that can be asked of a run, as one record ``asked``."""

    @functools.wraps(command)
    def asking(*, engine: str, **asked: Any) -> None:
        address = asked["scheduler"]
        if (engine == "dask") != (address is not None):
            raise click.UsageError("--engine dask and --scheduler ADDRESS belong together")
        if address is not None and not re.fullmatch(r"(tcp|tls|ws|wss)://.+:\d+", address):
            raise click.UsageError(f"--scheduler must be as tcp://HOST:PORT, got {address!r}")
        names = [one.name for one in fields(Asked)]
        command(
            asked=Asked(**{name: asked.pop(name) for name in names}),
            **asked,
        )

    return functools.reduce(lambda made, option: option(made), reversed(OPTIONS), asking)


@click.command()
@click.argument("file")
@data_option
@options
def run(file: str, asked: Asked) -> None:
    """Play the experiment in FILE, a TOML file or the name of a shipped one (see soids list).

    Results are kept trial by trial: a run that was stopped goes on where it was.
    """
    carry_out(find_file(file), asked)


def carry_out(
    path: Path,
    asked: Asked,
    narrow: Callable[[Experiment], Experiment] = lambda whole: whole,
    show: Callable[[Experiment, Path, Console], None] = publish,
) -> None:
    """Play what is missing of an experiment, or of a part of it, then show all there is."""
    beside = str(path.resolve().parent)
    sys.path.insert(0, beside)  # where a policy that is not ours may be
    experiment = narrow(load_experiment(path, asked.quick, asked.full))
    try:
        experiment.check()
    except ValueError as error:
        raise Unusable(f"{path.name}: {error}") from None
    folder = asked.out or Path("results") / experiment.name
    console = page()
    try:
        warn_of_what_was_there(folder, experiment, beside, console)
        prepare(folder, experiment, beside)
    except OSError as error:
        raise click.ClickException(f"cannot write to {folder}: {reason(error)}") from None
    try:
        failures = play_missing(experiment, folder, asked, beside, console)
        write_failures(failures, folder)
        show(experiment, folder, console)
    except OSError as error:
        raise click.ClickException(
            f"{reason(error)}; finished trials are kept, the same command goes on"
        ) from None
    except EngineError as error:
        raise click.ClickException(f"{error}; finished trials are kept") from None
    except KeyboardInterrupt:
        console.print("Stopped: finished trials are kept, the same command goes on.")
        sys.exit(130)
    if failures:
        for label, failed in itertools.groupby(failures, key=lambda trial: trial.player.label):
            several = list(failed)
            first = failures[several[0]].reason
            console.print(f"[red]{escape(label)}[/]: {len(several)} trials failed: {escape(first)}")
        raise click.ClickException(f"some trials failed, see {folder / FAILURES}")


def prepare(folder: Path, experiment: Experiment, beside: str) -> None:
    """Write down what is to be played; this also shows whether the folder can be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "experiment.toml", experiment.text.encode())
    manifest = {
        "name": experiment.name,
        "quick": experiment.quick,
        "full": experiment.full,
        "beside": beside,
    }
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=2).encode())


def warn_of_what_was_there(
    folder: Path, experiment: Experiment, beside: str, console: Console
) -> None:
    """Say if the figure of another file, or of more than --quick, is about to be replaced."""
    last, file = last_run(folder), (experiment.name, beside)
    if last and (last.get("name"), last.get("beside")) != file and not is_kept(experiment, folder):
        console.print(
            f"[yellow]{escape(str(folder))} had results of another file: report and numbers give "
            "way, trials are kept; another --out keeps the two apart.[/]"
        )
    elif experiment.quick and not last.get("quick", True):
        console.print(
            "Figure, report and numbers of the whole experiment give way to those of --quick; its "
            "trials are kept, and the command without --quick brings them back."
        )


def is_kept(experiment: Experiment, folder: Path) -> bool:
    """Whether the folder holds the very text of an experiment, wherever its file was then."""
    try:
        return (folder / "experiment.toml").read_bytes() == experiment.text.encode()
    except OSError:
        return False


def play_missing(
    experiment: Experiment, folder: Path, asked: Asked, beside: str, console: Console
) -> dict[Trial, Failure]:
    """Play the trials that have no outcome yet; return those that failed, policy by policy."""
    store = Store(folder / "trials")
    trials = list(dict.fromkeys(experiment.trials()))  # two labels may stand for one recipe
    kept = {} if asked.fresh else {t: o.code for t in trials if (o := store.read(t)) is not None}
    missing = [trial for trial in trials if trial not in kept]
    warn_of_other_code(kept, console)
    if kept:
        console.print(f"{len(kept)} of {len(trials)} trials are there already.")
    failures: dict[Trial, Failure] = {}
    if not missing:
        return failures
    if asked.scheduler is not None:
        console.print(f"Waiting for the workers of {asked.scheduler}.", markup=False)
    remove_scraps(store.folder)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as for Ctrl-C
    with tempfile.TemporaryDirectory() as scratch:
        board = Board(Path(scratch) / "board", len(missing))
        with (
            restarts_unmentioned(),
            Progress(missing, board, console) as progress,
            closing(asked.play(missing, Post(beside, board))) as played,
        ):
            for trial, outcome in played:
                if isinstance(outcome, Failure):
                    failures[trial] = outcome
                    progress.done(trial, math.nan)
                else:
                    store.write(trial, outcome)
                    progress.done(trial, float(outcome.trace.regret.sum()))
    order = {trial: place for place, trial in enumerate(trials)}
    return dict(sorted(failures.items(), key=lambda one: (one[0].player.label, order[one[0]])))


@contextmanager
def restarts_unmentioned() -> Iterator[None]:
    """Silence loky where it replaces a worker that has grown: compiling takes memory, once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker was restarted", UserWarning)
        yield


def write_failures(failures: dict[Trial, Failure], folder: Path) -> None:
    """Keep what is known of every trial that failed; nothing if all went well."""
    if not failures:
        (folder / FAILURES).unlink(missing_ok=True)
        return
    texts = [
        f"{trial.player.label}, {trial.problem.title}, seed {trial.seed}\n"
        f"{failure.reason}\n{failure.details}\n"
        for trial, failure in failures.items()
    ]
    write_whole(folder / FAILURES, "\n".join(texts).encode())


def remove_scraps(folder: Path) -> None:
    """Remove what a run that was killed in the midst of writing has left."""
    for scrap in folder.rglob(".*.npz.*"):
        if time.time() - scrap.stat().st_mtime > STALE:
            scrap.unlink(missing_ok=True)


def warn_of_other_code(kept: dict[Trial, str], console: Console) -> None:
    """Say if results that are there come from other code than what would be played now."""
    played = {(trial.player.policy, code) for trial, code in kept.items()}
    changed = {policy for policy, code in played if code != fingerprint(policy)}
    if changed:
        console.print(
            f"[yellow]Results of {', '.join(sorted(changed))} were played by other code than is "
            "installed now: --fresh plays them again.[/]"
        )


def reason(error: OSError) -> str:
    """An error of the system in one line."""
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}"
