"""Records of measurements as files: CSV, JSON with the settings and versions, and a figure."""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich.console import Console

from benchmarks.peers import is_installed
from soids.files import reason, write_whole
from soids.output.figures import save
from soids.simulation.provenance import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PEERS = ("arviz_stats", "blackjax", "jax", "numpyro")  # libraries whose versions are recorded


def made(context: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """Make the folder before minutes are spent on what it is to hold."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.ClickException(f"cannot write to {folder}: {reason(error)}") from None
    return folder


out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), callback=made,
    help="Write the numbers (CSV, JSON) and the figure (PNG, PDF) into this folder.",
)  # fmt: skip


def write_records(
    name: str,
    records: Mapping[str, Sequence[NamedTuple]],
    draw: "Callable[[], Figure]",
    folder: Path,
    console: Console,
) -> None:
    """Write all records as JSON, each kind as CSV, and the figure.

    A kind without records has no file; the file of an earlier run is removed.
    """
    kinds = {kind: folder / f"{name}-{kind}.csv" for kind in records}
    try:
        for kind, some in records.items():
            if some:
                write_whole(kinds[kind], as_csv(some).encode())
            else:
                kinds[kind].unlink(missing_ok=True)
        measured = {kind: [*map(as_plain, some)] for kind, some in records.items() if some}
        everything = origin() | measured
        write_whole(folder / f"{name}.json", json.dumps(everything, indent=1).encode())
        save(draw(), folder / name)
    except OSError as error:
        raise click.ClickException(reason(error)) from None
    except ImportError as error:
        raise click.ClickException(str(error)) from None
    written = " and ".join(kinds[kind].name for kind, some in records.items() if some)
    console.print(f"Written: {folder / name}.json, .png and .pdf, {written}", markup=False)


def origin() -> dict[str, Any]:
    """The command, its settings and the versions: all that is needed to measure again."""
    context = click.get_current_context()
    settings = {name: value for name, value in context.params.items() if name != "out"}
    peers = {name: version(name) for name in PEERS if is_installed(name)}
    return {"command": context.command_path, "settings": settings, "versions": versions() | peers}


def as_plain(record: NamedTuple) -> dict[str, Any]:
    """A record for JSON, which has no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in record._asdict().items()
    }


def as_csv(records: Sequence[NamedTuple]) -> str:
    """Records of one kind, one line each; blanks separate several values in one field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if records:
        writer.writerow(records[0]._fields)
    for one in records:
        writer.writerow(
            " ".join(map(str, value)) if isinstance(value, tuple) else value for value in one
        )
    return text.getvalue()


def in_brief(number: float) -> str:
    """Two digits, or all before the point; nothing where nothing was measured.

    >>> in_brief(0.01234), in_brief(1.234), in_brief(1234.5), in_brief(math.nan)
    ('0.012', '1.2', '1,234', '')
    """
    if math.isnan(number):
        return ""
    return f"{number:,.0f}" if number >= 10.0 else f"{number:.2g}"
