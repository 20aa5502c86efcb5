"""The command ``soids``."""

import click

from soids.cli.bench import bench
from soids.cli.bound import bound
from soids.cli.errors import Commands
from soids.cli.inspect import inspect
from soids.cli.listing import listing
from soids.cli.replay import replay
from soids.cli.reproduce import reproduce
from soids.cli.results import plot, table
from soids.cli.run import run
from soids.cli.warmup import warmup


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="soids")
def main() -> None:
    """Decide again and again, with many features and few samples."""


for command in (bench, bound, inspect, listing, plot, replay, reproduce, run, table, warmup):
    main.add_command(command)
