"""Logs of decisions: the actions on offer, the choice and its probability, and the reward."""

import os
from pathlib import Path
from typing import Any

from soids.logs.dsjson import DsjsonLog
from soids.logs.frames import FrameLog
from soids.logs.jsonlines import JsonLog, LogWriter, text_lines
from soids.logs.obd import OpenBanditLog
from soids.logs.parquet import ParquetLog, write_parquet
from soids.logs.records import Entry, Log, LogError, rewarded

FORMATS: dict[str, Any] = {
    "soids": JsonLog,
    "parquet": ParquetLog,
    "obd": OpenBanditLog,
    "dsjson": DsjsonLog,
}

__all__ = [
    "FORMATS", "DsjsonLog", "Entry", "FrameLog", "JsonLog", "Log", "LogError", "LogWriter",
    "OpenBanditLog", "ParquetLog", "format_of", "read_log", "rewarded", "write_parquet",
]  # fmt: skip


def read_log(path: str | os.PathLike[str], *, form: str | None = None, **settings: object) -> Log:
    """The log in a file; without ``form``, its format is detected."""
    form = format_of(Path(path)) if form is None else form
    if form not in FORMATS:
        raise ValueError(f"form must be one of {', '.join(FORMATS)}, got {form!r}")
    log: Log = FORMATS[form](path, **settings)
    return log


def format_of(path: Path) -> str:
    """The format of a file, detected from its first line, not from its name."""
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    _, first = next(text_lines(path), (1, ""))
    if not first.lstrip().startswith("{"):
        return "obd" if "," in first else "soids"
    return "dsjson" if '"_label' in first or '"EventId"' in first else "soids"
