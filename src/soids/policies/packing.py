"""Records as JSON and named arrays, and back; what is shared is written once and stays shared.

A record is a named tuple or a frozen dataclass that is defined inside `soids`, by whose qualified
name it is found again.
"""

import importlib
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from soids.arrays import Floats
from soids.evidence import Menu


def name_of(record: type) -> str:
    """The name that a record is found by."""
    return f"{record.__module__}:{record.__qualname__}"


def record_called(name: str) -> Any:
    """The record of this name."""
    module, _, qualified = name.partition(":")
    if module.split(".")[0] == "soids":
        found: Any = getattr(importlib.import_module(module), qualified, None)
        if is_record(found) and name_of(found) == name:
            return found
    raise ValueError(f"there is no record {name!r}")


def is_record(kind: Any) -> bool:
    """Whether this is one of our records."""
    return (
        isinstance(kind, type)
        and kind.__module__.split(".")[0] == "soids"
        and (is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields")))
    )


class Packer:
    """Packs one record after the other, and remembers what it has seen."""

    def __init__(self) -> None:
        self.arrays: dict[str, Floats] = {}
        self.known: dict[int, dict[str, Any]] = {}  # how to refer to an object, by its identity
        self.held: list[Any] = []  # all of these, so that no identity is used again
        self.records = 0

    def pack(self, value: Any) -> Any:
        """A value as JSON, its arrays put aside under names."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if id(value) in self.known:
            return self.known[id(value)]
        if isinstance(value, np.ndarray):
            name = f"array.{len(self.arrays)}"
            self.arrays[name] = value
            return self._remember(value, {"array": name})
        if is_record(type(value)):
            return self._pack_record(value)
        if type(value) is tuple:
            return {"tuple": [self.pack(item) for item in value]}
        raise ValueError(f"only soids' own records can be saved, got {value!r}")

    def _pack_record(self, record: Any) -> dict[str, Any]:
        names = [f.name for f in fields(record)] if is_dataclass(record) else record._fields
        packed = {name: self.pack(getattr(record, name)) for name in names}
        self._remember(record, {"again": self.records})
        if isinstance(record, Menu):
            self._remember(record.columns, {"columns": self.records})
        self.records += 1
        return {"record": name_of(type(record)), "fields": packed}

    def _remember(self, value: Any, reference: dict[str, Any]) -> dict[str, Any]:
        self.held.append(value)
        self.known[id(value)] = reference
        return reference


class Unpacker:
    """Makes records again of what a packer packed, in the same order."""

    def __init__(self, arrays: dict[str, Floats]) -> None:
        self.arrays = arrays
        self.records: list[Any] = []

    def unpack(self, packed: Any) -> Any:
        """The value that was packed."""
        if not isinstance(packed, dict):
            return packed
        ((kind, content), *rest) = packed.items()
        if kind == "array":
            return self.arrays[content]
        if kind == "again":
            return self.records[content]
        if kind == "columns":
            return self.records[content].columns
        if kind == "tuple":
            return tuple(self.unpack(item) for item in content)
        unpacked = {name: self.unpack(item) for name, item in dict(rest)["fields"].items()}
        record = record_called(content)(**unpacked)
        if isinstance(record, Menu):
            record.actions.flags.writeable = False
        self.records.append(record)
        return record
