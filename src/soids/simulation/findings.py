"""A diagnosis in a few numbers."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.posteriors.smc import ABRUPT, ALIVE
from soids.simulation.diagnosis import Diagnosis

SURE = 0.95  # inclusion probability from which a feature counts as found
ROUNDING = 1e-9  # relative, by which a number may exceed its bound


class Findings(NamedTuple):
    """A diagnosis in a few numbers; None where the question makes no sense."""

    regret: float
    actions: int  # different ones that were played
    thin: int | None = None  # rounds in which less than half of the particles were effective
    resampled: int | None = None  # rounds
    tempered: int | None = None  # rounds in which less than a tenth of the particles were left
    found: int | None = None  # first round in which all features that matter are included
    lost: int | None = None  # later rounds in which one is not
    intruders: int | None = None  # features wrongly included in the end
    error: float | None = None  # l1 distance of the mean to the true parameter, in the end
    square_excess: int | None = None  # rounds in which the 2-ratio is above its bound
    cubic_excess: int | None = None
    regimes: dict[str, int] | None = None  # rounds in each


def find(seen: Diagnosis) -> Findings:
    """A diagnosis in a few numbers."""
    regret, actions = float(seen.trace.regret.sum()), len(np.unique(seen.trace.chosen))
    beliefs = seen.beliefs
    if beliefs is None:
        return Findings(regret, actions)
    share = beliefs.surviving / seen.particles
    weighted = not np.isnan(share).all()  # else nothing is ever reweighted
    held = np.all(beliefs.inclusion[:, seen.support] > SURE, axis=1)
    found = int(held.argmax()) if seen.selects and held.any() else None
    wrong = np.delete(beliefs.inclusion[-1], seen.support) > 0.5
    names, counts = np.unique(np.array(beliefs.regime), return_counts=True)
    return Findings(
        regret, actions,
        thin=int((beliefs.effective < 0.5 * seen.particles).sum()),
        resampled=int((share < ALIVE).sum()) if weighted else None,
        tempered=int((share < ABRUPT).sum()) if weighted else None,
        found=None if found is None else found + 1,
        lost=None if found is None else int((~held[found:]).sum()),
        intruders=int(wrong.sum()) if seen.selects else None,
        error=float(beliefs.error[-1]),
        square_excess=excess(seen.trace.ratio, beliefs.square_bound),
        cubic_excess=excess(beliefs.cubed, beliefs.cubic_bound),
        regimes={str(name): int(count) for name, count in zip(names, counts, strict=True) if name},
    )  # fmt: skip


def excess(values: Floats, bound: Floats) -> int | None:
    """In how many rounds a number is above its bound; None if it has none."""
    if np.isnan(bound).all():
        return None
    return int((values > bound * (1.0 + ROUNDING)).sum())
