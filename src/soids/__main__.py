"""``python -m soids`` is the command ``soids``."""

import sys

if not sys.flags.safe_path:  # the working directory, whose modules would hide those installed
    del sys.path[0]

from soids.cli import main

main()
