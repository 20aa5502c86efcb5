"""How benchmarks hand over what they measured: a table, numbers in files, a figure."""

import csv
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from soids.bench import is_installed
from soids.cli.run import reason
from soids.files import write_whole
from soids.plots import save
from soids.simulation.provenance import versions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PEERS = ("arviz_stats", "blackjax", "jax", "numpyro")  # whose version matters, where installed


def made(context: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    """The folder, made before minutes are spent on what is to go there."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise click.ClickException(f"cannot write to {folder}: {reason(error)}") from None
    return folder


out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), callback=made,
    help="Folder for the numbers (CSV, JSON) and the figure (PNG, PDF).",
)  # fmt: skip


def framed(title: str) -> Table:
    """An empty table in the look of the others."""
    return Table(title=escape(title), box=box.SIMPLE, pad_edge=False)


def deliver(
    name: str,
    records: Mapping[str, Sequence[NamedTuple]],
    draw: "Callable[[], Figure]",
    folder: Path,
    console: Console,
) -> None:
    """Write records as JSON and, each kind by itself, as CSV; and draw the figure.

    A kind without records has no file, nor keeps that of an earlier run.
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
    """What must be known to measure again: the command, its settings, and versions."""
    context = click.get_current_context()
    settings = {name: value for name, value in context.params.items() if name != "out"}
    peers = {name: version(name) for name in PEERS if is_installed(name)}
    return {"command": context.command_path, "settings": settings, "versions": versions() | peers}


def as_plain(record: NamedTuple) -> dict[str, Any]:
    """A record as JSON has it, which knows no NaN."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in record._asdict().items()
    }


def as_csv(records: Sequence[NamedTuple]) -> str:
    """Records of one kind, a line each; several values in one field are apart by blanks."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if records:
        writer.writerow(records[0]._fields)
    for one in records:
        writer.writerow(
            " ".join(map(str, value)) if isinstance(value, tuple) else value for value in one
        )
    return text.getvalue()
