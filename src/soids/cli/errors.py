"""Errors of the library as messages and exit codes."""

from collections.abc import Iterator
from contextlib import contextmanager

import click


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
