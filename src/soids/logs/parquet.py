"""Parquet: one row for each decision, with the fields of the JSON lines as columns and their header
in the metadata. A missing reward is null.
"""

import importlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from soids.logs.joining import Joiner
from soids.logs.records import (
    Entry,
    Header,
    as_entry,
    as_header,
    located,
    make_header,
    wrong,
)

KEY = b"soids"  # of the header, in the metadata
BATCH = 8192  # rows in memory at a time


def arrow() -> Any:
    """PyArrow, with its parquet module loaded."""
    try:
        importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("parquet needs pyarrow: pip install 'soids[logs]'") from None
    return importlib.import_module("pyarrow")


class ParquetLog:
    """A log in a parquet file, which is read as a stream, some rows at a time."""

    unit = "row"

    def __init__(self, path: str | os.PathLike[str], *, target: str = "target") -> None:
        self.path = Path(path)
        self.name = self.path.name
        self.target = target

    def __iter__(self) -> Iterator[Entry]:
        pyarrow = arrow()
        joiner, row = Joiner(), 1
        with located(self.name, self.unit, lambda: row), self.path.open("rb") as source:
            try:
                file = pyarrow.parquet.ParquetFile(source)
                header = read_header(file.schema_arrow.metadata or {})
                records = chain.from_iterable(
                    batch.to_pylist() for batch in file.iter_batches(batch_size=BATCH)
                )
                for row, record in enumerate(records, 1):
                    entry = as_entry(record, header, row, self.target)
                    header = header.after(entry)
                    if joiner.decide(entry):
                        yield entry
            except (pyarrow.ArrowException, OSError) as error:
                raise wrong(self.name, self.unit, row, f"damaged parquet: {error}") from None
            yield from joiner.finish()


def read_header(metadata: dict[bytes, bytes]) -> Header:
    if KEY not in metadata:
        raise ValueError("no header of soids in the metadata: read it as a DataFrame, by FrameLog")
    return as_header(json.loads(metadata[KEY]))


def write_parquet(
    log: Iterable[Entry], path: str | os.PathLike[str], *, sets: dict[str, Any] | None = None
) -> None:
    """Write entries to a parquet file, whole or not at all; action sets in ``sets`` are written by
    name.
    """
    pyarrow = arrow()
    header = make_header(sets or {}, None)
    path = Path(path)
    entries = iter(log)
    first = list(islice(entries, BATCH))
    schema = schema_for(first, pyarrow).with_metadata({KEY: json.dumps(header.described())})
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with pyarrow.parquet.ParquetWriter(beside, schema) as writer:
            while first:
                rows = [as_row(entry, header) for entry in first]
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
                first = list(islice(entries, BATCH))
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def schema_for(entries: list[Entry], pyarrow: Any) -> Any:
    """The columns, with the types of times and targets that occur in the first rows."""
    number, text = pyarrow.float64(), pyarrow.string()
    is_text = any(isinstance(entry.time, str) for entry in entries)
    is_list = any(isinstance(entry.target, np.ndarray) for entry in entries)
    return pyarrow.schema({
        "id": text, "time": text if is_text else number, "policy": text,
        "set": text, "count": pyarrow.int64(), "actions": pyarrow.list_(pyarrow.list_(number)),
        "chosen": pyarrow.int64(), "propensity": number, "probabilities": pyarrow.list_(number),
        "reward": number, "target": pyarrow.list_(number) if is_list else number,
    })  # fmt: skip


def as_row(entry: Entry, header: Header) -> dict[str, Any]:
    """An entry as its columns."""
    row = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in entry._asdict().items()
        if name not in ("actions", "line")
    }
    actions = entry.actions
    if not isinstance(actions, np.ndarray):
        return row | {"count": actions}
    for name, known in header.sets.items():
        if np.array_equal(known, actions):
            return row | {"set": name}
    return row | {"actions": actions.tolist()}
