"""Files of actions: NumPy's own, or text with one action a line."""

from pathlib import Path

import click
import numpy as np

from soids.arrays import Floats, as_actions, as_floats


def read_actions(path: Path) -> object:
    """The numbers in a file of NumPy, or in a text file with one action a line."""
    if path.suffix.lower() == ".npy":
        try:
            with path.open("rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        except ValueError as error:
            raise ValueError(f"actions must come as an array of numbers: {error}") from None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("actions must come as .npy or as text, this is neither") from None
    lines = [line for line in text.splitlines() if line.strip()]
    comma = "," if lines and "," in lines[0] else None
    rows = [line.split(comma) for line in lines]
    if rows and not any(is_number(field) for field in rows[0]):
        rows = rows[1:]  # names of the features
    if not rows:
        raise ValueError("actions must hold at least one action, there is no line of numbers")
    for number, row in enumerate(rows, 1):
        wrong = next((field for field in row if not is_number(field)), None)
        if wrong is not None:
            raise ValueError(
                f"action {number} must hold numbers apart by commas or blanks, got "
                f"{wrong.strip()[:30]!r}: fill gaps, drop columns of names"
            )
        if len(row) != len(rows[0]):
            raise ValueError(
                f"action {number} must have {len(rows[0])} features as the first, got {len(row)}"
            )
    return np.array(rows, dtype=np.float64)


def is_number(field: str) -> bool:
    """Whether a field of a text file reads as a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def load_actions(path: Path, dimension: int | None) -> Floats:
    """The actions in a file, or an error that the command line reports."""
    try:
        actions = as_floats(read_actions(path), "actions")
        if dimension is None:
            dimension = actions.shape[-1] if actions.ndim else 1
        return as_actions(actions, dimension)
    except (ValueError, OSError, EOFError) as error:
        raise click.BadParameter(f"{path.name}: {error}", param_hint="'--actions'") from None
