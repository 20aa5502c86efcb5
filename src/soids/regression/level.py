"""Whether rewards have a base level that no regression on the actions explains.

An intercept that is not needed is not free: the first reward then teaches nothing. So it enters the
model when the rewards ask for it, and stays (docs/intercept.md).
"""

import math

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from soids.arrays import Bools, Floats
from soids.evidence import Evidence
from soids.gram import Gram

ODDS = 20.0  # posterior odds of an intercept, from even ones, at which it enters
CLEAR = 0.1  # the noise as a share of the rewards' variance, as if the actions explained the rest
OFTEN = 16  # rewards up to which each is looked at; later ones at eight times in each doubling
ALONE = 5  # rewards of one action alone after which it enters in any case
STEPS = 50  # maximum number of steps of the conjugate gradients


def level_is_due(before: Evidence, evidence: Evidence) -> bool:
    """Whether to ask if a level shows in the evidence, after what was known before."""
    if evidence.centred or evidence.rounds <= 1:
        return False
    if evidence.rounds <= OFTEN or evidence.fading or before.rounds < 1:
        return True
    return int(8.0 * math.log2(before.rounds)) < int(8.0 * math.log2(evidence.rounds))


def level_shows(evidence: Evidence) -> bool:
    """Whether an intercept is likely enough, by the t test of its estimate as a Bayes factor.

    >>> evidence, rng = Evidence.empty(2), np.random.default_rng(0)
    >>> for _ in range(5):
    ...     evidence = evidence.note(rng.standard_normal(2), 10.0 + rng.standard_normal())
    >>> level_shows(evidence)
    True
    """
    if are_alike(evidence):  # it must learn that others earn as much
        return evidence.rounds >= ALONE
    return log_bayes_factor(evidence) > math.log(ODDS)


def are_alike(evidence: Evidence) -> bool:
    """Whether the same action was played all the time."""
    squares = float(evidence.centre @ evidence.total)
    return float(evidence.played.diagonal.sum()) - squares <= 1e-9 * squares


def constants(evidence: Evidence) -> Bools:  # (d,)
    """The columns that are constant in the last action set, and in all actions played."""
    if not evidence.menus:
        return np.zeros(len(evidence.moment), dtype=np.bool_)
    actions, squares = evidence.menus[-1].actions, evidence.played.diagonal
    spread = np.abs(squares - evidence.centre * evidence.total)
    same: Bools = (actions == actions[0]).all(axis=0) & (spread <= 1e-9 * squares)
    return same


def log_bayes_factor(evidence: Evidence) -> float:
    """The log odds of an intercept against none, from even ones; zero if all rewards are equal.

    The intercept is estimated by a ridge regression about the means. Given the noise it is normal,
    so under an inverse gamma prior without information it has a t distribution. The prior standard
    deviation of an intercept is the size of the rewards.
    """
    t, mean, level, gram = evidence.rounds, evidence.centre, evidence.level, evidence.played
    moment, energy = evidence.moment - t * level * mean, evidence.energy - t * level**2
    trace = float(gram.diagonal.sum()) - t * float(mean @ mean)
    if energy <= 1e-14 * evidence.energy:
        return 0.0
    penalty = CLEAR * trace / t

    varied = np.where(constants(evidence), 0.0, mean)  # what never changes explains nothing else
    along, theta = solved(gram, penalty, t, mean, varied, moment)
    unexplained = max(energy - float(moment @ theta), 1e-12 * energy)
    degrees = t - 1.0
    variance = unexplained / degrees * (1.0 / t + float(varied @ along))
    square = (level - float(varied @ theta)) ** 2 / (degrees * variance)
    wider = 1.0 + evidence.energy / t / variance  # the variance under the prior, over this one
    factor = math.log1p(square) - math.log1p(square / wider)
    return 0.5 * (t * factor - math.log(wider))


def solved(
    gram: Gram, penalty: float, rounds: float, mean: Floats, *vectors: Floats
) -> list[Floats]:  # (d,) each
    """Vectors times the inverse of the ridge regression's precision about the means."""
    if gram.is_whole:
        precision = gram.dense() - rounds * np.outer(mean, mean)
        precision[np.diag_indices_from(precision)] += penalty
        return list(np.linalg.solve(precision, np.column_stack(vectors)).T)

    def times(vector: Floats) -> Floats:
        return gram.times(vector) + penalty * vector - rounds * float(mean @ vector) * mean

    product = LinearOperator((len(mean), len(mean)), matvec=times, dtype=np.float64)
    return [cg(product, vector, maxiter=STEPS)[0] for vector in vectors]
