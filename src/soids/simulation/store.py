"""Results on disk: one small file per trial, so that running again runs what is missing."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from soids.files import UNREADABLE, opened_archive, write_whole
from soids.simulation.play import Trace
from soids.simulation.trial import Trial

FORMAT = 1
FACTS = ("seconds", "code", "versions")  # of an outcome, beside its trace


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    trace: Trace
    seconds: float  # processor time to choose and learn, over all rounds
    code: str  # fingerprint of what played it
    versions: dict[str, str]  # of the libraries it was played with


@dataclass(frozen=True)
class Store:
    """A folder of outcomes."""

    folder: Path

    def path(self, trial: Trial) -> Path:
        """Where the outcome of a trial is, or will be."""
        return self.folder / f"{trial.name}.npz"

    def write(self, trial: Trial, outcome: Outcome) -> None:
        """Keep an outcome, whole or not at all."""
        facts = {name: getattr(outcome, name) for name in FACTS}
        description = json.dumps({"format": FORMAT, "recipe": trial.recipe, **facts})
        text = np.frombuffer(description.encode(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, description=text, **outcome.trace._asdict())
        path = self.path(trial)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, buffer.getvalue())

    def read(self, trial: Trial) -> Outcome | None:
        """The outcome of a trial; none if it is missing, damaged or of another recipe."""
        try:
            recipe, outcome = read_outcome(self.path(trial))
        except UNREADABLE:
            return None
        return outcome if recipe == trial.recipe else None


def read_outcome(path: Path) -> tuple[dict[str, Any], Outcome]:
    """The recipe and the outcome in a file."""
    with opened_archive(path) as archive:
        description = json.loads(archive["description"].tobytes())
        if description["format"] != FORMAT:
            raise ValueError(f"{path} must have format {FORMAT}, got {description['format']!r}")
        trace = Trace(*(archive[name] for name in Trace._fields))
    return description["recipe"], Outcome(trace, *(description[name] for name in FACTS))
