"""A policy as one file: checksum, JSON and arrays, never pickle; it goes on bit for bit."""

import hashlib
import io
import json
import os
import tempfile
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from soids.evidence import Evidence, Menu
from soids.policies.posterior import FGTS, SOIDS, Memory, PosteriorPolicy, SparseIDS, Thompson
from soids.posteriors import POSTERIORS, Belief
from soids.posteriors.gaussian import Draws
from soids.posteriors.smc import Cloud
from soids.posteriors.target import Target

MAGIC = b"soids policy 1\n"
FAMILIES = {family.__name__: family for family in (SOIDS, FGTS, SparseIDS, Thompson)}
Arrays = dict[str, Any]


def save(policy: PosteriorPolicy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, whole or not at all."""
    if type(policy).__name__ not in FAMILIES:
        raise ValueError(f"policy must be one of {', '.join(FAMILIES)} to be saved, got {policy!r}")
    arrays: Arrays = {}
    description = {
        "family": type(policy).__name__,
        "settings": settings_of(policy),
        "memory": pack_memory(policy.memory, arrays),
        "pending": [(turn, *chosen) for turn, chosen in policy.pending.items()],
    }
    text = json.dumps(description, default=np.generic.item)  # numbers may be NumPy's own
    arrays["description"] = np.frombuffer(text.encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    body = buffer.getvalue()
    write_whole(Path(path), MAGIC + hashlib.sha256(body).digest() + body)


def load(path: str | os.PathLike[str]) -> PosteriorPolicy:
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
    except (KeyError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"path must hold a policy, {str(path)!r} does not: {error}") from error


def unpack_policy(body: bytes) -> PosteriorPolicy:
    """The policy that an archive of arrays describes."""
    with np.load(io.BytesIO(body), allow_pickle=False) as archive:
        arrays = dict(archive)
    description = json.loads(arrays["description"].tobytes())
    settings = description["settings"]
    if isinstance(settings["posterior"], dict):
        fields = settings["posterior"]
        settings["posterior"] = POSTERIORS[fields.pop("name")](**fields)
    policy = FAMILIES[description["family"]](**settings)
    policy.memory = unpack_memory(description["memory"], arrays, policy)
    policy.pending = {turn: (index, chance) for turn, index, chance in description["pending"]}
    return policy


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, flush, move into place: a crash leaves the old file or the new one."""
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def settings_of(policy: PosteriorPolicy) -> dict[str, Any]:
    """The keyword arguments that build the policy anew."""
    names = {family: name for name, family in POSTERIORS.items()}
    posterior: Any = policy.posterior
    if type(posterior) in names:
        posterior = {"name": names[type(posterior)], **asdict(posterior)}
    elif not isinstance(posterior, str):
        raise ValueError(f"posterior must be one of soids' own to be saved, got {posterior!r}")
    if callable(policy.rate):
        raise ValueError("rate must be a name or a number to be saved, got a function")
    return {
        "dimension": policy.dimension,
        "sparsity": policy.sparsity,
        "radius": policy.radius,
        "noise": policy.noise,
        "posterior": posterior,
        "rate": policy.rate,
        "eta": policy.eta,
        "gain": policy.gain,
        "particles": policy.particles,
        "sweeps": policy.sweeps,
    }


def pack_memory(memory: Memory, arrays: Arrays) -> dict[str, Any]:
    """The memory as JSON, its arrays put aside under names."""
    menus = list(memory.evidence.menus)
    if memory.menu is not None and not any(menu is memory.menu for menu in menus):
        menus.append(memory.menu)
    arrays |= {f"menu.{i}": menu.actions for i, menu in enumerate(menus)}
    described = {
        "menus": len(menus),
        "menu": next((i for i, menu in enumerate(menus) if menu is memory.menu), None),
        "evidence": pack_evidence("evidence", memory.evidence, arrays),
        "rate": memory.rate,
        "decisions": memory.decisions,
        "ratios": memory.ratios,
        "root_ratios": memory.root_ratios,
    }
    if isinstance(memory.belief, Cloud):
        described["believed"] = pack_evidence("believed", memory.believed, arrays)
        described["tilt"] = memory.belief.target.rate
        arrays |= {f"cloud.{name}": getattr(memory.belief, name) for name in Cloud._fields[1:]}
    elif isinstance(memory.belief, Draws):
        described["believed"] = pack_evidence("believed", memory.believed, arrays)
        described["variance"] = memory.belief.variance
        arrays |= {"draws.thetas": memory.belief.thetas, "draws.weights": memory.belief.weights}
    return described


def unpack_memory(described: dict[str, Any], arrays: Arrays, policy: PosteriorPolicy) -> Memory:
    """The memory that ``pack_memory`` described."""
    menus = []
    for i in range(described["menus"]):
        arrays[f"menu.{i}"].flags.writeable = False
        menus.append(Menu(arrays[f"menu.{i}"]))
    evidence = unpack_evidence("evidence", described["evidence"], arrays, menus)
    belief: Belief | None = None
    believed = None
    if "believed" in described:
        believed = unpack_evidence("believed", described["believed"], arrays, menus)
        if believed.rounds == evidence.rounds:
            believed = evidence  # the belief is up to date, and known to be so by identity
    if "tilt" in described and believed is not None:
        prior = policy.model.prior(believed)
        target = Target.of(believed, prior, policy.eta, described["tilt"])
        belief = Cloud(target, *(arrays[f"cloud.{name}"] for name in Cloud._fields[1:]))
    elif "variance" in described:
        belief = Draws(arrays["draws.thetas"], arrays["draws.weights"], described["variance"])
    menu = None if described["menu"] is None else menus[described["menu"]]
    rest = (described[name] for name in ("decisions", "ratios", "root_ratios"))
    return Memory(evidence, belief, believed, described["rate"], menu, *rest)


def pack_evidence(prefix: str, evidence: Evidence | None, arrays: Arrays) -> dict[str, Any]:
    """Evidence as JSON, its arrays put aside; older evidence knows the first of the menus."""
    if evidence is None:
        raise ValueError("believed evidence must exist beside a belief")
    arrays |= {f"{prefix}.{name}": getattr(evidence, name) for name in ("gram", "moment", "total")}
    return {"energy": evidence.energy, "rounds": evidence.rounds, "counts": evidence.counts}


def unpack_evidence(
    prefix: str, described: dict[str, Any], arrays: Arrays, menus: list[Menu]
) -> Evidence:
    """The evidence that ``pack_evidence`` described."""
    counts = tuple(described["counts"])
    return Evidence(
        arrays[f"{prefix}.gram"],
        arrays[f"{prefix}.moment"],
        arrays[f"{prefix}.total"],
        described["energy"],
        described["rounds"],
        tuple(menus[: len(counts)]),
        counts,
    )
