"""Writing a log in JSON lines, so that what is written can be read, whatever happens meanwhile."""

import json
import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from soids.logs import records
from soids.logs.joining import Contents, Joiner
from soids.logs.jsonlines import json_lines
from soids.logs.limits import GZIP
from soids.logs.records import Entry, Header

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class LogWriter:
    """Appends to a log in JSON lines; each line is one unbuffered write.

    Lines are checked before they are written, so that they can be read again. An existing log is
    therefore read once, keeps its header, and has one writer at a time, which threads may share but
    not processes that were forked. A line that does not fit on the disk is removed, and so is one
    that a killed process left unfinished.

    >>> import tempfile, pathlib
    >>> from soids.logs import JsonLog
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "decisions.jsonl"
    >>> with LogWriter(path, sets={"home": [[1, 0], [0, 1]]}) as log:
    ...     log.decide("17", actions="home", chosen=0, propensity=0.9)
    ...     log.reward("17", 1.0)
    >>> [entry.reward for entry in JsonLog(path)]
    [1.0]
    """

    def __init__(
        self, path: str | os.PathLike[str], *, sets: Mapping[str, object] | None = None,
        dimension: int | None = None,
    ) -> None:  # fmt: skip
        self.path = Path(path)
        self.header = records.make_header(sets or {}, dimension)
        self.joiner = Joiner()
        self.process, self.guard = os.getpid(), threading.Lock()
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
        self, id: str | int, *,
        actions: object,  # (K, d), the name of a set, or a number of actions
        chosen: int, propensity: float | None = None, probabilities: Sequence[float] | None = None,
        reward: float | None = None, time: str | float | datetime | None = None, policy: str = "",
        target: Sequence[float] | float | None = None,
    ) -> None:  # fmt: skip
        """Log a decision."""
        form = {str: "set", int: "count"}.get(type(plain(actions)), "actions")
        record = {
            "id": plain(id), form: plain(actions), "chosen": plain(chosen),
            "propensity": propensity, "probabilities": plain(probabilities), "reward": reward,
            "time": time, "policy": policy, "target": plain(target),
        }  # fmt: skip
        with self._alone():
            entry = records.as_entry(record, records.find_actions(record, self.header), 0)
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
        name, value = records.as_id(plain(id)), records.as_reward(reward)
        with self._alone():
            self.joiner.awaited(name)
            self._write({"reward_of": name, "reward": value, "time": records.as_time(time)})
            self.joiner.reward(name, value)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one thread check ids and write, and no process that was forked meanwhile."""
        if os.getpid() != self.process:  # before the lock, which a thread may have held at the fork
            raise ValueError(
                f"{self.path.name} was opened by process {self.process}, whose ids this process "
                f"({os.getpid()}) does not see: give each process a LogWriter and a file of its own"
            )
        with self.guard:
            yield

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
        """Flush the file to the disk, unlock and close it; a forked process leaves the lock."""
        if os.getpid() != self.process:
            self.file.close()
            return
        with self.guard:
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
        with records.located(path.name, "line", 1):  # a file of another kind must not be changed
            try:
                header = json.loads(first.decode("utf-8-sig"))
            except (ValueError, RecursionError):
                raise ValueError("this is no log of soids in JSON lines: name a new file") from None
            records.as_header(header)
        end = len(first) + sum(len(line) for line in file if line.endswith(b"\n"))
        left = file.tell() - end
        if left:
            warnings.warn(
                f"{path.name} ended in {left} bytes of an unfinished line: removed",
                RuntimeWarning, stacklevel=3,
            )  # fmt: skip
            file.truncate(end)


def continued(path: Path, header: Header | None) -> tuple[Header, Joiner]:
    """The header and decisions of an existing log; a given header must be the same."""
    contents = Contents()
    for line, record in json_lines(path):
        is_first = contents.header is None
        with records.located(path.name, "line", line):
            contents.take(line, record)
        known = contents.header
        if is_first and header and known and known.described() != header.described():
            raise ValueError(
                f"{path.name} has another header: leave out sets= and dimension= to keep its own, "
                "or begin a new file"
            )
    with records.located(path.name, "line", 0):
        contents.joiner.seen.settle()
    return contents.header or records.make_header({}, None), contents.joiner
