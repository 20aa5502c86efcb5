"""``soids bench``: how we compare with other tools and with the machine, measured in one run.

Each benchmark is a command of its own: it collects the records that a module of `soids.bench`
makes, prints them as tables and, with ``--out``, hands them to `soids.cli.deliver`.
"""

import click

from soids.cli.bench_decisions import decisions
from soids.cli.bench_growth import growth
from soids.cli.bench_limits import limits
from soids.cli.bench_samplers import samplers


@click.group()
def bench() -> None:
    """Measure us beside other tools, on the same work, as ratios."""


for command in (decisions, growth, limits, samplers):
    bench.add_command(command)
