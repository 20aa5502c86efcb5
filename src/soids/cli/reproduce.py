"""``soids reproduce``: the experiments of the paper."""

from pathlib import Path

import click

from soids.cli.run import carry_out, chosen_engine, options
from soids.cli.shipped import shipped


@click.group()
def reproduce() -> None:
    """Run the experiments of the paper."""


@reproduce.command()
@options
def figure1(
    quick: bool, full: bool, out: Path | None, fresh: bool, engine: str,
    workers: int | None, scheduler: str | None,
) -> None:  # fmt: skip
    """SOIDS and the paper's baselines on its three instances: some 5 minutes on two cores."""
    where = chosen_engine(engine, workers, scheduler)
    carry_out(shipped()["figure1"], quick, full, out, fresh, where)


@reproduce.command()
@options
def baselines(
    quick: bool, full: bool, out: Path | None, fresh: bool, engine: str,
    workers: int | None, scheduler: str | None,
) -> None:  # fmt: skip
    """Every policy there is on the same instances: a quarter of an hour on two cores."""
    where = chosen_engine(engine, workers, scheduler)
    carry_out(shipped()["baselines"], quick, full, out, fresh, where)
