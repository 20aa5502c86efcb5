"""Archives of arrays (.npz) from anyone: what they declare is checked before memory is taken."""

import io
import math
import re
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(  # as np.save writes it, and nothing else that Python could evaluate
    rb"..\{'descr': '(<f8|<i8|\|b1|\|u1)', 'fortran_order': (False|True), "
    rb"'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)


def read_arrays(content: bytes, most: int) -> dict[str, NDArray[Any]]:
    """The arrays in an archive that unpacks to at most ``most`` bytes, by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if {one.compress_type for one in members} - {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ValueError("it is compressed by another method than deflate")
        total = sum(member.file_size for member in members)
        if total > most:
            raise ValueError(f"it unpacks to {total:,} bytes, more than the {most:,} allowed")
        arrays = {
            one.filename.removesuffix(".npy"): read_array(one.filename, archive.read(one), most)
            for one in members
        }
    if len(arrays) < len(members):
        raise ValueError("two of its arrays have the same name")
    return arrays


def read_array(name: str, content: bytes, longest: int) -> NDArray[Any]:
    """An array of numbers that is as large as it says; no side is longer, if others are empty."""
    header = HEADER.match(content, len(MAGIC))
    if not content.startswith(MAGIC) or header is None:
        raise ValueError(f"{name} must be an array of numbers: objects and pickles are refused")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(size) for size in header[3].split(b",") if size.strip())
    found = len(content) - header.end()
    if math.prod(shape) * dtype.itemsize != found or max(shape, default=0) > longest:
        raise ValueError(f"{name} must hold numbers of shape {shape}, got {found:,} bytes")
    flat = np.frombuffer(content, dtype, offset=header.end())
    return flat.reshape(shape, order="F" if header[2] == b"True" else "C").copy(order="K")
