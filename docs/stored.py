"""What was measured, in files under docs/results that open with where it comes from.

A table is NAME.csv, what a command printed is NAME.txt. Both open with comment lines: the command,
the commit of the code that ran (40 hexadecimal digits), the date, and a digest of all the rest, by
which the tests notice a file that was edited by hand.
"""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

NEEDED = {"command": r".+", "commit": r"[0-9a-f]{40}", "date": r"\d{4}-\d\d-\d\d"}
DIGEST = "digest"


class Stored(NamedTuple):
    """What a file under docs/results holds."""

    name: str
    origin: dict[str, str]  # command, commit, date, and what else is known
    body: str

    @property
    def columns(self) -> list[str]:
        """The heads of a table."""
        return next(csv.reader(io.StringIO(self.body)))

    @property
    def rows(self) -> list[dict[str, str]]:
        """The lines of a table, by column."""
        return list(csv.DictReader(io.StringIO(self.body)))


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Comma-separated text, floats with six digits; None is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([shortened(value) for value in row] for row in rows)
    return text.getvalue()


def shortened(value: object) -> object:
    """A value as it is stored; neither None nor NaN leaves a trace."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else value


def digest(origin: Mapping[str, str], body: str) -> str:
    """A short hash of all that a file holds."""
    lines = [f"{key}: {value}\n" for key, value in origin.items() if key != DIGEST]
    return hashlib.sha256(("".join(lines) + body).encode()).hexdigest()[:16]


def write(path: Path, origin: Mapping[str, str], body: str) -> None:
    """Store a table or an output with where it comes from."""
    header = {**origin, DIGEST: digest(origin, body)}
    lines = [f"# {key}: {value}\n" for key, value in header.items()]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(lines) + body, encoding="utf-8")


def read(path: Path) -> Stored:
    """What a file holds, or an error that says what is wrong with its opening lines."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    origin: dict[str, str] = {}
    while lines and (match := re.fullmatch(r"# (\w+): (.*)\n", lines[0])):
        origin[match[1]] = match[2]
        lines.pop(0)
    body = "".join(lines)
    for key, pattern in NEEDED.items():
        if not re.fullmatch(pattern, origin.get(key, "")):
            raise ValueError(
                f"{path.name} must open with a line '# {key}: ...' that matches {pattern}, "
                f"got {origin.get(key)!r}: python docs/record.py writes it"
            )
    if origin.get(DIGEST) != digest(origin, body):
        raise ValueError(
            f"{path.name} is not as a command wrote it (its digest differs): "
            "measure again and store it by python docs/record.py"
        )
    return Stored(path.stem, origin, body)


def find(folder: Path, name: str) -> Path | None:
    """The file that holds a table or an output, if there is one."""
    for suffix in (".csv", ".txt"):
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path
    return None
