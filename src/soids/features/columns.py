"""Columns of data by name, from arrays, dictionaries or data frames."""

import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats

Value = str | int | float | bool | None  # None is missing


class Column(NamedTuple):
    """A column of a table: an array of numbers, NaN where one is missing, or a list of values."""

    name: str
    values: Floats | list[Value]

    def is_numeric(self) -> bool:
        """Whether all values that are not missing are numbers, and there is at least one."""
        known = [value for value in self.listed() if value is not None]
        return bool(known) and all(is_number(value) for value in known)

    def numbers(self) -> Floats:  # (n,)
        """The numbers, NaN where one is missing."""
        if isinstance(self.values, np.ndarray):
            return self.values
        for value in self.values:
            if value is not None and not is_number(value):
                raise ValueError(
                    f"column {self.name!r} must hold numbers, got {value!r}: convert it (float)"
                )
        return np.array(self.values, dtype=np.float64)  # None becomes NaN

    def listed(self) -> list[Value]:
        """The values as a list, None where one is missing."""
        if isinstance(self.values, np.ndarray):
            return [None if value != value else value for value in self.values.tolist()]
        return self.values


def read_columns(
    table: object, missing: Collection[str] = (), only: Collection[str] = ()
) -> dict[str, Column]:
    """The columns of a table, or only some; texts in ``missing`` stand for missing values.

    A table is a data frame of a library that Narwhals supports (pandas, Polars, PyArrow), a
    dictionary of columns, or an array, whose columns are named 0, 1, ...

    >>> read_columns({"age": [61, None]})["age"].is_numeric()
    True
    """
    raw = {str(name): values for name, values in raw_columns(table).items()}
    for name in only:
        if name not in raw:
            raise ValueError(
                f"column {name!r} is absent, columns are {', '.join(raw)}: "
                "give None where a value is missing"
            )
    kept = [name for name in raw if not only or name in only]
    found = {name: as_column(name, raw[name], missing) for name in kept}
    lengths = {name: len(column.values) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns must be of equal length, got {lengths}")
    return found


def raw_columns(table: Any) -> Mapping[Any, Any]:
    """The columns of a table, unchecked."""
    if isinstance(table, Mapping):
        return table
    if isinstance(table, np.ndarray) and table.ndim == 2:
        return dict(enumerate(table.T))
    import narwhals as nw  # a slow import, which arrays do not need

    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        columns = frame.iter_columns()
        return {c.name: c.to_numpy() if c.dtype.is_numeric() else c.to_list() for c in columns}
    raise ValueError(
        "a table must be a data frame, a dictionary of columns or an array (n, columns), "
        f"got {type(table).__name__} of shape {np.shape(table)}"
    )


def as_column(name: str, values: Any, missing: Collection[str]) -> Column:
    """A column with its values checked."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"column {name!r} must be a list or an array, got {values!r}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu" and values.ndim == 1:
        numbers = values.astype(np.float64)
        if np.isinf(numbers).any():
            raise ValueError(f"column {name!r} must be finite, got inf: drop or impute it")
        return Column(name, numbers)
    return Column(name, [as_value(one, name, missing) for one in values])


def as_value(value: Any, name: str, missing: Collection[str]) -> Value:
    """A number, a text, or None for a missing value."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    if isinstance(value, str | bool | int):
        return None if isinstance(value, str) and value in missing else value
    if not isinstance(value, Real):
        raise ValueError(
            f"column {name!r} must hold numbers, texts or nothing, got {value!r}: convert it"
        )
    number = float(value)
    if math.isinf(number):
        raise ValueError(f"column {name!r} must be finite, got {number}: drop or impute it")
    return None if math.isnan(number) else number


def is_number(value: Value) -> bool:
    """Whether a value is a number; True and False are categories."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_numeral(text: str) -> bool:
    """Whether a text reads as a number.

    >>> is_numeral("6.5"), is_numeral("six")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
