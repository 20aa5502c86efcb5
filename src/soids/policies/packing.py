"""Records as JSON and named arrays, and back; what is shared is written once and stays shared."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.information import Spread, TwoPoint
from soids.policies.committing import Explored, Phase, Sample
from soids.policies.greedy_lasso import Estimate
from soids.policies.otcs import Converted
from soids.policies.per_arm import Arm, Known, Sampled, Stack
from soids.policies.policy import Decision, Information
from soids.policies.posterior import Memory
from soids.policies.variational import MeanFieldDraws
from soids.posteriors import POSTERIORS
from soids.posteriors.arms import Arms
from soids.posteriors.cloud import Cloud
from soids.posteriors.gaussian import Draws
from soids.posteriors.langevin import Chains
from soids.posteriors.prior import Noise, Prior, Span
from soids.posteriors.target import Target
from soids.regression.forecaster import Foresight
from soids.regression.spike_slab_vb import MeanField

RECORDS: dict[str, Any] = {
    record.__name__: record
    for record in (
        Menu, Gram, Evidence, Information, Decision, Memory, TwoPoint, Spread, Converted, Explored,
        Sample, Phase,
        Foresight, Cloud, Arms, Target, Prior, Span, Noise, Draws, Chains, *POSTERIORS.values(),
        Estimate, Known, Arm, Sampled, Stack, MeanField, MeanFieldDraws,
    )
}  # fmt: skip


class Packer:
    """Packs one record after the other, and remembers what it has seen."""

    def __init__(self) -> None:
        self.arrays: dict[str, Floats] = {}
        self.known: dict[int, dict[str, Any]] = {}  # how to refer to an object, by its identity
        self.held: list[Any] = []  # all of these, so that no identity is given away anew
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
        if RECORDS.get(type(value).__name__) is type(value):
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
        return {"record": type(record).__name__, "fields": packed}

    def _remember(self, value: Any, reference: dict[str, Any]) -> dict[str, Any]:
        self.held.append(value)
        self.known[id(value)] = reference
        return reference


class Unpacker:
    """Undoes what a packer did, in the same order."""

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
        record = RECORDS[content](**unpacked)
        if isinstance(record, Menu):
            record.actions.flags.writeable = False
        self.records.append(record)
        return record
