"""The folder of a run: what was asked for, what gives way to it, and what failed."""

import json
import time
from pathlib import Path

from soids.experiments.shipped import MANIFEST, last_run
from soids.experiments.watch import Watch
from soids.files import write_whole
from soids.simulation.experiment import Experiment
from soids.simulation.trial import Trial
from soids.simulation.worker import Failure

FAILURES = "failures.txt"
STALE = 600.0  # seconds after which nobody can still be writing a file


def prepare(folder: Path, experiment: Experiment) -> None:
    """Write what is to be played; this also shows whether the folder can be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "experiment.toml", experiment.text.encode())
    manifest = {
        "name": experiment.name,
        "quick": experiment.quick,
        "full": experiment.full,
        "beside": experiment.folder,
    }
    write_whole(folder / MANIFEST, json.dumps(manifest, indent=2).encode())


def warn_of_what_gives_way(folder: Path, experiment: Experiment, watch: Watch) -> None:
    """Say if the figure of another file, or of more than --quick, is about to be replaced."""
    last, file = last_run(folder), (experiment.name, experiment.folder)
    if last and (last.get("name"), last.get("beside")) != file and not is_kept(experiment, folder):
        watch.say(
            f"{folder} had results of another file: report and numbers give way, trials are kept; "
            "another --out keeps the two apart.",
            warning=True,
        )
    elif experiment.quick and not last.get("quick", True):
        watch.say(
            "Figure, report and numbers of the whole experiment give way to those of --quick; its "
            "trials are kept, and the command without --quick brings them back."
        )


def is_kept(experiment: Experiment, folder: Path) -> bool:
    """Whether the folder holds the very text of an experiment, wherever its file was then."""
    try:
        return (folder / "experiment.toml").read_bytes() == experiment.text.encode()
    except OSError:
        return False


def remove_scraps(folder: Path) -> None:
    """Remove what a run that was killed in the midst of writing has left."""
    for scrap in folder.rglob(".*.npz.*"):
        if time.time() - scrap.stat().st_mtime > STALE:
            scrap.unlink(missing_ok=True)


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
