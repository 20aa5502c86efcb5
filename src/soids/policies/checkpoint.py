"""A policy as one file: checksum, JSON and arrays, never pickle; it goes on bit for bit.

Records (named tuples, frozen dataclasses) of `soids` are found by their qualified names. What is
shared is written once and stays shared.
"""

import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from soids.archives import read_arrays
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.files import as_file, read_regular, write_whole
from soids.policies import POLICIES
from soids.policies.past import Past
from soids.policies.pending import Waitlist
from soids.policies.policy import Family, Policy, Rule, State
from soids.policies.settings import settings_of
from soids.records import check_dimension, check_kinds, field_names

MAGIC = b"soids policy 7\n"
WORK = {"particles": 100_000, "sweeps": 1000, "steps": 10_000}  # most that strangers may ask for
PARTS = (
    "floor", "evidence", "menu", "decisions", "pending", "mind", "has_thought", "features",
)  # as written; files without the last one have no names  # fmt: skip


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, whole or not at all."""
    if not isinstance(policy, Policy):
        raise ValueError(f"policy must be one of ours to be saved, got {policy!r}")
    packer, (mind, past, has_thought) = Packer(), policy.state
    description: dict[str, Any] = {"family": name_of(policy.rule), "settings": {}}
    for name, value in settings_of(policy.rule).items():
        try:
            description["settings"][name] = packer.pack(value)
        except ValueError:
            raise ValueError(
                f"{name} must be a name, a number or one of soids' own to be saved, got {value!r}"
            ) from None
    parts = (
        policy.floor, past.evidence, past.menu, past.decisions, past.pending.table(),
        mind, has_thought, past.features,
    )  # fmt: skip
    description |= {name: packer.pack(part) for name, part in zip(PARTS, parts, strict=True)}
    text, buffer = json.dumps(description).encode(), io.BytesIO()
    arrays: dict[str, Any] = {"description": np.frombuffer(text, dtype=np.uint8), **packer.arrays}
    np.savez(buffer, **arrays)
    body = buffer.getvalue()
    write_whole(Path(path), MAGIC + hashlib.sha256(body).digest() + body)


def load(path: str | os.PathLike[str], *, trust: bool = False) -> Policy:
    """Read a policy from a file that ``save`` wrote; a file from anyone is data, and is checked.

    With ``trust`` its settings may ask for any amount of work.
    """
    content = read_regular(as_file(path, "a file written by soids.save"))
    head = len(MAGIC) + 32
    if not content.startswith(MAGIC):
        raise ValueError(f"path must be a file written by soids.save, got {str(path)!r}")
    if content[len(MAGIC) : head] != hashlib.sha256(memoryview(content)[head:]).digest():
        raise ValueError(f"path must be a whole file, {str(path)!r} is damaged: use an older copy")
    try:
        policy = unpack_policy(content)
        if not trust:
            check_work(policy)
    except Exception as error:  # a file of another making may lead anywhere
        line = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(
            f"path must hold a policy, {str(path)!r} does not: {line}: use an older copy, or a "
            "file of a source that you trust"
        ) from error
    return policy


def check_work(policy: Policy) -> None:
    """Refuse settings with which a choice takes hours, or more memory than there is."""
    for asking in (policy.rule, getattr(policy.rule, "model", None)):
        for name, most in WORK.items():
            if getattr(asking, name, 0) > most:
                raise ValueError(
                    f"{name} is more than {most:,}, which load(path, trust=True) accepts"
                )


def name_of(rule: Rule[Any]) -> str:
    """The name in POLICIES of the constructor that makes policies with this rule."""
    for name, family in POLICIES.items():
        if isinstance(family, Family) and family.rule is type(rule):
            return name
    raise ValueError(f"policy must be one that POLICIES lists to be saved, got {rule.name}")


def unpack_policy(content: bytes) -> Policy:
    """The policy that an archive of arrays describes, behind any head; all of it is checked."""
    arrays = read_arrays(content, most=len(content))
    saved = json.loads(arrays.pop("description").tobytes())
    records: list[Any] = []
    settings = {name: unpacked(one, arrays, records) for name, one in saved["settings"].items()}
    floor, evidence, menu, decisions, pending, mind, has_thought, features = (
        unpacked(saved.get(name), arrays, records) for name in PARTS
    )
    if not isinstance(evidence, Evidence) or not isinstance(pending, Waitlist):
        raise ValueError("evidence and pending decisions are of another kind")
    check_dimension(len(evidence.moment), settings=[settings["dimension"]])  # before it takes room
    policy: Policy = POLICIES[saved["family"]](**settings, floor=floor)
    past = Past(evidence, pending.pending(), menu, decisions, features)
    state = State(mind, past, has_thought)
    for record in (past, state):
        check_kinds(type(record), record._asdict())
    past.validate()
    policy.state = state
    return policy


def qualified(record: type) -> str:
    """The name that a record is found by."""
    return f"{record.__module__}:{record.__qualname__}"


def record_called(name: str) -> Any:
    """The kind of records of this name: one of those that say how a file is checked."""
    module, _, path = name.partition(":")
    found: Any = getattr(sys.modules.get(module), path, None)  # a file makes Python import nothing
    if names_of(found) is not None and qualified(found) == name:
        return found
    raise ValueError(f"there is no record {name!r}")


def names_of(kind: Any) -> list[str] | None:
    """The names of the fields of one of our records that can be stored; nothing else has any."""
    ours = isinstance(kind, type) and kind.__module__.partition(".")[0] == "soids"
    return field_names(kind) if ours and hasattr(kind, "validate") else None


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
            return {"record": qualified(type(value)), "fields": packed}
        if type(value) is tuple:
            return {"tuple": [self.pack(item) for item in value]}
        raise ValueError(
            f"only soids' own records can be saved, got {value!r}: they have a method validate"
        )


def unpacked(packed: Any, arrays: dict[str, Floats], records: list[Any]) -> Any:
    """What was packed, from arrays by name, and from the records so far, to which it is added."""
    if not isinstance(packed, dict):
        return packed
    ((kind, content), *rest) = packed.items()
    if kind == "array":
        return arrays[content]
    if kind == "again":
        return records[content]
    if kind == "columns":
        return records[content].columns
    if kind == "tuple":
        return tuple(unpacked(item, arrays, records) for item in content)
    kind, parts = record_called(content), dict(rest)["fields"].items()
    values = {name: unpacked(part, arrays, records) for name, part in parts}
    check_kinds(kind, values)
    record = kind(**values)
    if isinstance(record, Menu):
        record.actions.flags.writeable = False
    record.validate()
    records.append(record)
    return record
