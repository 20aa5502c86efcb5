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
        if names_of(found) is not None and name_of(found) == name:
            return found
    raise ValueError(f"there is no record {name!r}")


def names_of(kind: Any) -> list[str] | None:
    """The names of the fields of one of our records; nothing else has any."""
    if not isinstance(kind, type) or kind.__module__.split(".")[0] != "soids":
        return None
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(kind._fields) if issubclass(kind, tuple) and hasattr(kind, "_fields") else None


class Packer:
    """Packs one record after the other, and remembers what it has seen."""

    def __init__(self) -> None:
        self.arrays: dict[str, Floats] = {}
        self.known: dict[int, tuple[Any, dict[str, Any]]] = {}  # objects by identity, references
        self.records = 0

    def pack(self, value: Any) -> Any:
        """A value as JSON, its arrays put aside under names."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if id(value) in self.known:
            return self.known[id(value)][1]
        if isinstance(value, np.ndarray):
            name = f"array.{len(self.arrays)}"
            self.arrays[name] = value
            self.known[id(value)] = value, {"array": name}
            return {"array": name}
        names = names_of(type(value))
        if names is not None:
            packed = {name: self.pack(getattr(value, name)) for name in names}
            self.known[id(value)] = value, {"again": self.records}
            if isinstance(value, Menu):
                self.known[id(value.columns)] = value.columns, {"columns": self.records}
            self.records += 1
            return {"record": name_of(type(value)), "fields": packed}
        if type(value) is tuple:
            return {"tuple": [self.pack(item) for item in value]}
        raise ValueError(f"only soids' own records can be saved, got {value!r}")


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
