"""Logs of decisions: the actions on offer, the choice and its probability, and the reward."""

import os
from inspect import signature
from pathlib import Path
from typing import Any

from soids.files import as_file
from soids.logs.dsjson import DsjsonLog
from soids.logs.frames import FrameLog
from soids.logs.jsonlines import JsonLog, text_lines
from soids.logs.kept import KeptLog
from soids.logs.obd import NEEDED, OpenBanditLog
from soids.logs.parquet import ParquetLog, write_parquet
from soids.logs.records import Entry, Log, LogError, rewarded
from soids.logs.tables import TableLog
from soids.logs.writer import LogWriter

FORMATS: dict[str, Any] = {
    "soids": JsonLog, "parquet": ParquetLog, "obd": OpenBanditLog, "dsjson": DsjsonLog,
    "table": TableLog,
}  # fmt: skip
OF_TABLES = ("reward", "propensity", "chosen", "actions")  # settings that no other format has

__all__ = [
    "FORMATS", "DsjsonLog", "Entry", "FrameLog", "JsonLog", "KeptLog", "Log", "LogError",
    "LogWriter", "OpenBanditLog", "ParquetLog", "TableLog", "format_of", "read_log", "rewarded",
    "write_parquet",
]  # fmt: skip


def read_log(path: str | os.PathLike[str], *, form: str | None = None, **settings: object) -> Log:
    """The log in a file; without ``form``, its format is detected: settings that name columns say
    that it is a table. Settings of None are left out.

    ``target`` names the field with the probabilities of another policy. A compressed file may
    unpack to ``expansion`` times its size, or to 128 MB if that is more.
    """
    file = as_file(path, "a log")
    given = {name: value for name, value in settings.items() if value is not None}
    if form is None:
        is_table = any(name in given for name in OF_TABLES)
        form = "table" if is_table else format_of(file)
    if form not in FORMATS:
        raise ValueError(f"form must be one of {', '.join(FORMATS)}, got {form!r}")
    for name in given:
        forms = [one for one, kind in FORMATS.items() if name in signature(kind).parameters]
        if forms and form not in forms:
            raise ValueError(f"{name} is for logs of {', '.join(forms)}; this one is {form}")
    log: Log = FORMATS[form](file, **given)
    return log


def format_of(path: Path) -> str:
    """The format of a file, detected from its first line; a CSV file that is not of the Open Bandit
    Dataset is a table.
    """
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    _, first = next(text_lines(path), (1, ""))
    if first.lstrip().startswith("{"):
        return "dsjson" if '"_label' in first or '"EventId"' in first else "soids"
    if set(NEEDED) <= set(first.replace('"', "").strip().split(",")):
        return "obd"
    if path.name.endswith((".csv", ".csv.gz")):
        return "table"
    raise LogError(
        f"{path.name} must be a log of soids (JSON lines or parquet), of the Open Bandit Dataset "
        f"(CSV) or of VW (dsjson), or a table whose columns are named (--reward, --propensity, "
        f"--chosen), its first line is {first.strip()!r:.40}"
    )
