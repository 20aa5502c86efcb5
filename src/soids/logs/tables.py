"""Tables in files, CSV (also gzip) or parquet, one decision a row."""

import importlib
import io
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soids.features.action_files import read_actions
from soids.logs.frames import FrameLog
from soids.logs.limits import EXPANSION, unpacked
from soids.logs.parquet import arrow, batches, opened
from soids.logs.records import LogError

OTHERS = "others"


class TableLog(FrameLog):
    """A table as logged decisions; texts name its columns.

    - ``chosen``, ``reward`` and ``target`` are as in ``FrameLog``. ``propensity`` names one column,
      or one for each action, separated by commas, in the order of ``actions``.
    - ``actions`` is the number of actions, all labels separated by commas, or a file of their
      features (K, d). Without it, the actions are those that occur.
    - ``features`` names columns of the context, separated by commas, or is "others": all columns
      that have no other meaning. Every action then has a block of them (``FrameLog.in_context``).
    """

    def __init__(
        self, path: str | os.PathLike[str], *, reward: str = "reward",
        propensity: str = "propensity", chosen: str | None = None,
        actions: str | int | Sequence[str] | None = None, features: str | None = None,
        target: str | None = None, expansion: float = EXPANSION,
    ) -> None:  # fmt: skip
        self.path = Path(path)
        self.name = self.path.name
        frame = read_table(self.path, expansion)
        known = frame.column_names
        ours, theirs = (None if one is None else named(one, known) for one in (propensity, target))
        super().__init__(
            frame, reward=reward, chosen=chosen, actions=as_choice_of_actions(actions),
            propensity=propensity if ours is None else None, probabilities=ours,
            target=target if theirs is None else theirs,
        )  # fmt: skip
        if features is not None:
            taken = {reward, propensity, chosen, target, *(ours or ()), *(theirs or ())}
            others = [name for name in known if name not in taken]
            log = self.in_context(others if features == OTHERS else features.split(","))
            self.actions = log.actions


def named(text: str, known: Sequence[str]) -> list[str] | None:
    """The names of several columns in a text, None if it is the name of one."""
    return None if text in known or "," not in text else text.split(",")


def as_choice_of_actions(given: object) -> object:
    """The number of actions, their labels, or their features in a file, from a text."""
    if not isinstance(given, str):
        return given
    if given.isdigit():
        return int(given)
    if "," in given:
        return given.split(",")
    path = Path(given)
    if not path.is_file():
        raise ValueError(
            "actions must be a number, labels separated by commas or a file of features, "
            f"got {given!r}"
        )
    return read_actions(path)


def read_table(path: Path, expansion: float) -> Any:
    """The table in a file, in memory."""
    pyarrow = arrow()
    try:
        with path.open("rb") as source:
            if source.read(4) == b"PAR1":
                rows = list(batches(path, opened(source), None, expansion))
                return pyarrow.Table.from_batches(rows)
        csv = importlib.import_module("pyarrow.csv")
        return csv.read_csv(io.BytesIO(unpacked(path, expansion)))
    except (pyarrow.ArrowException, OSError, EOFError, zlib.error) as error:
        raise LogError(f"{path.name} must be a table, CSV or parquet: {error}") from None
