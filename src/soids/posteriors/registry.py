"""Posteriors by name, as in experiment files and on command lines, or as objects."""

import tomllib
from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from numpy.random import Generator

from soids.evidence import Evidence
from soids.posteriors.gaussian import Gaussian
from soids.posteriors.langevin import Langevin
from soids.posteriors.posterior import Belief, Posterior
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.spike_slab import SpikeSlab
from soids.posteriors.subset import Ample, Broad, Subset
from soids.posteriors.target import Tuning
from soids.spelling import meant

POSTERIORS: dict[str, type[Posterior]] = {
    "subset": Subset, "broad": Broad, "ample": Ample, "spike_slab": SpikeSlab,
    "relaxed": Relaxed, "gaussian": Gaussian, "langevin": Langevin,
}  # fmt: skip


def posterior_called(text: str, dimension: int, **given: Any) -> Posterior:
    """The posterior of this name, with its own settings in brackets and those of the policy.

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
        raise ValueError(
            "posterior must be as spike_slab(slab_variance = 0.5), with values as in TOML "
            f"(true, 0.5), got {text!r}"
        ) from None
    own = own_settings(name, given)
    for setting in settings:
        if setting in given:
            raise ValueError(f"{setting} must be given to the policy, got it in {text!r}")
        if setting not in own:
            has = f"has the settings {', '.join(own)}" if own else "has no settings of its own"
            others = [other for other in POSTERIORS if setting in own_settings(other, given)]
            remedy = f" (a setting of {', '.join(others)})" if others else ""
            raise ValueError(f"posterior {name} {has}{meant(setting, own)}{remedy}")
    return POSTERIORS[name](dimension, **given, **settings)


def as_posterior(posterior: object, dimension: int, **given: Any) -> Posterior:
    """The posterior that an argument means: the one of this name, or a valid object.

    A ``Posterior`` has its own settings, so the policy must have none.
    """
    if isinstance(posterior, str):
        return posterior_called(posterior, dimension, **given)
    if (own := getattr(posterior, "dimension", dimension)) != dimension:
        raise ValueError(f"posterior must be for dimension {dimension}, got {own}")
    updates = callable(getattr(posterior, "update", None))
    if isinstance(posterior, type | dict) or not updates:
        remedy = ": write 'spike_slab(spread = 0.25)'" if isinstance(posterior, dict) else ""
        if isinstance(posterior, type) and updates:
            remedy = f": make one, {posterior.__name__}(...)"
        raise ValueError(
            f"posterior must be an object with a method update, got {posterior!r}{remedy}"
        )
    if not isinstance(posterior, Posterior):
        return Foreign(dimension, **given, inner=posterior)
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} must be given to the posterior if that is an object, got {value!r} beside "
                f"{posterior!r}"
            )
    return posterior


@dataclass(frozen=True)
class Foreign(Posterior):
    """An object with a method ``update``, and the settings of the policy."""

    in_ball: ClassVar[bool] = True

    inner: Any = None

    def update(self, belief: Any, evidence: Evidence, tuning: Tuning, rng: Generator) -> Belief:
        return self.inner.update(belief, evidence, tuning, rng)  # type: ignore[no-any-return]


def own_settings(name: str, given: Collection[str]) -> list[str]:
    """The settings of a posterior that a policy does not give."""
    named = (field.name for field in fields(POSTERIORS[name]))
    return [setting for setting in named if setting not in ("dimension", *given)]
