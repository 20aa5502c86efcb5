"""Files of actions: NumPy's own, or text with one action a line."""

from pathlib import Path

import numpy as np

from soids.arrays import Floats, as_actions, as_rows
from soids.features.columns import is_numeral


def read_actions(path: Path, dimension: int | None = None) -> Floats:  # (K, d)
    """The checked actions in a file."""
    given = read_npy(path) if path.suffix.lower() == ".npy" else read_text(path)
    return as_rows(given, "actions") if dimension is None else as_actions(given, dimension)


def read_npy(path: Path) -> object:
    """The array in a file of NumPy; without pickles."""
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"actions must come as an array of numbers: {error}") from None


def read_text(path: Path) -> Floats:
    """The numbers in a text file, separated by commas or blanks, perhaps below a line of names."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("actions must come as .npy or as text, this is neither") from None
    lines = [line for line in text.splitlines() if line.strip()]
    comma = "," if lines and "," in lines[0] else None
    rows = [line.split(comma) for line in lines]
    if rows and not any(map(is_numeral, rows[0])):
        rows = rows[1:]
    if not rows:
        raise ValueError("actions must hold at least one action, there is no line of numbers")
    for number, row in enumerate(rows, 1):
        wrong = next((field for field in row if not is_numeral(field)), None)
        if wrong is not None:
            raise ValueError(
                f"action {number} must hold numbers separated by commas or blanks, got "
                f"{wrong.strip()[:30]!r}: fill gaps, drop columns of names"
            )
        if len(row) != len(rows[0]):
            raise ValueError(
                f"action {number} must have {len(rows[0])} features as the first, got {len(row)}"
            )
    return np.array(rows, dtype=np.float64)
