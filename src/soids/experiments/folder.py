"""The folder of a run: what was asked for, what gives way to it, and what failed."""

import json
from collections.abc import Iterator
from pathlib import Path

from soids.experiments.shipped import last_run
from soids.files import write_whole
from soids.simulation.experiment import Experiment
from soids.simulation.trial import Trial
from soids.simulation.user_policies import COPY, MANIFEST
from soids.simulation.worker import Failure

FAILURES = "failures.txt"


def prepare(folder: Path, experiment: Experiment) -> None:
    """Write what is to be played; this also shows whether the folder can be written to."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / COPY, experiment.text.encode())
    manifest = {name: getattr(experiment, name) for name in ("name", "quick", "full")}
    text = json.dumps({**manifest, "beside": experiment.folder}, indent=2)
    write_whole(folder / MANIFEST, text.encode())


def gives_way(folder: Path, experiment: Experiment) -> Iterator[str]:
    """A warning if results of another file, or of more than --quick, are about to be replaced."""
    last = last_run(folder)
    same_name = last.get("name") == experiment.name
    kept = folder / COPY
    same_text = kept.is_file() and kept.read_bytes() == experiment.text.encode()
    same_file = same_name and (same_text or last.get("beside") == experiment.folder)
    if last and not same_file:
        stale = "" if same_name else f", its figures {last.get('name')}*.png stay as they are"
        yield (
            f"{folder} had results of another file: report and numbers give way, trials are "
            f"kept{stale}; another --out keeps the two apart."
        )
    elif experiment.quick and not last.get("quick", True):
        yield (
            "Figure, report and numbers of the whole experiment give way to those of --quick; its "
            "trials are kept, and the command without --quick brings them back."
        )


def write_failures(failures: dict[Trial, Failure], folder: Path) -> None:
    """Keep what is known of every trial that failed; nothing if all went well."""
    texts = [
        f"{trial.player.label}, {trial.problem.title}, seed {trial.seed}\n"
        f"{failure.reason}\n{failure.details}\n"
        for trial, failure in failures.items()
    ]
    if texts:
        write_whole(folder / FAILURES, "\n".join(texts).encode())
    else:
        (folder / FAILURES).unlink(missing_ok=True)
