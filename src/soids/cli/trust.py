"""``--trust``: code that is not of soids is imported only if the user says so, and named."""

import sys

import click

from soids.cli.errors import usable
from soids.simulation.trial import policy_called

trust_option = click.option(
    "--trust", is_flag=True,
    help="Import policies that are not of soids, module:Class, and so run their code.",
)  # fmt: skip


def announce(policy: str) -> None:
    """Import a policy, and say from which file."""
    with usable():
        policy_called(policy)
    file = getattr(sys.modules[policy.partition(":")[0]], "__file__", None)
    click.echo(f"Imported as --trust asks: {policy} from {file}", err=True)
