"""What is measured beside other tools, in one run and as ratios.

A benchmark is a module of functions from records to records; `soids.cli.bench` has a command for
each, which prints its records as a table and, if asked, writes them and draws them. Peers are
packages that need not be there: those that are missing are named, with what installs them.
"""

from importlib.util import find_spec

REMEDY = "`make peers` installs it into an environment of its own"


def is_installed(package: str) -> bool:
    """Whether a package is there, without loading it."""
    return find_spec(package) is not None
