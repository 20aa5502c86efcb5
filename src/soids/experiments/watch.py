"""Whoever follows a run: notices and progress go through one object, silent by default."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from soids.simulation.board import Board
from soids.simulation.trial import Trial


class Watch(Protocol):
    """Whoever follows a run: the command line prints, ``SILENT`` does nothing."""

    def say(self, text: str, *, warning: bool = False) -> None:
        """Give a notice to the user."""

    def follow(
        self, trials: Sequence[Trial], board: Board
    ) -> AbstractContextManager[Callable[[], object]]:
        """Show how far trials are, by the rows of the board, until the context ends.

        The context gives a function, which is called whenever a trial is finished.
        """


class Silent:
    """A watch that shows nothing."""

    def say(self, text: str, *, warning: bool = False) -> None:
        pass

    def follow(
        self, trials: Sequence[Trial], board: Board
    ) -> AbstractContextManager[Callable[[], object]]:
        return nullcontext(lambda: None)


SILENT = Silent()
