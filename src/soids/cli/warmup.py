"""``soids warmup``: compile what first decisions would compile."""

import sys

import click

from soids.kernels.compiler import NOT_KEPT
from soids.policies import POLICIES
from soids.simulation.warmup import warm_up


@click.command()
def warmup() -> None:
    """Compile what the policies need, so that first decisions need not wait for it.

    Compiled code is kept for later processes. In a Dockerfile this is a step after pip install.
    """
    with click.progressbar(
        length=len(POLICIES), label="compiling", item_show_func=str, file=sys.stderr
    ) as bar:
        warmth = warm_up(lambda name: bar.update(1, name))
    done = f"Compiled {warmth.kernels} functions" if warmth.kernels else "All had been compiled"
    click.echo(f"{done}, in {warmth.seconds:.1f} s.")
    if warmth.folder is None:
        raise click.ClickException(NOT_KEPT)
    click.echo(f"The compiled code is in {warmth.folder}.")
