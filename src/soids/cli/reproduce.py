"""``soids reproduce``: the experiments of the paper."""

from dataclasses import replace

import click

from soids.cli.run import Asked, carry_out, options
from soids.cli.whereabouts import shipped


@click.group()
def reproduce() -> None:
    """Run the experiments of the paper."""


@reproduce.command()
@options
def figure1(asked: Asked) -> None:
    """The paper's algorithms on its three instances, and what we add: some 4 minutes on two cores.

    With --full also the algorithms that the theorems cover, and regret against the number of
    Langevin steps (in a folder of its own): some 20 minutes.
    """
    carry_out(shipped()["figure1"], asked)
    if asked.full:
        beside = None if asked.out is None else asked.out / "langevin_steps"
        carry_out(shipped()["langevin_steps"], replace(asked, out=beside))


@reproduce.command()
@options
def baselines(asked: Asked) -> None:
    """Every policy there is on the same instances: a quarter of an hour on two cores."""
    carry_out(shipped()["baselines"], asked)
