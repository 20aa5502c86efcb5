"""A posterior by its name, as files and command lines have it."""

import tomllib
from collections.abc import Collection
from dataclasses import fields
from typing import Any

from soids.posteriors.gaussian import Gaussian
from soids.posteriors.langevin import Langevin
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.spike_slab import SpikeSlab
from soids.posteriors.subset import Ample, Broad, Subset
from soids.spelling import meant

POSTERIORS: dict[str, type[Any]] = {
    "subset": Subset,
    "broad": Broad,
    "ample": Ample,
    "spike_slab": SpikeSlab,
    "relaxed": Relaxed,
    "gaussian": Gaussian,
    "langevin": Langevin,
}


def posterior_called(text: str, dimension: int, **told: Any) -> Any:
    """The posterior of this name, with settings of its own in brackets, told what the policy was.

    >>> posterior_called("spike_slab(slab_variance = 0.5)", 3, sparsity=1)
    SpikeSlab(dimension=3, sparsity=1, radius=None, noise=None, slab_variance=0.5, spread=None)
    """
    name, bracket, inside = (part.strip() for part in text.partition("("))
    if name not in POSTERIORS:
        names = ", ".join(POSTERIORS)
        raise ValueError(f"posterior must be an object or one of {names}{meant(name, POSTERIORS)}")
    try:
        if bracket and (not inside.endswith(")") or set(inside) & set("{}#")):
            raise ValueError
        settings = tomllib.loads(f"all = {{{inside[:-1]}}}")["all"]
    except (ValueError, RecursionError):
        remedy = "spike_slab(slab_variance = 0.5)"
        raise ValueError(
            f"posterior must be as {remedy}, values as in TOML (true, 0.5), got {text!r}"
        ) from None
    own = own_settings(name, told)
    for setting in settings:
        if setting in told:
            raise ValueError(f"{setting} must be told to the policy, got it in {text!r}")
        if setting not in own:
            has = f"has the settings {', '.join(own)}" if own else "has no settings of its own"
            others = [other for other in POSTERIORS if setting in own_settings(other, told)]
            remedy = f" (a setting of {', '.join(others)})" if others else ""
            raise ValueError(f"posterior {name} {has}{meant(setting, own)}{remedy}")
    return POSTERIORS[name](dimension, **told, **settings)


def as_posterior(posterior: object, dimension: int, **told: Any) -> Any:
    """The posterior that an argument asks for: the one of a name, or an object as it is, checked.

    What is ``told`` belongs to a posterior that a name asks for; one of our own objects has it.
    """
    if isinstance(posterior, str):
        return posterior_called(posterior, dimension, **told)
    if getattr(posterior, "dimension", dimension) != dimension:
        theirs = getattr(posterior, "dimension", None)
        raise ValueError(f"posterior must be for dimension {dimension}, got {theirs}")
    updates = callable(getattr(posterior, "update", None))
    if isinstance(posterior, type | dict) or not updates:
        remedy = ""
        if isinstance(posterior, dict):
            remedy = ": write 'spike_slab(spread = 0.25)'"
        elif isinstance(posterior, type) and updates:
            remedy = f": make one, {posterior.__name__}(...)"
        raise ValueError(
            f"posterior must be an object with a method update, got {posterior!r}{remedy}"
        )
    for name, value in told.items():
        if isinstance(posterior, tuple(POSTERIORS.values())) and value is not None:
            raise ValueError(
                f"{name} must be told to the posterior if that is an object, got {value!r} beside "
                f"{posterior!r}"
            )
    return posterior


def own_settings(name: str, told: Collection[str]) -> list[str]:
    """The settings that a posterior has beside what a policy tells all of them."""
    named = (field.name for field in fields(POSTERIORS[name]))
    return [setting for setting in named if setting not in ("dimension", *told)]
