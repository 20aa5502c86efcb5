"""Parquet: one row for each decision, with the fields of the JSON lines as columns and their header
in the metadata. A missing reward is null.
"""

import importlib
import json
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from soids.logs.joining import Contents, complete
from soids.logs.records import Entry, Header, as_header, make_header, wrong

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
        contents = Contents(self.target)
        return complete(self, self._rows(contents), contents.take, contents.joiner)

    def _rows(self, contents: Contents) -> Iterator[tuple[int, dict[str, Any]]]:
        """The numbered rows; the header goes to the contents."""
        pyarrow, row = arrow(), 0
        with self.path.open("rb") as source:
            try:
                file = pyarrow.parquet.ParquetFile(source)
                metadata = file.schema_arrow.metadata or {}
                if KEY not in metadata:
                    raise ValueError(
                        "no header of soids in the metadata: read it as a DataFrame, by FrameLog"
                    )
                contents.header = as_header(json.loads(metadata[KEY]))
                for batch in file.iter_batches(batch_size=BATCH):
                    for record in batch.to_pylist():
                        row += 1
                        yield row, record
            except (pyarrow.ArrowException, OSError) as error:
                why = f"damaged parquet: {error}"
                raise wrong(self.name, self.unit, max(row, 1), why) from None


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
        "chosen": pyarrow.int64(), "name": text, "propensity": number,
        "probabilities": pyarrow.list_(number), "reward": number,
        "target": pyarrow.list_(number) if is_list else number,
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
