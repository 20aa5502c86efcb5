"""``soids list``: policies, families of bandits and shipped experiments."""

import inspect
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from soids.bandits import FAMILIES
from soids.cli.page import page
from soids.experiments.shipped import shipped
from soids.output.table import Table, as_console
from soids.policies import POLICIES


@click.command("list")
def listing() -> None:
    """List policies, families of bandits and shipped experiments, with their settings."""
    console = page()
    console.print(as_console(described("Policies", POLICIES, "dimension")))
    console.print(as_console(described("Families of bandits", FAMILIES, "seed")))
    rows = [(name, first_comment(path)) for name, path in shipped().items()]
    console.print(as_console(Table(("", ""), rows, "Experiments (soids run NAME)", labels=2)))


def described(title: str, family: Mapping[str, Callable[..., object]], passed: str) -> Table:
    """The members of a family: name, first paragraph of the docstring, settings."""
    rows = []
    for name, member in family.items():
        sentence = " ".join((inspect.getdoc(member) or "").partition("\n\n")[0].split())
        settings = [
            p.name if p.default is p.empty else f"{p.name}={p.default!r}"
            for p in inspect.signature(member).parameters.values()
            if p.name != passed
        ]
        rows.append((name, f"{sentence}\nSettings: {', '.join(settings) or 'none'}"))
    return Table(("", ""), rows, title, labels=2)


def first_comment(path: Path) -> str:
    """What an experiment says of itself: the comment that opens its file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    opening = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.lstrip("# ") for line in opening)
