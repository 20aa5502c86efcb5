"""``soids bench``: how to get and run the benchmarks, which are not part of this package."""

import click

WHERE = """\
The benchmarks are not part of the installed package. They are in the folder
benchmarks of the source repository of soids. Run there:"""
COMMANDS = """\
  make peers                                 install the libraries to compare with
  .venv-peers/bin/python -m benchmarks       list the benchmarks
  .venv-peers/bin/python -m benchmarks NAME  run one of them"""


@click.command(
    context_settings={"ignore_unknown_options": True},
    help=f"Say how to get and run the benchmarks.\n\n{WHERE}\n\n\b\n{COMMANDS}",
)
@click.argument("benchmark", nargs=-1, type=click.UNPROCESSED)
def bench(benchmark: tuple[str, ...]) -> None:
    """Print the commands; fail if a benchmark was to run, since a script may wait for its files."""
    if benchmark:
        raise click.UsageError(f"cannot run {' '.join(benchmark)!r}. {WHERE}\n\n{COMMANDS}")
    click.echo(f"{WHERE}\n\n{COMMANDS}")
