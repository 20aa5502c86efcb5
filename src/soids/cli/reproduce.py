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
    """SOIDS and the paper's baselines on its three instances: some 4 minutes on two cores."""
    carry_out(shipped()["figure1"], asked)


@reproduce.command()
@options
def baselines(asked: Asked) -> None:
    """Every policy there is on the same instances: a quarter of an hour on two cores."""
    carry_out(shipped()["baselines"], asked)
