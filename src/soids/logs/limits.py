"""How much memory a file may ask for: a compressed megabyte can unpack to a thousand."""

import gzip
import os
from pathlib import Path
from typing import Any

from soids.arrays import as_positive
from soids.logs.records import LogError

EXPANSION = 200.0  # times its own size that a file may unpack to: equal probabilities compress well
FREE = 128_000_000  # bytes that any file may unpack to
LINE = 0.25  # share of these that one line may take, as its objects take several times its size
GZIP = b"\x1f\x8b"  # the first bytes of such a file


def room(path: Path, expansion: float) -> int:
    """The number of bytes that a compressed file may unpack to."""
    return max(FREE, int(as_positive(expansion, "expansion") * os.path.getsize(path)))


def too_large(path: Path, expansion: float) -> LogError:
    """The error of a file that unpacks to more."""
    size = room(path, expansion)
    return LogError(
        f"{path.name} unpacks to more than {size / 1e6:,.0f} MB, {expansion:g} times its size, or "
        f"a line to {LINE:.0%} of that: if you trust it, read it with "
        f"expansion={10 * expansion:g} (--expansion {10 * expansion:g})"
    )


def is_packed(path: Path) -> bool:
    """Whether a file is gzip."""
    with path.open("rb") as file:
        return file.read(2) == GZIP


def unpacked(path: Path, expansion: float) -> Any:
    """The whole content of a file, plain or gzip."""
    if not is_packed(path):
        return path.read_bytes()
    most = room(path, expansion)
    with gzip.open(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise too_large(path, expansion)
    return content
