"""``python -m benchmarks``: one command for each benchmark."""

import click

from benchmarks.budget import budget
from benchmarks.cold import cold
from benchmarks.decisions.command import decisions
from benchmarks.designs import designs
from benchmarks.growth.command import growth
from benchmarks.harness import harness
from benchmarks.langevin import langevin
from benchmarks.large import large
from benchmarks.limits.command import limits
from benchmarks.pending import pending
from benchmarks.replay import replay
from benchmarks.rounds import rounds
from benchmarks.samplers.command import samplers
from benchmarks.speed import speed

NAME = "python -m benchmarks"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure soids beside other libraries, on the same work in the same run, as ratios."""


for command in (
    budget, cold, decisions, designs, growth, harness, langevin, large, limits, pending, replay,
    rounds, samplers, speed,
):  # fmt: skip
    main.add_command(command)


if __name__ == "__main__":
    main(prog_name=NAME)
