"""Experiments by name: a file of the user's, or one that is shipped."""

from importlib.resources import files
from pathlib import Path

import click

from soids.simulation.experiment import Experiment, read_experiment
from soids.simulation.spelling import meant

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
    raise click.BadParameter(f"no such file, nor one of {', '.join(known)}{meant(name, known)}")


def load_experiment(path: Path, quick: bool, full: bool) -> Experiment:
    """The experiment in a file, or an error that the command line reports."""
    try:
        return read_experiment(path, quick, full)
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
