"""A trial: one policy on one problem with one seed, as a recipe of names and numbers.

Workers receive recipes, not objects, and the same recipe gives the same trace wherever it is
played.
"""

import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from soids.arrays import as_count
from soids.bandits import FAMILIES, Bandit
from soids.policies import POLICIES
from soids.policies.policy import Family
from soids.simulation.play import Chooser
from soids.simulation.reading import as_text, check_settings, short
from soids.simulation.user_policies import IMPORTS
from soids.spelling import meant

TELLABLE = ("sparsity", "radius", "noise", "norm", "support", "reward_bound", "horizon")


@dataclass(frozen=True)
class Problem:
    """A bandit of some family, to be played for some rounds."""

    family: str
    settings: dict[str, Any]
    horizon: int
    title: str = field(default="", compare=False)  # what sets it apart in its experiment
    feedback: dict[str, Any] = field(default_factory=dict)  # settings; none is a reward at once

    def make(self, seed: int) -> Bandit:
        """The bandit of this seed."""
        family = family_called(self.family)
        settings = dict(self.settings)
        if "horizon" in inspect.signature(family).parameters:
            settings["horizon"] = self.horizon
        return family(**settings, seed=seed)

    @property
    def recipe(self) -> dict[str, Any]:
        """Its part of what decides the outcome of a trial."""
        feedback = {"feedback": self.feedback} if self.feedback else {}
        bandit = {"family": self.family, **self.settings}
        return {"bandit": bandit, **feedback, "horizon": self.horizon}

    @cached_property
    def written(self) -> tuple[str, str]:
        """A name for people, and the beginning of the recipe as JSON; a million trials share it."""
        listed = "".join(f"-{n}={v}" for n, v in {**self.settings, **self.feedback}.items())
        text = json.dumps(self.recipe, sort_keys=True)
        return plain(f"{self.family}{listed}-T={self.horizon}"), f"{text[:-1]}, "

    @property
    def all_settings(self) -> dict[str, Any]:
        """The horizon, and the settings of the bandit and of its feedback."""
        return {"horizon": self.horizon, **self.settings, **self.feedback}

    @property
    def size(self) -> float:
        """How long it may take, roughly."""
        return self.horizon * float(self.settings.get("dimension", 1))


@dataclass(frozen=True)
class Player:
    """A policy and its settings, some of them taken from the bandit."""

    policy: str  # a name in POLICIES, or module:Class
    told: tuple[str, ...]  # the names of the settings that are taken from the bandit
    settings: dict[str, Any]
    entry: str = field(default="", compare=False)  # its name in the experiment
    swept: tuple[str, ...] = field(default=(), compare=False)  # settings that set it apart

    @property
    def recipe(self) -> dict[str, Any]:
        """Its part of what decides the outcome of a trial."""
        return {"policy": {"policy": self.policy, "told": list(self.told), **self.settings}}

    @cached_property
    def written(self) -> tuple[str, str]:
        """A name for people, and the end of the recipe as JSON."""
        return plain(self.policy), json.dumps(self.recipe, sort_keys=True)[1:]

    @property
    def is_ours(self) -> bool:
        """Whether it needs no code but ours."""
        return self.policy in POLICIES

    @property
    def label(self) -> str:
        """Its name in tables and figures: its entry, and what that entry sweeps."""
        return self.called()

    def called(self, without: str = "") -> str:
        """Its label, or the one that it shares with players that differ in one setting."""
        parts = [f"{n} = {short(self.settings[n])}" for n in self.swept if n != without]
        return ", ".join([self.entry, *parts])

    def make(self, bandit: Bandit, horizon: int) -> Chooser:
        """The policy, ready to play the bandit."""
        truth = {**bandit.truth, "horizon": horizon}
        for name in self.told:
            if name not in truth:
                raise ValueError(f"told must be one of {', '.join(truth)} here, got {name!r}")
        told = {name: truth[name] for name in self.told}
        policy: Chooser = policy_called(self.policy)(bandit.dimension, **told, **self.settings)
        return policy

    def check(self) -> None:
        """Refuse what its policy cannot be told or set to, and the lack of what it needs."""
        make = policy_called(self.policy)
        parameters = inspect.signature(make).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
        tellable = [name for name in TELLABLE if takes_all or name in parameters]
        for name in self.told:
            if name not in tellable:
                listed = " and ".join(filter(None, [", ".join(tellable[:-1]), *tellable[-1:]]))
                raise ValueError(
                    f"{self.policy} can be told {listed or 'nothing'}{meant(name, tellable)}"
                )
        check_settings(
            make, self.settings, ("dimension", *self.told),
            lambda name: f": add it {'to told, or ' if name in tellable else ''}as a setting",
        )  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """All that a worker needs to know."""

    problem: Problem
    player: Player
    seed: int

    @property
    def recipe(self) -> dict[str, Any]:
        """What decides the outcome, as JSON; titles and labels do not."""
        return {**self.problem.recipe, **self.player.recipe, "seed": self.seed}

    @property
    def name(self) -> str:
        """A path that a person can read and no other recipe shares: problem/policy-key/seed."""
        (problem, text), (player, more) = self.problem.written, self.player.written
        key = hashlib.sha256(f"{text}{more}".encode()).hexdigest()[:12]
        return f"{problem}/{player}-{key}/{self.seed:03d}"

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        title = self.problem.title or self.problem.family
        return f"Trial({self.player.label!r}, {title!r}, seed={self.seed})"

    @classmethod
    def of(cls, recipe: dict[str, Any]) -> "Trial":
        """The trial that has this recipe."""
        bandit, policy = dict(recipe["bandit"]), dict(recipe["policy"])
        family, name, told = bandit.pop("family"), policy.pop("policy"), policy.pop("told")
        for text in (family, name, *told):
            as_text(text, "family, policy and told")
        feedback = dict(recipe.get("feedback", {}))
        problem = Problem(family, bandit, as_count(recipe["horizon"], "horizon"), family, feedback)
        seed = as_count(recipe["seed"], "seed", 0)
        return cls(problem, Player(name, tuple(told), policy, name), seed)


def plain(text: str) -> str:
    """A text as part of a file's name: the key beside it tells apart what this does not."""
    return re.sub(r"[^A-Za-z0-9=.,_-]+", "_", text)[:80]


def family_called(name: str) -> Callable[..., Bandit]:
    """The family of bandits of this name."""
    if not isinstance(name, str) or name not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}{meant(name, FAMILIES)}")
    return FAMILIES[name]


def policy_called(name: str) -> Callable[..., Any]:
    """The policy of this name: one of ours, or anyone's as ``module:Class``."""
    if isinstance(name, str) and name in POLICIES:
        return POLICIES[name]
    module, colon, attribute = str(name).partition(":")
    if not colon:
        raise ValueError(
            f"policy must be module:Class or one of {', '.join(POLICIES)}{meant(name, POLICIES)}"
        )
    if not IMPORTS.get():
        raise ValueError(
            f"policy {name!r} is code outside of soids, which is imported only to run an "
            "experiment file: if you trust it, add --trust"
        )
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # a module of others may raise anything
        raise ValueError(
            f"policy {name!r} must be a class in the working directory, in PYTHONPATH, installed, "
            "or in the folder of an experiment, and in no folder of results: "
            f"{str(error).partition(chr(10))[0]}"
        ) from None
    is_class = isinstance(found, type) and all(
        callable(getattr(found, verb, None)) for verb in ("choose", "observe")
    )
    if not is_class and not isinstance(found, Family):
        raise ValueError(f"policy {name!r} must be a class with choose and observe, got {found!r}")
    return found  # type: ignore[no-any-return]
