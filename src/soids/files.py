"""Files that are written whole or not at all, archives that may be damaged, and JSON."""

import io
import json
import math
import os
import secrets
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

UNREADABLE = (  # the errors that a damaged archive may raise
    OSError, ValueError, LookupError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


def opened_archive(path: Path) -> "np.lib.npyio.NpzFile":
    """The arrays in a file, by name; without pickles."""
    content = io.BytesIO(path.read_bytes())  # given a path, NumPy leaves a damaged file open
    archive: np.lib.npyio.NpzFile = np.load(content, allow_pickle=False)
    return archive


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name and move it: a crash leaves the old file or the new one.

    A link stays a link, and the file that it leads to is written.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise FileExistsError(f"path must be a file or a new one, got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that exists, got {str(path)!r}")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


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
