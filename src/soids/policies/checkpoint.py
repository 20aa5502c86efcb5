"""A policy as one file: checksum, JSON and arrays, never pickle; it goes on bit for bit."""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from soids.files import write_whole
from soids.policies import POLICIES
from soids.policies.ledger import KeptPolicy, settings_of
from soids.policies.records import Packer, Unpacker

MAGIC = b"soids policy 5\n"
BROKEN = (  # what a file of another making may lead to
    LookupError, AttributeError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile,
)  # fmt: skip
FAMILIES = {family.__name__: family for family in POLICIES.values() if isinstance(family, type)}


def save(policy: KeptPolicy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, whole or not at all."""
    if type(policy).__name__ not in FAMILIES:
        raise ValueError(f"policy must be one of {', '.join(FAMILIES)} to be saved, got {policy!r}")
    ledger = policy.ledger
    packer = Packer()
    description = {
        "family": type(policy).__name__,
        "settings": pack_settings(policy, packer),
        "evidence": packer.pack(ledger.evidence),
        "menu": packer.pack(ledger.menu),
        "decisions": ledger.decisions,
        "pending": [packer.pack(decision) for decision in ledger.pending.values()],
        "memory": packer.pack(policy.memory),
    }
    text = json.dumps(description).encode()
    arrays: dict[str, Any] = {"description": np.frombuffer(text, dtype=np.uint8), **packer.arrays}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    body = buffer.getvalue()
    write_whole(Path(path), MAGIC + hashlib.sha256(body).digest() + body)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a policy from a file that ``save`` wrote."""
    content = Path(path).read_bytes()
    head = len(MAGIC) + 32
    body = content[head:]
    if not content.startswith(MAGIC):
        raise ValueError(f"path must be a file written by soids.save, got {str(path)!r}")
    if content[len(MAGIC) : head] != hashlib.sha256(body).digest():
        raise ValueError(f"path must be a whole file, {str(path)!r} is damaged: use an older copy")
    try:
        return unpack_policy(body)
    except BROKEN as error:
        raise ValueError(f"path must hold a policy, {str(path)!r} does not: {error}") from error


def pack_settings(policy: KeptPolicy, packer: Packer) -> dict[str, Any]:
    """The arguments that build the policy anew, as JSON."""
    settings = {}
    for name, value in settings_of(policy).items():
        try:
            settings[name] = packer.pack(value)
        except ValueError:
            raise ValueError(
                f"{name} must be a name, a number or one of soids' own to be saved, got {value!r}"
            ) from None
    return settings


def unpack_policy(body: bytes) -> KeptPolicy:
    """The policy that an archive of arrays describes."""
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        arrays = dict(archive)
    description = json.loads(arrays.pop("description").tobytes())
    unpacker = Unpacker(arrays)
    settings = {name: unpacker.unpack(value) for name, value in description["settings"].items()}
    policy: KeptPolicy = FAMILIES[description["family"]](**settings)
    ledger = policy.ledger
    ledger.evidence = unpacker.unpack(description["evidence"])
    ledger.menu = unpacker.unpack(description["menu"])
    ledger.decisions = description["decisions"]
    waiting = [unpacker.unpack(packed) for packed in description["pending"]]
    ledger.pending = {decision.round: decision for decision in waiting}
    policy.memory = unpacker.unpack(description["memory"])
    return policy
