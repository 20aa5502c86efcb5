"""Files that are written whole or not at all, and archives that may be damaged."""

import io
import os
import secrets
import zipfile
import zlib
from pathlib import Path

import numpy as np

UNREADABLE = (  # what a damaged archive may lead to
    OSError, ValueError, LookupError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


def opened_archive(path: Path) -> "np.lib.npyio.NpzFile":
    """The arrays in a file, by name; without pickles."""
    content = io.BytesIO(path.read_bytes())  # given a path, NumPy leaves a damaged file open
    archive: np.lib.npyio.NpzFile = np.load(content, allow_pickle=False)
    return archive


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, flush, move into place: a crash leaves the old file or the new one.

    A link stays a link, and what it leads to is written.
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
