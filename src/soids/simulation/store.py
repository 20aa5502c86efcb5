"""Results on disk: one small file per trial, so that running again runs what is missing."""

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from soids.archives import read_arrays
from soids.arrays import as_count
from soids.files import read_regular, write_whole
from soids.records import check_kinds, check_numbers
from soids.simulation.play import Trace
from soids.simulation.trial import Trial

ROUND = 8 * len(Trace._fields)  # bytes of a round in memory
TEXT = 2**20  # bytes for the description and the heads of arrays
ROOM = (
    2**27
)  # bytes that a file may take in memory, three million rounds, unless it is large itself
DENSEST = 20  # times its size that a large one may take
FORMAT = 1
FACTS = ("seconds", "code", "versions")  # of an outcome, beside its trace


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    trace: Trace
    seconds: float  # processor time to choose and learn, over all rounds
    code: str  # fingerprint of what played it
    versions: dict[str, str]  # of the libraries it was played with

    def validate(self) -> None:
        """Refuse what no play leaves."""
        self.trace.validate()
        check_kinds(Outcome, {"seconds": self.seconds, "code": self.code})
        check_numbers(self, "seconds", 0.0, math.inf)
        if not isinstance(self.versions, dict) or not all(
            isinstance(text, str) for pair in self.versions.items() for text in pair
        ):
            raise ValueError("versions must be texts by the names of libraries")


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
            most = ROUND * trial.problem.horizon + TEXT
            recipe, outcome = read_outcome(self.path(trial), most)
        except (ValueError, OSError):
            return None
        return outcome if recipe == trial.recipe else None


def read_outcome(path: Path, most: int | None = None) -> tuple[dict[str, Any], Outcome]:
    """The recipe and the outcome in a file from anyone, which is data and is checked.

    It may take ``most`` bytes in memory; without that number, 128 MB or 20 times its size.
    """
    content = read_regular(path, most)
    try:
        arrays = read_arrays(content, most or max(ROOM, DENSEST * len(content)))
        description = json.loads(arrays["description"].tobytes())
        if description["format"] != FORMAT:
            raise ValueError(f"format must be {FORMAT}, got {description['format']!r}")
        trace = Trace(*(arrays[name] for name in Trace._fields))
        outcome = Outcome(trace, *(description[name] for name in FACTS))
        outcome.validate()
        recipe: dict[str, Any] = description["recipe"]
        as_count(recipe["horizon"], "horizon", len(trace.chosen), len(trace.chosen))
        Trial.of(recipe)
    except Exception as error:  # a file of another making may lead anywhere
        line = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"{path} must be the file of a trial, and is not: {line}") from error
    return recipe, outcome
