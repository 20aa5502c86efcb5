"""Where experiments are: in files of the user's, among those shipped, beside their results."""

import json
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import click

from soids.simulation.experiment import Experiment, read_experiment
from soids.spelling import meant

MANIFEST = "manifest.json"
SHIPPED = Path(str(files("soids") / "experiments"))


def shipped() -> dict[str, Path]:
    """The experiments that come with soids."""
    return {
        str(path.relative_to(SHIPPED).with_suffix("")): path
        for path in sorted(SHIPPED.rglob("*.toml"))
    }


def find_file(name: str) -> Path:
    """The file of this name, or the shipped experiment."""
    path, known = Path(name), shipped()
    if path.is_file():
        return path
    if name in known:
        return known[name]
    if path.is_dir():
        raise click.BadParameter(f"{name} is a folder: name a file in it")
    if path.suffix == ".toml":
        stem = str(path.with_suffix(""))
        shipped_one = f": {stem} without .toml is the shipped one" if stem in known else ""
        raise click.BadParameter(f"no such file, got {name!r}{shipped_one}")
    raise click.BadParameter(f"no such file, nor one of {', '.join(known)}{meant(name, known)}")


def last_run(folder: Path) -> dict[str, object]:
    """What is written down of the last run into a folder; nothing if that cannot be read."""
    try:
        return dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def played_experiment(folder: Path) -> Experiment:
    """The experiment that was run into a folder."""
    try:
        asked = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        name, beside = str(asked["name"]), str(asked["beside"])
        quick, full = bool(asked["quick"]), bool(asked["full"])
    except (OSError, ValueError, LookupError, TypeError):
        raise Unusable(f"{folder} must be a folder that soids run has written to") from None
    sys.path.insert(0, beside)  # where a policy that is not ours may be
    return replace(load_experiment(folder / "experiment.toml", quick, full), name=name)


class Unusable(click.ClickException):
    """A file that cannot be used as it is; how to call the command would be no help."""

    exit_code = 2


def load_experiment(path: Path, quick: bool, full: bool) -> Experiment:
    """The experiment in a file, or an error that the command line reports."""
    try:
        return read_experiment(path, quick, full)
    except (ValueError, OSError) as error:
        raise Unusable(str(error)) from None
