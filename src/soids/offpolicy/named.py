"""Evaluation of policies by their names, with the settings and the random numbers of each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from soids.logs import KeptLog, Log
from soids.offpolicy.evaluation import Evaluation, evaluate
from soids.offpolicy.overlap import FLOOR
from soids.offpolicy.rejection import Replayed, replay
from soids.offpolicy.targets import NAMED, learned
from soids.policies import POLICIES
from soids.spelling import as_names, meant

MODES = ("fixed", "rejection")
Constructor = Callable[..., Any]  # of a policy, from the dimension of the actions and settings


def evaluate_named(
    log: Log, names: Sequence[str], find: Callable[[str, Mapping[str, Any]], Constructor], *,
    settings: Mapping[str, Any], mode: str = "fixed", train: float = 0.5, confidence: float = 0.95,
    floor: float = FLOOR, seed: int = 0, on_round: Callable[[str], None] = lambda stage: None,
) -> Evaluation | list[Replayed]:  # fmt: skip
    """Evaluate policies after they have learned (``fixed``), or while they learn (``rejection``).

    ``find`` returns the constructor of a named policy that takes some settings. A key of
    ``settings`` is the name of a setting of all, or ``policy.name`` for that of one.
    """
    check_names(names, settings, mode)
    rngs = [np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(len(names))]
    shared: dict[str, Any] = {"confidence": confidence, "floor": floor, "on_round": on_round}

    def maker(name: str) -> Callable[[int], Any]:
        own = settings_for(name, settings)
        constructor = find(name, own)

        def make(dimension: int) -> Any:
            try:
                return constructor(dimension, **own)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None

        return make

    if mode == "rejection":
        makers, log = [maker(name) for name in names], KeptLog(log)
        asked = zip(names, makers, rngs, strict=True)
        return [replay(log, name, make, rng, **shared) for name, make, rng in asked]
    candidates = [
        NAMED[name] if name in NAMED else learned(name, maker(name), rng)
        for name, rng in zip(names, rngs, strict=True)
    ]
    return evaluate(log, candidates, train=train, **shared)


def check_names(names: Sequence[str], settings: Mapping[str, Any], mode: str) -> None:
    """Refuse unknown policies, and settings of policies that have none."""
    as_names(names, "policies (--policy)")
    known = [*NAMED, *POLICIES]
    for name in names:
        if name not in known and ":" not in name:
            raise ValueError(f"--policy must be module:Class or one of {', '.join(known)}"
                             f"{meant(name, known)}")  # fmt: skip
        if mode == "rejection" and name in NAMED and name not in POLICIES:
            raise ValueError(f"{name} learns nothing: evaluate it by --mode fixed")
    learners = [name for name in names if mode == "rejection" or name not in NAMED]
    if settings and not learners:
        raise ValueError("--set is for policies that learn: name one by --policy")
    for key in settings:
        owner, dot, _ = key.rpartition(".")
        if dot and owner not in learners:
            raise ValueError(f"--set POLICY.NAME must be of a policy that is asked for and learns "
                             f"({', '.join(learners)}){meant(owner, learners)}")  # fmt: skip


def settings_for(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of all policies, and those of one, which come first.

    >>> settings_for("soids", {"noise": 1.0, "soids.noise": 2.0, "linucb.alpha": 3.0})
    {'noise': 2.0}
    """
    owned = [(*key.rpartition("."), value) for key, value in settings.items()]
    return {key: value for who in ("", name) for owner, _, key, value in owned if owner == who}
