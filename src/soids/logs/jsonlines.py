"""JSON lines: a header, then a line for each decision, and one for each reward that came later.

    {"format": "soids log", "version": 1, "sets": {"home": [[1, 0], [0, 1]]}}
    {"id": "17", "time": "2026-01-01T00:00:00Z", "policy": "v3", "set": "home",
     "probabilities": [0.9, 0.1], "chosen": 0}
    {"reward_of": "17", "reward": 1.0}

``actions`` (K, d) or ``count``, their number, may replace ``set``, and the ``propensity`` of the
chosen action may replace ``probabilities``. A reward that is known at once stands in the line of
its decision. Other fields are ignored.
"""

import gzip
import json
import os
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from soids.logs.joining import Joiner, refuse
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

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

TORN = ("refuse", "skip")
GZIP = b"\x1f\x8b"  # the first bytes of such a file
PIECE = 65536  # bytes read at once in the search for the end of the last whole line


class JsonLog:
    """A log in JSON lines, plain or gzip, which is read as a stream."""

    unit = "line"

    def __init__(
        self, path: str | os.PathLike[str], *, target: str = "target", torn: str = "refuse"
    ) -> None:
        check_torn(torn)
        self.path = Path(path)
        self.name = self.path.name
        self.target, self.torn = target, torn

    def __iter__(self) -> Iterator[Entry]:
        contents, line = Contents(self.target), 1
        with located(self.name, self.unit, lambda: line):
            for line, record in json_lines(self.path, skip_torn=self.torn == "skip"):
                entry = contents.take(record, line)
                if entry is not None:
                    yield entry
            yield from contents.joiner.finish()


class Contents:
    """The header and the decisions of the lines read so far."""

    def __init__(self, target: str = "target") -> None:
        self.target = target
        self.header: Header | None = None
        self.joiner = Joiner()

    def take(self, record: dict[str, Any], line: int) -> Entry | None:
        """Read a line; returns the decision that it completes, if any."""
        if self.header is None:
            self.header = as_header(record)
            return None
        if "reward_of" in record:
            reward = as_reward(record.get("reward"))
            return self.joiner.reward(as_id(record["reward_of"]), reward)
        entry = as_entry(record, self.header, line, self.target)
        self.header = self.header.after(entry)
        return entry if self.joiner.decide(entry) else None


def check_torn(torn: object) -> None:
    if torn not in TORN:
        raise ValueError(f"torn must be one of {', '.join(TORN)}, got {torn!r}")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """A file as bytes, unpacked if its content is gzip."""
    with path.open("rb") as file:
        if file.peek(2)[:2] == GZIP:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
        else:
            yield file


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text file; an unfinished last line has no line break."""
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
    """The numbered objects of a file of JSON lines, without blank lines."""
    for number, text in text_lines(path):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            if text.endswith("\n"):
                why = f"must be one JSON object: {error}"
            elif skip_torn:
                left_out = f"{path.name}, line {number}: the last line is cut off and left out"
                warnings.warn(left_out, RuntimeWarning, stacklevel=2)
                return
            else:
                why = 'the last line is cut off: remove it, or read with torn="skip" (--torn skip)'
            raise wrong(path.name, "line", number, why) from None
        if not isinstance(record, dict):
            raise wrong(
                path.name, "line", number, f"must be one JSON object, got {text.strip():.40}"
            )
        yield number, record


class LogWriter:
    """Appends to a log in JSON lines; each line is one unbuffered write.

    Lines are checked before they are written, so that they can be read again. An existing log is
    therefore read once, keeps its header, and has one writer at a time. A line that does not fit on
    the disk is removed, and so is one that a killed process left unfinished.

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
        self.joiner = Joiner()
        is_given = sets is not None or dimension is not None
        self.file = self.path.open("ab", buffering=0)
        try:
            lock(self.file)
            if os.fstat(self.file.fileno()).st_size == 0:
                self._write(self.header.described())
            else:
                remove_torn_line(self.path)
                self.header, self.joiner = continued(self.path, self.header if is_given else None)
        except BlockingIOError:
            self.file.close()  # another writer holds the lock
            raise
        except BaseException:
            unlock(self.file)
            raise

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
        form = {str: "set", int: "count"}.get(type(plain(actions)), "actions")
        record = {
            "id": plain(id), form: plain(actions), "chosen": plain(chosen),
            "propensity": propensity, "probabilities": plain(probabilities), "reward": reward,
            "time": time, "policy": policy, "target": plain(target),
        }  # fmt: skip
        entry = as_entry(record, self.header, 0, "target")
        if self.joiner.seen.knows(entry.id):
            raise ValueError(f"id must be new, {entry.id!r} was logged already: log it once")
        self._write({
            "id": entry.id, "time": entry.time, "policy": entry.policy or None,
            form: plain(entry.actions if form == "actions" else actions),
            "probabilities": plain(entry.probabilities),
            "propensity": entry.propensity if entry.probabilities is None else None,
            "chosen": entry.chosen, "reward": entry.reward, "target": plain(entry.target),
        })  # fmt: skip
        self.header = self.header.after(entry)
        self.joiner.decide(Entry(entry.id, None, entry.chosen, entry.propensity, entry.reward))

    def reward(
        self, id: str | int, reward: float, *, time: str | float | datetime | None = None
    ) -> None:
        """Log the reward of a decision that was logged without one."""
        name, value = as_id(plain(id)), as_reward(reward)
        self.joiner.awaited(name)
        self._write({"reward_of": name, "reward": value, "time": as_time(time)})
        self.joiner.reward(name, value)

    def _write(self, record: dict[str, Any]) -> None:
        """Append a line with the fields that are not None, whole or not at all."""
        if self.file.closed:
            raise ValueError(f"{self.path.name} is closed: open it by a new LogWriter")
        fields = {name: value for name, value in record.items() if value is not None}
        line = json.dumps(fields, allow_nan=False).encode() + b"\n"
        before, written = os.fstat(self.file.fileno()).st_size, 0
        try:
            written = self.file.write(line) or 0
        finally:
            if written != len(line):
                self._truncate(before)
        if written != len(line):
            raise OSError(f"{self.path} took only a part of a line: is the disk full?")

    def _truncate(self, size: int) -> None:
        """Remove a part of a line; if that fails, close the file, so that no line follows it."""
        try:
            os.ftruncate(self.file.fileno(), size)
        except OSError:
            unlock(self.file)

    def close(self) -> None:
        """Flush the file to the disk, unlock and close it."""
        if not self.file.closed:
            os.fsync(self.file.fileno())
            unlock(self.file)

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lock(file: IO[bytes]) -> None:
    """Lock a file that is open for writing, if the system supports locks, until it is closed."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(
            f"{file.name} has a LogWriter already, here or in another process: close that one first"
        ) from None
    except OSError:  # a file system without locks
        return


def unlock(file: IO[bytes]) -> None:
    """Release the lock, also for children that were forked meanwhile, and close the file."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)
    file.close()


def plain(value: Any) -> Any:
    """The value, a list if it is an array."""
    return value.tolist() if hasattr(value, "tolist") else value


def remove_torn_line(path: Path) -> None:
    """Remove the last line of a log if it is unfinished, as its writer was killed."""
    with path.open("r+b") as file:
        first = file.readline()
        if first[:2] == GZIP:
            raise ValueError(f"{path.name} is gzip: unpack it to continue it, or begin a new file")
        if not first.endswith(b"\n"):
            raise ValueError(f"{path.name} has no whole line: remove it, or begin a new file")
        with located(path.name, "line", 1):  # a file of another kind must not be changed
            as_header(json.loads(first.decode("utf-8-sig")))
        end = file.seek(0, os.SEEK_END)
        begin = end
        while begin > len(first):
            begin = max(begin - PIECE, len(first))
            file.seek(begin)
            whole = file.read(PIECE).rfind(b"\n")
            if whole >= 0:
                begin += whole + 1
                break
        if begin < end:
            warnings.warn(
                f"{path.name} ended in {end - begin} bytes of an unfinished line: removed",
                RuntimeWarning,
                stacklevel=3,
            )
            file.truncate(begin)


def continued(path: Path, header: Header | None) -> tuple[Header, Joiner]:
    """The header and decisions of an existing log; a given header must be the same."""
    contents = Contents()
    for line, record in json_lines(path):
        is_first = contents.header is None
        with located(path.name, "line", line):
            contents.take(record, line)
        if is_first and header is not None and as_header(record).described() != header.described():
            raise ValueError(
                f"{path.name} has another header: leave out sets= and dimension= to keep its own, "
                "or begin a new file"
            )
    with located(path.name, "line", 0):
        refuse(contents.joiner.seen.settle())
    return contents.header or make_header({}, None), contents.joiner
