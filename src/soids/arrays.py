"""Array types, and the checks of arguments: real, finite, of moderate size."""

import math
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Table = NDArray[Any] | csr_array[Any, tuple[int, int]]  # (K, d)  numbers of any type, as given

LARGEST = 1e12  # squares and their sums do not overflow, and the gram keeps some precision
SMALLEST = 1e-12  # of a scale, whose square is a divisor
STRIP = 1024  # rows of a table that are converted or compared at a time, to stay in the cache


def as_floats(value: object, name: str) -> Floats:
    """A new float64 array of finite, moderate numbers, or an error that names the argument."""
    given = as_array(value, name)
    check_real(given.dtype, name)
    array = given.astype(np.float64)
    check_moderate(array, name)
    return array


def as_rows(value: object, name: str) -> Floats:
    """A new checked array of at least one row and one column."""
    rows = as_floats(value, name)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"{name} must have shape (K, d), one action a row, got {rows.shape}")
    return rows


def as_array(value: object, name: str) -> NDArray[Any]:
    """An array of any type; one that is given is not copied."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from None
    is_frame = array.dtype == object and hasattr(value, "columns")
    return of_columns(value, name) if is_frame else array


def of_columns(frame: Any, name: str) -> Floats:  # (K, d)
    """The numbers of a data frame whose columns have different types, such as flags beside them."""
    columns = []
    for label in frame.columns:
        column = np.asarray(frame[label])
        if not all(isinstance(one, Real | np.bool_) for one in column.ravel()):
            kind = getattr(frame[label], "dtype", column.dtype)
            raise ValueError(
                f"column {label!r} of {name} must hold real numbers, got the type {kind}: convert "
                "it to float64"
            )
        columns.append(column.astype(np.float64))
    return np.column_stack(columns)


def check_real(dtype: np.dtype[Any], name: str) -> None:
    """Refuse arrays of other types than real numbers."""
    if dtype.kind not in "fiub":
        remedy = "convert it to float64"
        raise ValueError(f"{name} must hold real numbers, got an array of type {dtype}: {remedy}")


def check_moderate(array: Floats, name: str, above: int = 0) -> None:
    """Refuse NaN, infinity and huge numbers; row numbers in messages begin at ``above``."""
    fine = np.abs(array) <= LARGEST  # false for NaN too
    if fine.all():
        return
    where = tuple(int(i) for i in np.argwhere(~fine)[0])
    bad = float(array[where])
    spot = f"{name}[{', '.join(map(str, (where[0] + above, *where[1:])))}]" if where else name
    remedy = "rescale it" if math.isfinite(bad) else "drop or impute it"
    raise ValueError(f"{spot} must be finite and at most {LARGEST:g} in size, got {bad}: {remedy}")


def as_table(actions: object, dimension: int) -> Table:
    """An action set, dense or sparse, not copied: its shape and type are checked."""
    if isinstance(actions, np.ma.MaskedArray):
        raise ValueError("actions must have no mask, got a masked array: drop or impute its gaps")
    given: Any = actions if issparse(actions) else as_array(actions, "actions")
    check_real(given.dtype, "actions")
    if len(given.shape) != 2 or given.shape[1] != dimension:
        shape = f"(K, {dimension}), one action a row"
        raise ValueError(f"actions must have shape {shape}, got {given.shape}")
    if given.shape[0] == 0:
        raise ValueError(f"actions must hold at least one action, got shape {given.shape}")
    table: Table = given.tocsr() if issparse(actions) else given
    return table


def strip(table: Table, first: int) -> NDArray[Any]:
    """Rows of a table from ``first`` on, dense."""
    rows = table[first : first + STRIP]
    return rows.toarray() if issparse(rows) else rows


def copied(table: Table, order: Literal["C", "F"]) -> Floats:
    """A checked copy of a table as float64, converted strip by strip to save memory."""
    copy = np.empty(table.shape, order=order)
    for first in range(0, len(copy), STRIP):
        rows = strip(table, first).astype(np.float64)
        check_moderate(rows, "actions", first)
        copy[first : first + STRIP] = rows
    return copy


def as_actions(actions: object, dimension: int) -> Floats:
    """A checked action set (K, d), which is immutable, so that policies need not compare it.

    >>> as_actions([[1, 2]], 2).flags.writeable = True
    Traceback (most recent call last):
    ValueError: cannot set WRITEABLE flag to True of this array
    """
    copy = copied(as_table(actions, dimension), "C")
    return np.frombuffer(copy.tobytes()).reshape(copy.shape)


def is_immutable(value: object) -> bool:
    """Whether an array's memory is a bytes object; all other arrays can be made writeable."""
    while isinstance(value, np.ndarray):
        value = value.base
    return isinstance(value, bytes)


def as_features(features: object, dimension: int) -> Floats:
    """The checked features of one action (d,)."""
    array = as_floats(features, "features")
    if array.shape != (dimension,):
        raise ValueError(f"features must have shape ({dimension},), got {array.shape}")
    return array


def as_number(value: object, name: str, low: float = -math.inf, *, strict: bool = False) -> float:
    """A finite number of moderate size, not below ``low`` (above it if ``strict``)."""
    if type(value) is not float and (
        isinstance(value, bool | np.bool_) or not isinstance(value, Real)
    ):
        if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu":
            return as_number(value.item(), name, low, strict=strict)
        as_bit = isinstance(value, bool | np.bool_) and low <= 0.0 and not strict
        remedy = ": use 0 or 1" if as_bit else ""
        raise ValueError(f"{name} must be a real number, got {value!r}{remedy}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be finite and at most {LARGEST:g} in size, got {number}")
    if number < low or (strict and number == low):
        limit = "above" if strict else "at least"
        raise ValueError(f"{name} must be {limit} {low:g}, got {number:g}")
    return number


def as_positive(value: object, name: str) -> float:
    """A finite number above 0."""
    return as_number(value, name, 0.0, strict=True)


def as_generator(rng: object) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    raise ValueError(f"rng must be a numpy Generator (np.random.default_rng(seed)), got {rng!r}")


def as_flag(value: object, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def as_share(value: object, name: str) -> float:
    """A number strictly between 0 and 1."""
    share = as_number(value, name)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {share:g}")
    return share


def as_count(value: object, name: str, low: int = 1, high: int | None = None) -> int:
    """A whole number in ``low..high``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        remedy = f": use {value:.0f}" if isinstance(value, float) and value.is_integer() else ""
        raise ValueError(f"{name} must be a whole number, got {value!r}{remedy}")
    count = int(value)
    if count < low or (high is not None and count > high):
        span = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {span}, got {count}")
    return count


def as_radius(radius: object) -> float:
    """A positive radius; infinity is allowed, for priors that are proper without a ball."""
    if isinstance(radius, float) and radius == math.inf:
        return math.inf
    return as_positive(radius, "radius")
