"""The checks of settings, by name: the same name means the same in every rule."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from soids.arrays import (
    SMALLEST,
    as_count,
    as_flag,
    as_number,
    as_positive,
    as_radius,
    as_share,
)  # fmt: skip
from soids.spelling import meant

MOST = 10_000_000  # features: more is a mistake, and would take hours
Check = Callable[[Any, str], Any]  # of a value and its name; returns the value as a plain number

as_scale: Check = partial(as_number, low=SMALLEST)  # the square of a scale is a divisor
as_size: Check = partial(as_number, low=0.0)

NAMES: dict[Check, str] = {
    as_count: "contexts exploration forced horizon restart sets sweeps",
    partial(as_count, high=MOST): "dimension",
    partial(as_count, low=0): "uniform",
    partial(as_count, low=2): "particles",
    as_flag: "intercept warm",
    as_share: "delta",
    as_scale: "concavity forced_penalty noise penalty ridge slab variance",
    as_size: "alpha chance complexity eta norm slack",
    as_positive: "action_bound budget_ms clip discount factor feature_bound reward_bound signal",
    lambda value, name: as_radius(value): "radius",
}
CHECKS = {name: check for check, names in NAMES.items() for name in names.split()}


def check_settings(rule: Any) -> None:
    """Check the fields of a rule; numbers of other kinds, such as NumPy's, become Python's."""
    checks = CHECKS | rule.checks
    for one in fields(rule):
        value = getattr(rule, one.name)
        if value is None and one.default is None:
            continue
        if one.name == "sparsity":
            value = as_count(value, "sparsity", 1, rule.dimension)
        elif one.name in checks:
            value = checks[one.name](value, one.name)
        assign(rule, **{one.name: value})


def assign(rule: Any, **settings: Any) -> None:
    """Set fields of a frozen rule while it is made."""
    for name, value in settings.items():
        object.__setattr__(rule, name, value)


def check_call(
    name: str, signature: inspect.Signature, args: Iterable[Any], settings: Mapping[str, Any]
) -> None:
    """Refuse arguments that do not fit, by the name that the user called."""
    known = signature.parameters
    for setting in settings:
        if setting not in known:
            raise TypeError(f"{name} has the settings {', '.join(known)}{meant(setting, known)}")
    try:
        signature.bind(*args, **settings)
    except TypeError as error:
        by_name = [one.name for one in known.values() if one.kind is one.KEYWORD_ONLY]
        is_many = "too many positional" in str(error) and by_name
        remedy = f": give settings by their names, as in {by_name[0]}=..." if is_many else ""
        raise TypeError(f"{name} cannot be made: {error}{remedy}") from None


def settings_of(rule: Any) -> dict[str, Any]:
    """The arguments that build a rule anew; each is kept under its own name."""
    return {name: getattr(rule, name) for name in parameters_of(type(rule))}


def parameters_of(kind: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a kind of rules that users may set."""
    known = inspect.signature(kind).parameters
    return {name: known[name] for name in kind.settings.split() or known}
