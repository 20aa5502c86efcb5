"""The assumptions of Theorems 2 and 3 about a policy, and which of them a policy violates.

The theorems are about an l1 norm of at most 1, actions in [-1, 1]^d and 1-sub-Gaussian noise. Other
rewards count in units of ``noise``, which must be at least radius times action bound.
"""

import warnings
from collections.abc import Iterator
from typing import Any

from soids.evidence import Menu

ETA = 0.25  # the power of the likelihood that the theorems are about
RICH = ("rich", "theorem3_rich")  # the data-rich halves of Theorems 2 and 3
THEOREM2 = ("theorem2", "rich")
THEOREM3 = ("theorem3", "theorem3_rich")
ROUNDING = 1e-9  # relative


def check_coverage(policy: Any) -> None:
    """Refuse settings that no theorem covers if an action bound is given; else warn of the rate."""
    by_name = policy.rate if isinstance(policy.rate, str) else "its own"
    if policy.action_bound is None and by_name not in THEOREM2 + THEOREM3:
        return
    reasons = list(shortfalls(policy))
    if reasons and policy.action_bound is not None:
        raise ValueError(
            f"{reasons[0]} (an action_bound holds a policy to what the theorems assume)"
        )
    if reasons:
        text = f"rate {by_name!r} without the theorem: {'; '.join(reasons)}. The presets theorem2"
        text += " and theorem3 of SOIDS and FGTS set all of it"
        warnings.warn(text, RuntimeWarning, stacklevel=5)


def shortfalls(policy: Any) -> Iterator[str]:
    """What keeps the theorems from covering a policy, each in a sentence with the remedy."""
    if policy.rate not in policy.proven:
        known = f"one of {', '.join(policy.proven)}" if policy.proven else "that of SOIDS or FGTS"
        yield f"rate must be {known} for a theorem to cover {policy.name}, got {policy.rate!r}"
    if policy.posterior != "subset":
        yield f"posterior must be 'subset', the theorems' prior, got {policy.posterior!r}"
    for name in ("sparsity", "radius", "noise"):
        if getattr(policy, name) is None:
            yield f"{name} must be given for a theorem to cover the policy, got None"
    if policy.rate in THEOREM3 and 2 * (policy.sparsity or 0) > policy.dimension:
        half = f"at most half the dimension {policy.dimension} for Theorem 3"
        yield f"sparsity must be {half}, got {policy.sparsity}"
    if policy.eta != ETA:
        yield f"eta must be {ETA}, the power of the likelihood in the theorems, got {policy.eta:g}"
    if policy.gain != "full":
        yield f"gain must be 'full', the theorems' information gain, got {policy.gain!r}"
    if policy.discount != 1.0:
        yield f"discount must be 1, as no theorem forgets rewards, got {policy.discount:g}"
    if policy.intercept:
        yield "intercept must be False, as the theorems' rewards have no base level, got True"
    if policy.budget_ms is not None:
        yield f"budget_ms must be left out, as it leaves moves undone, got {policy.budget_ms:g}"
    largest = (policy.radius or 0.0) * (policy.action_bound or 1.0)
    if policy.noise is not None and policy.noise < largest * (1.0 - ROUNDING):
        yield (
            f"noise must be at least the largest mean reward, radius times action_bound = "
            f"{largest:g}, since the theorems count rewards in units of at least that, got "
            f"{policy.noise:g}"
        )


def warn_of_large(policy: Any, menu: Menu) -> None:
    """Warn if a theorem's rate assumes smaller actions than these."""
    if policy.rate not in THEOREM2 + THEOREM3 or policy.radius is None or policy.noise is None:
        return
    if policy.radius * menu.largest > policy.noise * (1.0 + ROUNDING):
        text = f"rate {policy.rate!r} without the theorem: mean rewards may reach radius times the "
        text += "largest feature, which exceeds the noise that they are counted in. The presets "
        text += "theorem2 and theorem3 of SOIDS and FGTS take an action_bound"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def check_fixed(menu: Menu, last: Menu | None, action_bound: float) -> None:
    """Refuse actions that are larger than they may be, or other actions than last time."""
    if menu.largest > action_bound * (1.0 + ROUNDING):
        raise ValueError(
            f"actions must have features of at most action_bound = {action_bound:g} in size, "
            f"got {menu.largest:g}: give a larger action_bound"
        )
    if last is not None and menu is not last:
        raise ValueError(
            "actions must be the same in every round, got other actions than before: the theorems "
            "are about one set of actions; SOIDS(...) without an action_bound takes any"
        )
