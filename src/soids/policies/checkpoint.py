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
from soids.policies.packing import Packer, Unpacker
from soids.policies.past import Past
from soids.policies.policy import Family, Policy, Rule, State
from soids.policies.settings import settings_of

MAGIC = b"soids policy 6\n"
PARTS = ("floor", "evidence", "menu", "decisions", "pending", "mind", "has_thought")  # as written
BROKEN = (  # what a file of another making may lead to
    ImportError, LookupError, AttributeError, TypeError, ValueError, OSError, EOFError,
    zipfile.BadZipFile,
)  # fmt: skip


def save(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, whole or not at all."""
    if not isinstance(policy, Policy):
        raise ValueError(f"policy must be one of ours to be saved, got {policy!r}")
    packer, past = Packer(), policy.state.past
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
        policy.state.mind, policy.state.has_thought,
    )  # fmt: skip
    description |= {name: packer.pack(part) for name, part in zip(PARTS, parts, strict=True)}
    text, buffer = json.dumps(description).encode(), io.BytesIO()
    arrays: dict[str, Any] = {"description": np.frombuffer(text, dtype=np.uint8), **packer.arrays}
    np.savez(buffer, **arrays)
    body = buffer.getvalue()
    write_whole(Path(path), MAGIC + hashlib.sha256(body).digest() + body)


def load(path: str | os.PathLike[str]) -> Policy:
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


def name_of(rule: Rule[Any]) -> str:
    """The name in POLICIES of the constructor that makes policies with this rule."""
    for name, family in POLICIES.items():
        if isinstance(family, Family) and family.rule is type(rule):
            return name
    raise ValueError(f"policy must be one that POLICIES lists to be saved, got {rule.name}")


def unpack_policy(body: bytes) -> Policy:
    """The policy that an archive of arrays describes."""
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        arrays = dict(archive)
    saved = json.loads(arrays.pop("description").tobytes())
    unpacker = Unpacker(arrays)
    settings = {name: unpacker.unpack(value) for name, value in saved["settings"].items()}
    floor, evidence, menu, decisions, pending, mind, has_thought = (
        unpacker.unpack(saved[name]) for name in PARTS
    )
    policy: Policy = POLICIES[saved["family"]](**settings, floor=floor)
    policy.state = State(mind, Past(evidence, pending.pending(), menu, decisions), has_thought)
    return policy
