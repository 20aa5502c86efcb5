"""A policy as one file: checksum, JSON and arrays, never pickle; it goes on bit for bit."""

import hashlib
import io
import json
import os
import secrets
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from soids.evidence import Evidence, Menu
from soids.policies.policy import Decision, Information
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
    menus = menus_of(policy)
    arrays: Arrays = {f"menu.{i}": menu.actions for i, menu in enumerate(menus)}
    description = {
        "family": type(policy).__name__,
        "settings": settings_of(policy),
        "menus": len(menus),
        "memory": pack_memory(policy.memory, menus, arrays),
        "pending": [pack_decision(decision, menus) for decision in policy.pending.values()],
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
    menus = []
    for i in range(description["menus"]):
        arrays[f"menu.{i}"].flags.writeable = False
        menus.append(Menu(arrays[f"menu.{i}"]))
    policy.memory = unpack_memory(description["memory"], menus, arrays, policy)
    waiting = (unpack_decision(described, menus) for described in description["pending"])
    policy.pending = {decision.round: decision for decision in waiting}
    return policy


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, flush, move into place: a crash leaves the old file or the new one."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must lie in a folder that exists, got {str(path)!r}")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
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


def menus_of(policy: PosteriorPolicy) -> list[Menu]:
    """Every menu that the policy remembers, once: first those of its evidence, in order."""
    last = () if policy.memory.menu is None else (policy.memory.menu,)
    waiting = (decision.menu for decision in policy.pending.values())
    return list(dict.fromkeys((*policy.memory.evidence.menus, *last, *waiting)))


def pack_decision(decision: Decision, menus: list[Menu]) -> dict[str, Any]:
    """A decision as JSON, its menu by number."""
    return {
        "round": decision.round,
        "index": decision.index,
        "probability": decision.probability,
        "info": decision.info,
        "menu": menus.index(decision.menu),
    }


def unpack_decision(described: dict[str, Any], menus: list[Menu]) -> Decision:
    """The decision that ``pack_decision`` described."""
    menu, index = menus[described["menu"]], described["index"]
    info = Information(*described["info"])
    return Decision(
        index, menu.actions[index], described["probability"], described["round"], info, menu
    )


def pack_memory(memory: Memory, menus: list[Menu], arrays: Arrays) -> dict[str, Any]:
    """The memory as JSON, its arrays put aside under names."""
    described = {
        "menu": None if memory.menu is None else menus.index(memory.menu),
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


def unpack_memory(
    described: dict[str, Any], menus: list[Menu], arrays: Arrays, policy: PosteriorPolicy
) -> Memory:
    """The memory that ``pack_memory`` described."""
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
