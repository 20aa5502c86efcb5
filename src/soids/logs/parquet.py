"""Parquet: one row for each decision, with the fields of the JSON lines as columns and their header
in the metadata. A missing reward is null.

Pages have checksums, and the footer holds a digest of the whole file, in which the digest's own
place counts as zeros: a changed bit anywhere is refused. Files of others are read without a digest,
and with the checksums that they have.
"""

import hashlib
import importlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from soids.logs.joining import Contents, complete
from soids.logs.limits import EXPANSION, room, too_large
from soids.logs.records import Entry, Header, as_header, make_header, wrong

KEY = b"soids"  # of the header, in the metadata
FIELDS = (
    "id", "time", "policy", "set", "count", "actions", "chosen", "propensity", "probabilities",
    "reward",
)  # fmt: skip
BATCH, NUMBERS = 8192, 1_000_000  # rows and numbers in memory at a time, at most
NUMBER = 8  # bytes
MARK, ZEROS = "soids sha256 ", "0" * 64  # what stands before a digest, and for it
DIGEST = re.compile(MARK.encode() + rb"([0-9a-f]{64})")
CHUNK = 1 << 20  # bytes that are hashed at a time


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

    def __init__(
        self, path: str | os.PathLike[str], *, target: str = "target", expansion: float = EXPANSION
    ) -> None:
        self.path = Path(path)
        self.name = self.path.name
        self.target, self.expansion = target, expansion

    def __iter__(self) -> Iterator[Entry]:
        contents = Contents(self.target)
        return complete(self, self._rows(contents), contents.take, contents.joiner)

    def _rows(self, contents: Contents) -> Iterator[tuple[int, dict[str, Any]]]:
        """The numbered rows; the header goes to the contents."""
        pyarrow, row = arrow(), 0
        with self.path.open("rb") as source:
            try:
                file = opened(source)
                metadata = file.metadata.metadata or {}
                if KEY not in metadata:
                    raise ValueError(
                        f"no header of soids in the metadata, columns "
                        f"{', '.join(file.schema_arrow.names[:20])}: say what they are by reward=, "
                        "propensity= and chosen= (--reward, --propensity, --chosen)"
                    )
                contents.header = as_header(json.loads(metadata[KEY]))
                for batch in batches(self.path, file, {*FIELDS, self.target}, self.expansion):
                    for record in batch.to_pylist():
                        row += 1
                        yield row, record
            except (pyarrow.ArrowException, OSError) as error:
                why = f"damaged parquet: {error}"
                raise wrong(self.name, self.unit, max(row, 1), why) from None


def opened(source: IO[bytes]) -> Any:
    """A parquet file, intact as far as its digest and checksums can tell."""
    pyarrow = arrow()
    given, own = digests(source)
    if given not in (None, own):
        raise OSError("its digest is not that of its content: copy it again")
    source.seek(0)
    texts = [
        field.name for field in pyarrow.parquet.read_schema(source)
        if pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type)
    ]  # fmt: skip
    source.seek(0)
    return pyarrow.parquet.ParquetFile(
        source, read_dictionary=texts, page_checksum_verification=True
    )


def batches(
    path: Path, file: Any, fields: Collection[str] | None, expansion: float
) -> Iterator[Any]:
    """The rows of some columns, some at a time; a file that unpacks to too much is refused."""
    names = [name for name in file.schema_arrow.names if fields is None or name in fields]
    left, numbers = room(path, expansion), 0
    for place in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(place)
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema.partition(".")[0] in names:
                numbers += max(column.num_values, column.total_uncompressed_size // NUMBER)
    if numbers * NUMBER > left:
        raise too_large(path, expansion)
    size = max(1, min(BATCH, NUMBERS * file.metadata.num_rows // max(1, numbers)))
    for batch in file.iter_batches(batch_size=size, columns=names):
        left -= batch.nbytes + sum(map(text_size, batch.columns))
        if left < 0:
            raise too_large(path, expansion)
        yield batch


def text_size(column: Any) -> int:
    """The number of bytes of the texts in a column, which holds each different one once."""
    pyarrow = arrow()
    if not pyarrow.types.is_dictionary(column.type):
        return 0
    compute = importlib.import_module("pyarrow.compute")
    lengths = compute.binary_length(column.dictionary).take(column.indices)
    return compute.sum(lengths).as_py() or 0


def digests(source: IO[bytes]) -> tuple[str | None, str]:
    """The digest in a file's footer, if there is one, and that of its content."""
    size = source.seek(0, os.SEEK_END)
    source.seek(max(0, size - 8))
    length = int.from_bytes(source.read(4), "little")  # of the footer, before the last four bytes
    start = max(0, size - 8 - length)
    source.seek(start)
    footer, given = source.read(), None
    for match in DIGEST.finditer(footer):
        given = match
    hashed = hashlib.sha256()
    source.seek(0)
    for place in range(0, start, CHUNK):
        hashed.update(source.read(min(CHUNK, start - place)))
    if given is None:
        hashed.update(footer)
        return None, hashed.hexdigest()
    hashed.update(footer[: given.start(1)] + ZEROS.encode() + footer[given.end(1) :])
    return given[1].decode(), hashed.hexdigest()


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
        with pyarrow.parquet.ParquetWriter(beside, schema, write_page_checksum=True) as writer:
            writer.add_key_value_metadata({"soids digest": MARK + ZEROS})
            while first:
                rows = [as_row(entry, header) for entry in first]
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
                first = list(islice(entries, BATCH))
        write_digest(beside)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_digest(path: Path) -> None:
    """Put the digest of a file in its place."""
    with path.open("r+b") as file:
        _, own = digests(file)
        file.seek(0)
        place = file.read().rindex((MARK + ZEROS).encode())
        file.seek(place + len(MARK))
        file.write(own.encode())


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
