"""Run an experiment: play what is missing, then write numbers, figures and the report."""

import math
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from loky import cpu_count

from soids.arrays import as_count
from soids.bandits.data import FOLDER
from soids.experiments.folder import gives_way, prepare, write_failures
from soids.experiments.shipped import find, played_experiment, shipped
from soids.files import reason
from soids.output.publish import draw, regret_tables, write_numbers
from soids.output.table import Table
from soids.simulation.board import Board
from soids.simulation.engines import ADDRESS, EngineError, on_dask, on_processes
from soids.simulation.experiment import Experiment, read_experiment
from soids.simulation.provenance import fingerprint
from soids.simulation.results import Panel, count, gather
from soids.simulation.store import Store
from soids.simulation.trial import Trial
from soids.simulation.worker import Failure, Post
from soids.spelling import meant

MANY = 10_000  # trials that take a while to look for
PAPER = ("figure1", "baselines", "langevin_steps")  # the experiments of the paper
Follow = Callable[[Sequence[Trial], Board], AbstractContextManager[Callable[[], object]]]


def warn(text: str) -> None:
    """A warning of Python."""
    warnings.warn(text, RuntimeWarning, stacklevel=2)


class Watch(NamedTuple):
    """Where notices, warnings and progress of a run go.

    Unless functions are given, warnings are warnings of Python, and the others go nowhere.
    ``follow`` gets the trials and the board, whose rows say how far they are. It returns a context,
    which gives a function to be called whenever a trial is finished.
    """

    say: Callable[[str], object] = lambda text: None
    warn: Callable[[str], object] = warn
    follow: Follow = lambda trials, board: nullcontext(lambda: None)


SILENT = Watch()


class Results(NamedTuple):
    """The finished trials in the folder of a run."""

    experiment: Experiment
    folder: Path
    panels: list[Panel]  # one a problem
    failures: dict[Trial, Failure]  # of this run, policy by policy
    pictures: tuple[Path, ...] = ()  # the figures as PNG, beside which there are PDF

    @property
    def missing(self) -> int:
        """The number of trials that have no outcome."""
        players = sum(len(players) for players in self.experiment.players)
        return players * len(self.experiment.seeds) - count(self.panels)

    def tables(self) -> list[Table]:
        """The regrets, one table a figure."""
        return regret_tables(self.experiment, self.panels)

    def write(self) -> "Results":
        """Write the numbers, then the figures and the report, which need the extra ``plot``."""
        write_numbers(self.experiment, self.panels, self.folder)
        return self._replace(pictures=tuple(draw(self.experiment, self.panels, self.folder)))


def run(
    experiment: Experiment | Path | str, *, out: Path | str | None = None, quick: bool = False,
    full: bool = False, fresh: bool = False, workers: int | None = None,
    scheduler: str | None = None, watch: Watch = SILENT,
) -> Results:  # fmt: skip
    """Play what is missing of an experiment; write numbers, figures and report beside the trials.

    The experiment is a TOML file, the name of a shipped one, or an ``Experiment``. Results go to
    the folder ``out``, by default to one of their own in ``results``; a run that was stopped goes
    on where it was. ``quick`` plays the small version that the file describes, ``full`` also the
    policies that it calls slow, and ``fresh`` plays again what has been played. Trials are played
    by ``workers`` processes, by default one a core, or on the Dask cluster of a ``scheduler``.
    Notices, warnings and progress go to ``watch``, such as ``Watch(print, print)``; without it
    nothing is printed but warnings of Python, as before results of another file are replaced.

    >>> import soids, tempfile
    >>> text = '''
    ... horizon = 20
    ... seeds = 2
    ... bandit = { family = "paper", dimension = 20 }
    ... policies.LinUCB = { policy = "linucb", alpha = 1.0 }
    ... policies.Uniform = { policy = "uniform" }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "small.toml"
    ...     _ = file.write_text(text)
    ...     results = soids.run(file, out=folder, workers=1)
    ...     sorted(path.name for path in Path(folder).glob("*.csv"))
    ['comparison.csv', 'curves.csv', 'regret.csv', 'summary.csv', 'times.csv']
    >>> results.missing, results.failures, [path.name for path in results.pictures]
    (0, {}, ['small.png'])
    >>> results.panels[0].runs["LinUCB"].final.shape  # the regret of each seed
    (2,)
    >>> [row[0] for row in results.tables()[0].rows]
    ['LinUCB', 'Uniform']
    """
    if not isinstance(experiment, Experiment):
        if not isinstance(experiment, str | Path):
            raise ValueError(
                "experiment must be a file, the name of a shipped one, or an Experiment "
                "(parse_experiment(table, name) makes one of a dictionary), "
                f"got {type(experiment).__name__}"
            )
        experiment = read_experiment(find(experiment), quick, full)
    elif quick or full:
        raise ValueError("quick and full must be given to read_experiment, got an Experiment")
    results = play_missing(experiment, out, fresh, workers, scheduler, watch)
    if not count(results.panels):
        return results
    with trials_are_kept():
        try:
            return results.write()
        except ImportError as error:
            watch.warn(f"No figure and no report: {error}")
            return results


def reproduce(name: str, **settings: Any) -> Results:
    """Run an experiment of the paper, with the settings of ``run``.

    Its name is "figure1", "baselines" or "langevin_steps".
    """
    if name not in PAPER:
        raise ValueError(f"name must be one of {', '.join(PAPER)}{meant(name, PAPER)}")
    return run(shipped()[name], **settings)


def read_results(folder: Path | str) -> Results:
    """The finished trials in the folder of an earlier run."""
    experiment = played_experiment(Path(folder))
    return Results(experiment, Path(folder), gather(experiment, Store(Path(folder) / "trials")), {})


def play_missing(
    experiment: Experiment, out: Path | str | None = None, fresh: bool = False,
    workers: int | None = None, scheduler: str | None = None, watch: Watch = SILENT,
) -> Results:  # fmt: skip
    """Play the trials of an experiment that have no outcome yet; see ``run``."""
    workers = cpu_count() if workers is None else as_count(workers, "workers")
    if scheduler is not None and not ADDRESS.fullmatch(scheduler):
        raise ValueError(f"scheduler must be as tcp://HOST:PORT, got {scheduler!r}")
    experiment.check()
    folder = Path("results") / experiment.name if out is None else Path(out)
    others = [player.policy for players in experiment.players for player in players
              if not player.is_ours]  # fmt: skip
    if others and folder.resolve() == Path(experiment.folder).resolve():
        raise ValueError(
            f"out must be another folder than that of {others[0]}: no code is imported from a "
            f"folder of results, got {str(folder)!r}"
        )
    try:
        for warning in gives_way(folder, experiment):
            watch.warn(warning)
        prepare(folder, experiment)
    except OSError as error:
        raise OSError(f"cannot write to {folder}: {reason(error)}") from None
    with trials_are_kept():
        store = Store(folder / "trials")
        missing = find_missing(experiment, store, fresh, watch)
        if missing and scheduler is not None:
            watch.say(f"Waiting for the workers of {scheduler}.")
        failures = play(missing, store, experiment.folder, workers, scheduler, watch.follow)
        write_failures(failures, folder)
        return Results(experiment, folder, gather(experiment, store), failures)


@contextmanager
def trials_are_kept() -> Iterator[None]:
    """Say so in errors that stop a run."""
    try:
        yield
    except OSError as error:
        message = f"{reason(error)}; finished trials are kept, the same command goes on"
        raise OSError(message) from error
    except EngineError as error:
        raise EngineError(f"{error}; finished trials are kept") from error


def find_missing(experiment: Experiment, store: Store, fresh: bool, watch: Watch) -> list[Trial]:
    """The trials without an outcome, or all of them if they are played afresh."""
    trials = list(dict.fromkeys(experiment.trials()))  # two labels may stand for one recipe
    if len(trials) >= MANY:
        watch.say(f"Looking for finished ones among {len(trials):,} trials.")
    kept = {} if fresh else {t: o.code for t in trials if (o := store.read(t)) is not None}
    played = {(trial.player.policy, code) for trial, code in kept.items()}
    changed = {policy for policy, code in played if code != fingerprint(policy)}
    if changed:
        watch.warn(
            f"Results of {', '.join(sorted(changed))} were played by other code than is installed "
            "now: --fresh plays them again."
        )
    if kept:
        watch.say(f"{len(kept)} of {len(trials)} trials are there already.")
    return [trial for trial in trials if trial not in kept]


def play(
    trials: list[Trial], store: Store, folder: str, workers: int, scheduler: str | None,
    follow: Follow,
) -> dict[Trial, Failure]:  # fmt: skip
    """Play trials and keep their outcomes; return those that failed, policy by policy."""
    failures: dict[Trial, Failure] = {}
    if not trials:
        return failures
    rows = {trial: row for row, trial in enumerate(trials)}
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker was restarted", UserWarning)  # compiling grows
        board = Board(Path(scratch) / "board", len(trials))
        post = Post(folder, board, FOLDER.get())
        engine = (
            on_processes(trials, post, workers)
            if scheduler is None
            else on_dask(trials, post, scheduler)
        )
        with follow(trials, board) as show, closing(engine) as played:
            for trial, outcome in played:
                regret = math.nan
                if isinstance(outcome, Failure):
                    failures[trial] = outcome
                else:
                    store.write(trial, outcome)
                    regret = float(outcome.trace.regret.sum())
                board.note(rows[trial], trial.problem.horizon, regret)
                show()
    return dict(sorted(failures.items(), key=lambda one: (one[0].player.label, rows[one[0]])))
