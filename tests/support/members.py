"""Every policy in the dictionary, each with the settings that it needs."""

import inspect
from functools import partial

import pytest

from soids import POLICIES
from soids.posteriors import POSTERIORS

IN_UNITS = {"sparsity": 1, "radius": 2.0, "noise": 0.5}
NEEDED = {
    "soids_paper": {"sparsity": 1},
    "fgts_paper": {"sparsity": 1},
    "soids_theorem2": IN_UNITS,
    "soids_theorem3": IN_UNITS,
    "fgts_theorem2": IN_UNITS,
    "fgts_theorem3": IN_UNITS,
    "linucb": {"norm": 2.0},
    "frequentist_ids": {"norm": 2.0},
    "otcs": {"sparsity": 1, "radius": 2.0},
    "oracle_thompson": {"support": None},
    "estc": {"exploration": 20},
    "popart": {"reward_bound": 2.0, "exploration": 30},
    "popart_elimination": {"reward_bound": 2.0, "exploration": 30},
}
COVERED = [name for name, needed in NEEDED.items() if needed is IN_UNITS]  # one set of actions
WITHOUT_EVIDENCE = ("gaussian", "langevin")  # OTCS needs a width beside them
SPANNING = ("estc", "popart", "popart_elimination")  # they refuse action sets that do not span


def make(name, posterior, dimension, **given):
    """A policy, given what it needs and what else of this it takes."""
    family = POLICIES[name]
    settings = dict(NEEDED.get(name, {}))
    if "support" in settings:
        settings["support"] = (min(1, dimension - 1),)
    if posterior is not None:
        settings["posterior"] = posterior
    if name == "otcs" and posterior in WITHOUT_EVIDENCE:
        settings |= {"width": "unit_ball", "feature_bound": 10.0, "norm": 2.0}
    known = inspect.signature(family).parameters
    settings |= {setting: value for setting, value in given.items() if setting in known}
    return family(dimension, **settings)


def members(*without):
    """One parameter for each policy, times each posterior if it takes one."""
    return [
        pytest.param(
            partial(make, name, posterior), id=name if posterior is None else f"{name}-{posterior}"
        )
        for name, family in POLICIES.items()
        for posterior in (
            POSTERIORS if "posterior" in inspect.signature(family).parameters else [None]
        )
        if name not in without
    ]


def name_of(family):
    """The name of the policy that a parameter makes."""
    return family.args[0]


def rule_of(family):
    """The kind of rule that a policy of this name follows."""
    made_by = POLICIES[name_of(family)]
    return getattr(made_by, "__self__", made_by).rule  # the presets are methods of a family
