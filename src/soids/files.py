"""Files that are written whole or not at all, archives that may be damaged, and JSON."""

import json
import math
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None  # type: ignore[assignment]


def read_regular(path: Path, most: int | None = None) -> bytes:
    """The content of a file; a pipe or a device, which may have no end, is refused."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"path must be a regular file, got {str(path)!r}")
    if most is not None and status.st_size > most:
        raise ValueError(f"{path} has {status.st_size:,} bytes, more than the {most:,} allowed")
    return path.read_bytes()


def write_whole(path: Path, content: bytes, within: Path | None = None) -> None:
    """Write a file under a temporary name and move it: a crash leaves the old file or the new one.

    A link stays a link, and the file that it leads to is written, unless that lies outside of the
    folder ``within``. A file keeps its mode. What a killed writer leaves is used by the next one.
    """
    place, path = path, path.resolve()
    if within is not None and not path.is_relative_to(within.resolve()):
        raise PermissionError(f"path must lie in {str(within)!r}, got {str(place)!r}: remove it")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"path must be a file or a new one, got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that exists, got {str(path)!r}")
    with alone(path.with_name(f".{path.name}.part")) as (file, beside):
        try:
            if path.exists() and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows moves no open file
            os.replace(beside, path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


@contextmanager
def alone(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A new file and its name, under which no other process or thread writes.

    Whoever comes second waits. The lock of a process that was killed is free, its file removed.
    Where the system has no locks, whoever comes second has a file of another name.
    """
    beside = path
    while True:
        try:
            descriptor, is_new = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), True
        except FileExistsError:
            try:
                if not stat.S_ISREG(beside.lstat().st_mode):
                    beside.unlink()  # a link or a pipe, which would lead elsewhere
                    continue
                descriptor, is_new = os.open(beside, os.O_WRONLY), False
            except FileNotFoundError:  # moved to its place meanwhile
                continue
        with os.fdopen(descriptor, "wb") as file:
            is_locked = has_lock(file)
            if is_locked and not is_same(descriptor, beside):
                continue
            if is_new:
                yield file, beside
                return
            if is_locked:
                beside.unlink()
            else:
                beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")


def has_lock(file: IO[bytes]) -> bool:
    """Lock a file, once nobody else does, unless the system cannot."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:  # some shared file systems
        return False
    return True


def is_same(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut, where the system can."""
    if fcntl is None:
        return
    with suppress(OSError):  # a folder that may not be read, or is on a shared file system
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def as_file(path: object, what: str) -> Path:
    """The path of a file to read, which must be there."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be that of {what}, got {path!r}")
    found = Path(path)
    if found.is_dir():
        raise IsADirectoryError(f"path must be that of {what}, got the folder {str(path)!r}")
    if not found.exists():
        raise FileNotFoundError(f"path must be that of {what}, there is no file {str(path)!r}")
    return found


def reason(error: OSError) -> str:
    """An error of the system in one line."""
    place = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{place}"


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON: records become objects, arrays lists, and NaN and infinity null."""
    return json.dumps(as_plain(value), indent=indent)


def as_plain(value: Any) -> Any:
    """A value of the types that JSON has."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): as_plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return as_plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_plain(one) for one in value]
    return value
