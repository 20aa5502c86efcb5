"""Encoding columns of data as numbers for a linear model.

Numbers are standardised, and each category has an indicator column. A missing number becomes the
mean, beside an indicator column. The fitted encoder can be stored as JSON.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse

from soids.arrays import Floats, as_count, as_flag, as_number, check_moderate
from soids.features.columns import Column, Value, is_number, is_numeral, read_columns

Unknown = Literal["zeros", "error"]
Sparse = csr_array[Any, tuple[int, int]]
FORMAT = 1


@dataclass(frozen=True)
class Numeric:
    """A fitted column of numbers."""

    name: str
    mean: float
    scale: float  # standard deviation; 1 for a constant
    gaps: bool  # whether some were missing

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        return [self.name, f"{self.name} missing"] if self.gaps else [self.name]

    def encode(self, column: Column, unknown: Unknown) -> Floats:  # (n, 1) or (n, 2)
        """Standardised numbers, beside an indicator if some were missing in fitting."""
        numbers = column.numbers()
        absent = np.isnan(numbers)
        standard = np.where(absent, 0.0, (numbers - self.mean) / self.scale)
        check_moderate(standard, self.name)
        return np.column_stack([standard, absent] if self.gaps else [standard])


@dataclass(frozen=True)
class Categorical:
    """A fitted column of categories."""

    name: str
    categories: tuple[Value, ...]  # the last is None if some were missing
    baseline: tuple[Value, ...] = ()  # a category without a column of its own, if there is one

    @property
    def names(self) -> list[str]:
        """Names of the encoded columns."""
        ends = [" missing" if one is None else f" = {one}" for one in self.categories]
        return [self.name + end for end in ends]

    def encode(self, column: Column, unknown: Unknown) -> Floats:  # (n, categories)
        """One column for each category; zeros, or an error, for an unknown one."""
        places = {category: place for place, category in enumerate(self.categories)}
        values = column.listed()
        encoded = np.zeros((len(values), len(places)))
        for row, value in enumerate(values):
            if value in places:
                encoded[row, places[value]] = 1.0
            elif unknown == "error" and value not in self.baseline:
                known = ", ".join(repr(one) for one in (*self.baseline, *places))
                raise ValueError(
                    f"column {self.name!r} must be one of {known}, "
                    f'got {value!r}: unknown="zeros" would make it none of them'
                )
        return encoded


@dataclass(frozen=True)
class Encoder:
    """Encodes tables with the columns of the table that it was fitted to.

    >>> encoder = Encoder.fit({"age": [60, 70, None], "sex": ["f", "m", "f"]})
    >>> encoder.names
    ['age', 'age missing', 'sex = f', 'sex = m']
    >>> encoder.row({"age": 70, "sex": "f"}).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """

    columns: tuple[Numeric | Categorical, ...]
    unknown: Unknown = "zeros"
    missing: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls, table: object, *, numeric: Iterable[str] = (), categorical: Iterable[str] = (),
        baseline: bool = False, unknown: Unknown = "zeros", missing: Iterable[str] = (),
    ) -> "Encoder":  # fmt: skip
        """Fit an encoder to a table: a data frame, a dictionary of columns, an array (n, columns),
        or a SciPy sparse matrix of numbers.

        ``numeric`` and ``categorical`` name the columns to use; if both are empty, all columns are
        used, numbers as numeric and all others as categorical. ``unknown`` says whether a category
        that is not in this table is encoded as "zeros" or is an "error". Texts in ``missing`` are
        missing values. With a ``baseline`` the most common category of each column has no
        indicator, as an intercept stands for it. Numbers of a sparse matrix are scaled but not
        centred, so that zeros stay zeros.
        """
        if unknown not in ("zeros", "error"):
            raise ValueError(f'unknown must be "zeros" or "error", got {unknown!r}')
        if issparse(table):
            return cls(scaled(as_sparse(table)), unknown)
        gaps, numbers, labels = (one_or_more(names) for names in (missing, numeric, categorical))
        found = read_columns(table, gaps, {*numbers, *labels})
        kinds = kinds_of(found, numbers, labels)
        if not kinds or not all(len(found[name].values) for name in kinds):
            raise ValueError("a table must have at least one column and one row to learn from")
        leave_out = as_flag(baseline, "baseline")
        fitted = [
            fit_numeric(found[name]) if is_numeric else fit_categorical(found[name], leave_out)
            for name, is_numeric in kinds.items()
        ]
        return cls(tuple(fitted), unknown, gaps)

    @property
    def names(self) -> list[str]:
        """Names of all resulting columns."""
        return [name for column in self.columns for name in column.names]

    def encode(self, table: object) -> Floats | Sparse:  # (n, p)
        """The encoded rows of a table, sparse if the table is; other columns are left out."""
        if issparse(table):
            return self._scale(as_sparse(table))
        found = read_columns(table, self.missing, [column.name for column in self.columns])
        return np.hstack([one.encode(found[one.name], self.unknown) for one in self.columns])

    def row(self, values: Mapping[str, object]) -> Floats:  # (p,)
        """The encoding of one row, given by the names of its columns."""
        if not isinstance(values, Mapping):
            raise ValueError(f"values must be a dictionary from names to values, got {values!r}")
        return np.asarray(np.asarray(self.encode({name: [values[name]] for name in values}))[0])

    def _scale(self, table: Sparse) -> Sparse:
        fitted = [one for one in self.columns if isinstance(one, Numeric) and one.mean == 0.0]
        if len(fitted) < len(self.columns):
            raise ValueError("a sparse table needs an encoder that was fitted to a sparse one")
        if table.shape[1] != len(fitted):
            raise ValueError(f"a table must have {len(fitted)} columns, got {table.shape[1]}")
        numbers = table.data / np.array([one.scale for one in fitted])[table.indices]
        return csr_array((numbers, table.indices, table.indptr), shape=table.shape)

    def state(self) -> dict[str, Any]:
        """The fitted encoder as JSON."""
        columns = [{"kind": type(one).__name__.lower(), **asdict(one)} for one in self.columns]
        missing = list(self.missing)
        return {"format": FORMAT, "unknown": self.unknown, "missing": missing, "columns": columns}

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Encoder":
        """The encoder with this state."""
        try:
            as_count(state["format"], "format", FORMAT, FORMAT)
            columns = tuple(column_of(dict(entry)) for entry in state["columns"])
            return cls(columns, state["unknown"], tuple(state["missing"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"state must be what Encoder.state returned: {error}") from None


# Fitting columns


def one_or_more(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names as texts; a single text is one name."""
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names)


def kinds_of(
    found: Mapping[str, Column], numeric: tuple[str, ...], categorical: tuple[str, ...]
) -> dict[str, bool]:
    """The columns to use, in the order of the table, and whether they are numeric."""
    for name in numeric:
        if name in categorical:
            raise ValueError(f"column {name!r} must be numeric or categorical, not both")
    if not numeric and not categorical:
        for column in found.values():
            warn_of_numerals(column)
        return {name: column.is_numeric() for name, column in found.items()}
    return {name: name in numeric for name in found if name in numeric or name in categorical}


def warn_of_numerals(column: Column) -> None:
    """Warn if a column of numbers would become categories because of texts in it."""
    known = {value for value in column.listed() if value is not None}
    texts = {value for value in known if isinstance(value, str)}
    beside = any(is_number(value) for value in known)
    if texts and (beside or (len(texts) > 2 and all(map(is_numeral, texts)))):
        what = f"numbers beside {min(texts)!r}" if beside else "numbers as texts"
        warnings.warn(
            f"column {column.name!r} holds {what}, so each of {len(known)} values becomes a "
            "category: convert it (float), name the texts that stand for missing values (missing), "
            "or name the columns (numeric, categorical)",
            UserWarning,
            stacklevel=4,
        )


def fit_numeric(column: Column) -> Numeric:
    """Mean and scale of the numbers that are not missing."""
    numbers = column.numbers()
    known = numbers[~np.isnan(numbers)]
    check_moderate(known, column.name)
    if known.size == 0:
        raise ValueError(f"column {column.name!r} must hold a number, got none: leave it out")
    mean, scale = float(known.mean()), float(known.std())
    is_constant = scale <= 1e-12 * abs(mean)
    return Numeric(column.name, mean, 1.0 if is_constant else scale, len(known) < len(numbers))


def fit_categorical(column: Column, leave_out: bool) -> Categorical:
    """The categories in alphabetical order, missing values last, perhaps without the baseline."""
    counts = Counter(column.listed())
    ordered = sorted(counts, key=lambda value: (value is None, str(type(value)), value))
    common = (max(ordered, key=lambda value: counts[value]),) if leave_out else ()
    return Categorical(column.name, tuple(one for one in ordered if one not in common), common)


def column_of(entry: dict[str, Any]) -> Numeric | Categorical:
    """A fitted column from its part of the state."""
    kind = entry.pop("kind")
    if kind == "numeric":
        scale = as_number(entry["scale"], "scale", 0.0, strict=True)
        return Numeric(entry["name"], as_number(entry["mean"], "mean"), scale, bool(entry["gaps"]))
    return Categorical(entry["name"], tuple(entry["categories"]), tuple(entry["baseline"]))


# Sparse tables


def as_sparse(table: Any) -> Sparse:
    """A sparse table of finite numbers, by rows."""
    rows: Sparse = csr_array(table, dtype=np.float64)
    check_moderate(rows.data, "a sparse table's numbers")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def scaled(table: Sparse) -> tuple[Numeric, ...]:
    """Columns whose scale is the root of their mean square, zeros included."""
    rows, count = table.shape
    if rows == 0 or count == 0:
        raise ValueError("a table must have at least one column and one row to learn from")
    squares = np.bincount(table.indices, table.data**2, minlength=count) / rows
    scales = np.where(squares > 0.0, np.sqrt(squares), 1.0)
    return tuple(Numeric(str(j), 0.0, float(scale), False) for j, scale in enumerate(scales))
