"""The array types, and the checks at the door: real, finite, of moderate size."""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Squares and their sums over any horizon stay far from overflow, and the gram keeps some precision.
LARGEST = 1e12
SMALLEST = 1e-12  # of a scale, whose square is divided by


def as_floats(value: object, name: str) -> Floats:
    """A new float64 array of finite, moderate numbers, or an error that names the argument."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got an array of type {array.dtype}")
    array = array.astype(np.float64)
    if not (np.abs(array) <= LARGEST).all():  # false for NaN too
        where = tuple(int(i) for i in np.argwhere(~(np.abs(array) <= LARGEST))[0])
        spot = f"{name}[{', '.join(map(str, where))}]" if where else name
        bad = float(array[where])
        remedy = "rescale it" if math.isfinite(bad) else "drop or impute it"
        raise ValueError(
            f"{spot} must be finite and at most {LARGEST:g} in size, got {bad}: {remedy}"
        )
    return array


def as_actions(actions: object, dimension: int) -> Floats:
    """An action set (K, d), checked."""
    array = as_floats(actions, "actions")
    if array.ndim != 2 or array.shape[1] != dimension:
        raise ValueError(
            f"actions must have shape (K, {dimension}), one action a row, got {array.shape}"
        )
    if len(array) == 0:
        raise ValueError(f"actions must hold at least one action, got shape {array.shape}")
    array.flags.writeable = False
    return array


def as_features(features: object, dimension: int) -> Floats:
    """The features of one action (d,), checked."""
    array = as_floats(features, "features")
    if array.shape != (dimension,):
        raise ValueError(f"features must have shape ({dimension},), got {array.shape}")
    return array


def as_number(value: object, name: str, low: float = -math.inf, *, strict: bool = False) -> float:
    """A finite number of moderate size, not below ``low`` (above it if ``strict``)."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu":
            return as_number(value.item(), name, low, strict=strict)
        remedy = ": use 0 or 1" if isinstance(value, bool | np.bool_) else ""
        raise ValueError(f"{name} must be a real number, got {value!r}{remedy}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be finite and at most {LARGEST:g} in size, got {number}")
    if number < low or (strict and number == low):
        raise ValueError(
            f"{name} must be {'above' if strict else 'at least'} {low:g}, got {number:g}"
        )
    return number


def as_generator(rng: object) -> np.random.Generator:
    """A source of random numbers."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy Generator (np.random.default_rng(seed)), got {rng!r}"
        )
    return rng


def as_flag(value: object, name: str) -> bool:
    """True or False."""
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
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    count = int(value)
    if count < low or (high is not None and count > high):
        span = f"at least {low}" if high is None else f"in {low}..{high}"
        raise ValueError(f"{name} must be {span}, got {count}")
    return count


def as_radius(radius: object) -> float:
    """A positive radius; infinity is allowed, for priors that stay proper without a ball."""
    if isinstance(radius, float) and radius == math.inf:
        return math.inf
    return as_number(radius, "radius", 0.0, strict=True)
