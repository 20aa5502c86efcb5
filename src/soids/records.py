"""Records that come from files: each says in its method ``validate`` what must hold for it.

The kinds of its fields follow from their annotations, and the shapes of its arrays are written as
beside the fields: ``check_arrays(self, thetas="M d", weights="M")``.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from soids.arrays import LARGEST, Floats

GREATEST = LARGEST**3  # of any number: sums of products of moderate numbers stay below it
LEAST = 1e-100  # of a divisor
CLOSE = 1e-6  # relative difference up to which numbers computed anew are the same


def field_names(kind: Any) -> list[str] | None:
    """The names of the fields of a kind of records; nothing else has any."""
    if isinstance(kind, type) and is_dataclass(kind):
        return [field.name for field in fields(kind)]
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return list(kind._fields)
    return None


hints_of = cache(get_type_hints)


def check_kinds(kind: type, values: Mapping[str, Any]) -> None:
    """Refuse values of other kinds than the fields of a record have."""
    hints = hints_of(kind)
    for name, value in values.items():
        if not is_of(value, hints[name]):
            got = f"{type(value).__name__} {value.dtype if isinstance(value, np.ndarray) else ''}"
            raise ValueError(f"{name} of {kind.__name__} is of another kind: {got.strip()}")


def is_of(value: Any, hint: Any) -> bool:
    """Whether a value is of the kind of an annotation; no number is NaN, no integer huge."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(is_of(value, one) for one in args)
    if origin is tuple:
        if not isinstance(value, tuple) or (args[-1] is not ... and len(args) != len(value)):
            return False
        kinds = args[:1] * len(value) if args[-1] is ... else args
        return all(map(is_of, value, kinds))
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(args[1])[0]
    if isinstance(value, int | float) and not isinstance(value, bool):
        fine = abs(value) < 2**63 if isinstance(value, int) else value == value
        return fine and (hint in (float, Any) or hint is type(value))
    if hint is Any or isinstance(hint, TypeVar) or getattr(hint, "_is_protocol", False):
        return True
    return isinstance(value, hint)


def check_arrays(
    record: Any, sizes: Mapping[str, int] | None = None, unbounded: str = "", **shapes: str
) -> dict[str, int]:
    """Refuse arrays of other shapes, NaN, and numbers that are huge, unless they may be infinite.

    The sizes by letter are returned, with those that are given; a field that is None has no shape.
    """
    known = dict(sizes or {})
    for name, letters in shapes.items():
        array = getattr(record, name)
        if array is None:
            continue
        wanted = tuple(map(known.get, letters.split()))
        same = len(wanted) == array.ndim
        if not same or any(w not in (None, n) for w, n in zip(wanted, array.shape, strict=True)):
            raise ValueError(f"{name} must have shape ({letters}) for {known}, got {array.shape}")
        known |= dict(zip(letters.split(), array.shape, strict=True))
        if array.dtype.kind == "f":
            limit = math.inf if name in unbounded.split() else GREATEST
            if array.size and not np.abs(array).max() <= limit:
                raise ValueError(f"{name} must hold finite numbers of moderate size")
    return known


def check_numbers(record: Any, names: str, low: float, high: float = GREATEST) -> None:
    """Refuse numbers outside of a range, in fields that hold a number or an array of them."""
    for name in names.split():
        value = np.asarray(getattr(record, name))
        if value.size and not (value.min() >= low and value.max() <= high):
            span = f"{value.min():g} to {value.max():g}"
            raise ValueError(f"{name} must lie in {low:g}..{high:g}, got {span}")


def check_weights(weights: Floats) -> None:
    """Refuse weights that are negative or do not add up to one."""
    if not (weights.size and weights.min() >= 0.0 and abs(weights.sum() - 1.0) <= CLOSE):
        raise ValueError("weights must be probabilities that add up to one")


def check_dimension(dimension: int, **widths: Iterable[int]) -> None:
    """Refuse parts that are for another dimension."""
    for name, found in widths.items():
        for width in found:
            if width != dimension:
                raise ValueError(f"{name} must be for dimension {dimension}, got {width}")


def are_alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for rounding, field by field."""
    if one is other:
        return True
    if isinstance(one, float) or isinstance(other, float):
        return isinstance(other, int | float) and math.isclose(one, other, rel_tol=CLOSE)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and np.allclose(one, other, rtol=CLOSE, atol=LEAST)
    names = field_names(type(one))
    if names is not None:
        return all(are_alike(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(are_alike, one, other))
    return bool(one == other)
