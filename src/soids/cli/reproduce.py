"""``soids reproduce``: the experiments of the paper."""

from pathlib import Path
from typing import Any

import click

from soids.cli.run import carry_out, options
from soids.experiments import run as experiments


@click.group()
def reproduce() -> None:
    """Run the experiments of the paper."""


@reproduce.command()
@options
def figure1(full: bool, out: Path | None, **asked: Any) -> None:
    """Play the paper's algorithms on its three instances, and what we add, in some 4 minutes on two
    cores.

    With --full it also plays the algorithms that the theorems cover, and langevin_steps (in a
    folder of its own), in some 20 minutes.
    """
    play("figure1", full=full, out=out, **asked)
    if full:
        play("langevin_steps", full=True, out=out and out / "langevin_steps", **asked)


@reproduce.command()
@options
def baselines(**asked: Any) -> None:
    """Play every policy on the same instances, in a quarter of an hour on two cores."""
    play("baselines", **asked)


@reproduce.command("langevin_steps")
@options
def langevin_steps(**asked: Any) -> None:
    """Play the paper's sampler with several numbers of Langevin steps, in some 20 minutes."""
    play("langevin_steps", **asked)


def play(name: str, **asked: Any) -> None:
    """Carry out the reproduction of an experiment."""
    carry_out(lambda watch: experiments.reproduce(name, watch=watch, **asked))
