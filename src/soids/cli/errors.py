"""Errors of the library as messages and exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from soids.output.table import visible


class Commands(click.Group):
    """Commands in whose errors control characters are shown, not sent to the terminal."""

    def invoke(self, context: click.Context) -> Any:
        """Call the command that is asked for."""
        try:
            return super().invoke(context)
        except click.ClickException as error:
            vars(error)["message"] = visible(error.message)  # Final, as click does not change it
            raise


class Unusable(click.ClickException):
    """A file that cannot be used as it is; how to call the command would be no help."""

    exit_code = 2


@contextmanager
def usable() -> Iterator[None]:
    """Report that a file cannot be used."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise Unusable(str(error)) from None
