"""``python -m soids`` is the command ``soids``."""

from soids.cli import main

main()
