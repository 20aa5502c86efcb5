"""Where experiments are: in files of the user, among those shipped, beside their results."""

import json
from pathlib import Path

from soids.files import read_regular
from soids.simulation.experiment import Experiment, read_experiment
from soids.simulation.user_policies import COPY, MANIFEST
from soids.spelling import meant

SHIPPED = Path(__file__).parent


def shipped() -> dict[str, Path]:
    """The experiments that come with soids, by name."""
    return {
        str(path.relative_to(SHIPPED).with_suffix("")): path
        for path in sorted(SHIPPED.rglob("*.toml"))
    }


def find(name: str | Path) -> Path:
    """The file of this name, or the shipped experiment."""
    path, known = Path(name), shipped()
    if path.is_file():
        return path
    if str(name) in known:
        return known[str(name)]
    if path.is_dir():
        raise IsADirectoryError(f"{name} is a folder: name a file in it")
    if path.suffix == ".toml":
        stem = str(path.with_suffix(""))
        shipped_one = f": {stem} without .toml is the shipped one" if stem in known else ""
        raise FileNotFoundError(f"no such file, got {str(name)!r}{shipped_one}")
    raise FileNotFoundError(f"no such file, nor one of {', '.join(known)}{meant(name, known)}")


def last_run(folder: Path) -> dict[str, object]:
    """What the manifest says of the last run into a folder; empty if it cannot be read."""
    try:
        return dict(json.loads(read_regular(folder / MANIFEST)))
    except (OSError, ValueError, TypeError, RecursionError):
        return {}


def played_experiment(folder: Path) -> Experiment:
    """The experiment that was run into a folder, which is data: no code is imported."""
    asked = last_run(folder)
    if not asked.keys() >= {"name", "quick", "full", "beside"}:
        raise ValueError(f"{folder} must be a folder that soids run has written to")
    name, file = asked["name"], folder / MANIFEST
    is_name = isinstance(name, str) and name.isprintable() and len(name) <= 200
    if not isinstance(name, str) or not (is_name and name.strip(".")) or set(name) & set("/\\"):
        raise ValueError(f"{file} must name the experiment as its file was called, got {name!r}")
    beside, quick, full = (asked[key] for key in ("beside", "quick", "full"))
    if not (isinstance(beside, str) and isinstance(quick, bool) and isinstance(full, bool)):
        raise ValueError(f"{file} must say how the experiment was run: run it again")
    return read_experiment(folder / COPY, quick, full, Path(beside, f"{name}.toml"))
