"""JSON lines: a header, then one line a decision, and one a reward that came later.

    {"format": "soids log", "version": 1, "sets": {"home": [[1, 0], [0, 1]]}}
    {"id": "17", "time": "2026-01-01T00:00:00Z", "policy": "v3", "set": "home",
     "probabilities": [0.9, 0.1], "chosen": 0}
    {"reward_of": "17", "reward": 1.0}

In place of ``set`` stand ``actions`` (K, d) or ``count``, their number; in place of
``probabilities`` the ``propensity`` of the chosen one. A reward that is known stands in the line of
its decision. Other fields are left alone.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from soids.logs.joining import Joiner
from soids.logs.records import (
    Entry,
    Header,
    as_entry,
    as_header,
    as_id,
    as_reward,
    as_time,
    located,
    make_header,
    wrong,
)

TORN = ("refuse", "skip")


class JsonLog:
    """A log in JSON lines, plain or gzip; read as a stream."""

    unit = "line"

    def __init__(
        self, path: str | os.PathLike[str], *, target: str = "target", torn: str = "refuse"
    ) -> None:
        if torn not in TORN:
            raise ValueError(f"torn must be one of {', '.join(TORN)}, got {torn!r}")
        self.path = Path(path)
        self.name = self.path.name
        self.target, self.torn = target, torn

    def __iter__(self) -> Iterator[Entry]:
        joiner, line = Joiner(), 1
        header: Header | None = None
        with located(self.name, self.unit, lambda: line):
            for line, record in json_lines(self.path, skip_torn=self.torn == "skip"):
                if header is None:
                    header = as_header(record)
                elif "reward_of" in record:
                    yield joiner.reward(as_id(record["reward_of"]), as_reward(record.get("reward")))
                else:
                    entry = as_entry(record, header, line, self.target)
                    header = header.after(entry)
                    if joiner.decide(entry):
                        yield entry
            yield from joiner.finish()


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """A file as bytes, unpacked if it is gzip, whatever its name is."""
    with path.open("rb") as file:
        if file.peek(2)[:2] == b"\x1f\x8b":
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
        else:
            yield file


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file, numbered; what was never finished has no end of line."""
    number = 0
    with opened(path) as file:
        while True:
            number += 1
            try:
                raw = file.readline()
            except EOFError:
                raise wrong(path.name, "line", number, "the gzip file is cut off here") from None
            except (zlib.error, gzip.BadGzipFile) as error:
                raise wrong(path.name, "line", number, f"damaged gzip: {error}") from None
            if not raw:
                return
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise wrong(path.name, "line", number, f"must be UTF-8: {error.reason}") from None


def json_lines(path: Path, *, skip_torn: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, numbered; blank lines are none."""
    for number, text in text_lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            if text.endswith("\n"):
                why = f"must be one JSON object: {error}"
            elif skip_torn:
                return
            else:
                why = 'the last line is cut off: remove it, or read with torn "skip"'
            raise wrong(path.name, "line", number, why) from None
        if not isinstance(record, dict):
            raise wrong(
                path.name, "line", number, f"must be one JSON object, got {text.strip():.40}"
            )
        yield number, record


class LogWriter:
    """Appends to a log in JSON lines: each line is one write, and flushed to the system.

    What is written is checked first, so that it can be read. A killed process leaves at most its
    last line torn; such a file is refused here, too, until the line is removed.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.jsonl"
    >>> with LogWriter(path, sets={"home": [[1, 0], [0, 1]]}) as log:
    ...     log.decide("17", actions="home", chosen=0, propensity=0.9)
    ...     log.reward("17", 1.0)
    >>> [entry.reward for entry in JsonLog(path)]
    [1.0]
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sets: Mapping[str, object] | None = None,
        dimension: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.header = make_header(sets or {}, dimension)
        new = not self.path.exists() or self.path.stat().st_size == 0
        if not new:
            check_appendable(self.path, self.header)
        self.file = self.path.open("ab", buffering=0)
        if new:
            self._write(self.header.described())

    def decide(
        self,
        id: str | int,
        *,
        actions: object,  # (K, d), the name of a set, or a number of actions
        chosen: int,
        propensity: float | None = None,
        probabilities: Sequence[float] | None = None,
        reward: float | None = None,
        time: str | float | datetime | None = None,
        policy: str = "",
        target: Sequence[float] | float | None = None,
    ) -> None:
        """Log a decision."""
        way = {str: "set", int: "count"}.get(type(actions), "actions")
        record = {
            "id": as_id(id), "time": as_time(time), "policy": policy or None,
            way: plain(actions), "probabilities": plain(probabilities),
            "propensity": propensity, "chosen": int(chosen), "reward": reward,
            "target": plain(target),
        }  # fmt: skip
        entry = as_entry(record, self.header, 0, "target")
        self.header = self.header.after(entry)
        self._write({name: value for name, value in record.items() if value is not None})

    def reward(
        self, id: str | int, reward: float, *, time: str | float | datetime | None = None
    ) -> None:
        """Log the reward of a decision that was logged without."""
        record = {"reward_of": as_id(id), "reward": as_reward(reward), "time": as_time(time)}
        self._write({name: value for name, value in record.items() if value is not None})

    def _write(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        if self.file.write(line) != len(line):
            raise OSError(f"{self.path} took only a part of a line: is the disk full?")

    def close(self) -> None:
        """Make what was written last, and let go of the file."""
        if not self.file.closed:
            os.fsync(self.file.fileno())
            self.file.close()

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def plain(value: Any) -> Any:
    """Arrays as lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def check_appendable(path: Path, header: Header) -> None:
    """Refuse to append to what is no log, to another header's, or to a torn line."""
    number, first = next(json_lines(path))
    try:
        there = as_header(first)
    except ValueError as error:
        raise wrong(path.name, "line", number, error) from None
    if json.dumps(there.described()) != json.dumps(header.described()):
        raise ValueError(f"{path.name} has another header: begin a new file")
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            raise ValueError(f"{path.name} ends in a torn line: remove it, or begin a new file")
