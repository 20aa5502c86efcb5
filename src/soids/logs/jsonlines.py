"""JSON lines: a header, then a line for each decision, and one for each reward that came later.

    {"format": "soids log", "version": 1, "sets": {"home": [[1, 0], [0, 1]]}}
    {"id": "17", "time": "2026-01-01T00:00:00Z", "policy": "v3", "set": "home",
     "probabilities": [0.9, 0.1], "chosen": 0}
    {"reward_of": "17", "reward": 1.0}

``actions`` (K, d) or ``count``, their number, may replace ``set``, and the ``propensity`` of the
chosen action may replace ``probabilities``. A reward that is known at once stands in the line of
its decision, and the ``name`` of the chosen action may. Other fields are ignored.
"""

import gzip
import json
import os
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from soids.logs.joining import Contents, complete
from soids.logs.limits import EXPANSION, LINE, is_packed, room, too_large
from soids.logs.records import Entry, LogError, wrong

TORN = ("refuse", "skip")
SKIP = 'torn="skip" (--torn skip)'


class JsonLog:
    """A log in JSON lines, plain or gzip, which is read as a stream."""

    unit = "line"

    def __init__(
        self, path: str | os.PathLike[str], *, target: str = "target", torn: str = "refuse",
        expansion: float = EXPANSION,
    ) -> None:  # fmt: skip
        check_torn(torn)
        self.path = Path(path)
        self.name = self.path.name
        self.target, self.torn, self.expansion = target, torn, expansion

    def __iter__(self) -> Iterator[Entry]:
        contents = Contents(self.target)
        lines = json_lines(self.path, skip_torn=self.torn == "skip", expansion=self.expansion)
        return complete(self, lines, contents.take, contents.joiner)


def check_torn(torn: object) -> None:
    if torn not in TORN:
        raise ValueError(f"torn must be one of {', '.join(TORN)}, got {torn!r}")


def text_lines(
    path: Path, *, skip_torn: bool | None = None, expansion: float = EXPANSION
) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file, plain or gzip; an unfinished one has no line break.

    A gzip file that is cut off is refused, or read to its last whole line if ``skip_torn``, which
    is None for formats without such a setting. One that unpacks to more than ``expansion`` times
    its size (and more than 128 MB) is refused, too, and so is a line of a quarter of that.
    """
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            raise LogError(
                f'{path.name} is parquet: read it with form="parquet" (--format parquet)'
            )
    packed = is_packed(path)
    number, left = 0, room(path, expansion)
    longest = int(LINE * left)
    with gzip.open(path) if packed else path.open("rb") as file:
        while True:
            number += 1
            try:
                raw = file.readline(longest + 1 if packed else -1)
            except EOFError:
                if skip_torn:
                    warn_of_torn(path, number)
                    return
                skipped = "" if skip_torn is None else ", or read what is whole with " + SKIP
                why = f"the gzip file is cut off here: copy it again{skipped}"
                raise wrong(path.name, "line", number, why) from None
            except (zlib.error, gzip.BadGzipFile) as error:
                raise wrong(path.name, "line", number, f"damaged gzip: {error}") from None
            left -= len(raw) if packed else 0
            if left < 0 or (packed and len(raw) > longest):
                raise too_large(path, expansion)
            if not raw:
                return
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise wrong(path.name, "line", number, f"must be UTF-8: {error.reason}") from None


def json_lines(
    path: Path, *, skip_torn: bool = False, expansion: float = EXPANSION
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The numbered objects of a file of JSON lines, without blank lines."""
    for number, text in text_lines(path, skip_torn=skip_torn, expansion=expansion):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            if text.endswith("\n"):
                why = f"must be one JSON object, correct or remove the line: {in_json(error)}"
            elif skip_torn:
                warn_of_torn(path, number)
                return
            else:
                why = f"the last line is cut off: remove it, or read with {SKIP}"
            raise wrong(path.name, "line", number, why) from None
        if not isinstance(record, dict):
            why = f"must be one JSON object, got {text.strip():.40}"
            raise wrong(path.name, "line", number, why)
        yield number, record


def warn_of_torn(path: Path, number: int) -> None:
    """Warn that the last line of a file is left out."""
    left_out = f"{path.name}, line {number}: the last line is cut off and left out"
    warnings.warn(left_out, RuntimeWarning, stacklevel=3)


def in_json(error: Exception) -> str:
    """An error of a line of JSON, without the number of that line within itself."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
    return str(error)
