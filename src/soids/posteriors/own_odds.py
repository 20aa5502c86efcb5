"""Supports whose features have odds of their own: a support's weight has a factor for each feature.

Features with equal odds form a group. The weight of all supports of size k with l features of a
group factorises, so sums over supports are convolutions over groups.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln, logsumexp

from soids.arrays import Bools, Floats, Ints
from soids.kernels.weights import normalised


class OwnOdds(NamedTuple):
    """Groups of features, and the summed weights of the supports within the first few of them."""

    groups: tuple[Ints, ...]  # the features of each
    shares: tuple[Floats, ...]  # (n + 1,) each: log weight of all l features of the group
    tables: tuple[Floats, ...]  # (n + 1,) each: log weight of all k features of it and those before

    @classmethod
    def of(cls, own_odds: Floats, most: int) -> Self:
        """The groups of features with these log odds (d,), for supports of up to ``most``.

        >>> OwnOdds.of(np.log([1.0, 1.0, 3.0]), 2).tables[-1].round(6).tolist() == [
        ...     round(float(np.log(total)), 6) for total in (1, 1 + 1 + 3, 1 * 1 + 3 + 3)
        ... ]
        True
        """
        values = sorted(set(own_odds.tolist()), key=lambda odds: (odds != 0.0, odds))
        groups = tuple(np.flatnonzero(own_odds == odds) for odds in values)
        shares = tuple(
            log_binomials(len(group), most) + odds * np.arange(most + 1)
            for group, odds in zip(groups, values, strict=True)
        )
        tables = [shares[0]]
        for group, share in zip(groups[1:], shares[1:], strict=True):
            sums = [logsumexp(together(tables[-1], share, k, len(group))) for k in range(most + 1)]
            tables.append(np.array(sums))
        return cls(groups, shares, tuple(tables))

    def log_means(self, dimension: int) -> Floats:  # (n + 1,)
        """Log of the mean weight of the supports of each size."""
        counts = log_binomials(dimension, len(self.tables[-1]) - 1)
        means: Floats = self.tables[-1] - counts
        return means

    def draw(self, size: int, rng: Generator) -> Ints:  # (size,)
        """A support of this size, drawn in proportion to its weight."""
        parts, left = list[Ints](), size
        for g in range(len(self.groups) - 1, -1, -1):
            count = left
            if g > 0:
                law = together(self.tables[g - 1], self.shares[g], left, len(self.groups[g]))
                count = int(rng.choice(len(law), p=normalised(law)))
            parts.append(rng.choice(self.groups[g], count, replace=False))
            left -= count
        return np.concatenate(parts)


def together(before: Floats, share: Floats, size: int, members: int) -> Floats:
    """Log weights of ``size`` features, l of them of the last group, for each possible l."""
    counts = np.arange(min(size, members) + 1)
    weights: Floats = before[size - counts] + share[counts]
    return weights


def log_binomials(count: int, most: int) -> Floats:  # (most + 1,)
    """Log of the number of ways to choose 0, 1, .. features among ``count``."""
    k = np.arange(min(count, most) + 1)
    logs = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    return np.concatenate([logs, np.full(most - len(k) + 1, -np.inf)])


def rearranged(thetas: Floats, included: Bools, supports: list[Ints]) -> tuple[Floats, Bools]:
    """The same values (M, d) on other supports of the same sizes."""
    every = np.arange(thetas.shape[1])
    moved, labels = np.empty_like(thetas), np.zeros_like(included)
    for m, support in enumerate(supports):
        source = np.concatenate([np.flatnonzero(included[m]), np.flatnonzero(~included[m])])
        goal = np.concatenate([support, np.setdiff1d(every, support)])
        moved[m, goal] = thetas[m, source]
        labels[m, support] = True
    return moved, labels
