"""A sparse prior: a law of sizes times a law of values, perhaps cut to an l1 ball."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from soids.arrays import Bools, Floats, Ints
from soids.kernels.moves.target import PriorNumbers
from soids.kernels.weights import normalised, sizes
from soids.posteriors.own_odds import OwnOdds, rearranged
from soids.posteriors.size_laws import SizeLaw
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import Draws, ValueLaw
from soids.records import check_arrays, check_numbers

ODDS = 1000.0  # most that the log prior odds of a feature may be, in size


class Prior(NamedTuple):
    """The product of both laws, and what is known of radius and noise."""

    log_odds: Floats  # (n,)  of growing a support of size k by one given feature; 2 R left out
    smallest: int
    largest: int  # sizes above it are visited by the moves and given weight zero
    values: ValueLaw
    radius: Span
    noise: Noise
    own_odds: Floats  # (d,)  log prior odds of each feature, besides those of the size

    @classmethod
    def of(cls, law: SizeLaw, values: ValueLaw, radius: Span, noise: Noise) -> "Prior":
        log_odds = law.log_odds(values.growth) + values.log_scale
        own_odds = np.zeros(law.dimension)
        return cls(log_odds, law.smallest, law.largest, values, radius, noise, own_odds)

    def validate(self) -> None:
        check_arrays(self, log_odds="n", own_odds="d")
        check_numbers(self, "own_odds", -ODDS, ODDS)
        check_numbers(self, "smallest largest", 0, max(1, len(self.log_odds)))

    def numbers(self) -> PriorNumbers:
        """The prior for the moves."""
        law = self.values
        settings = law.slab_precision, law.spike_scale, law.uniform_in_ball, law.lean
        return PriorNumbers(self.log_odds, self.smallest, *settings, self.own_odds)

    def log_size_law(self, dimension: int) -> Floats:  # (n + 1 - smallest,)
        """Log weight of all supports of each size, from the smallest on."""
        k = np.arange(1, len(self.log_odds) + 1)
        supports = (dimension + 1 - k) / (k * self.values.growth(k))  # and their balls
        law = np.cumsum(self.log_odds - self.values.log_scale + np.log(supports))
        law = law if self.smallest == 1 else np.concatenate([[0.0], law])
        if self.own_odds.any():
            means = OwnOdds.of(self.own_odds, len(self.log_odds)).log_means(dimension)
            law += means[self.smallest :]
        return law

    def log_lawful(self, dimension: int) -> float:
        """Log prior mass of the supports that are not too large."""
        if self.largest >= len(self.log_odds):
            return 0.0
        law = self.log_size_law(dimension)
        return float(logsumexp(law[: self.largest + 1 - self.smallest]) - logsumexp(law))

    def log_terms(self, thetas: Floats, included: Bools) -> Iterator[Floats]:
        """The terms (M,) of the log density that differ between particles or targets."""
        if not self.values.uniform_in_ball:  # whose scale may follow the rewards
            yield np.concatenate([[0.0], np.cumsum(self.log_odds)])[sizes(included)]
        if self.own_odds.any():
            yield included @ self.own_odds
        yield from self.values.log_terms(thetas, included, self.radius)

    def draw(self, radii: Floats, dimension: int, rng: Generator) -> Draws:
        """Parameters and labels (M, d), one for each radius; slabs are not restricted to it."""
        law = normalised(self.log_size_law(dimension))
        drawn: Ints = rng.choice(self.smallest + np.arange(len(law)), len(radii), p=law)
        draws = self.values.draw(drawn, radii, dimension, rng)
        if not self.own_odds.any():
            return draws
        supports = OwnOdds.of(self.own_odds, len(self.log_odds))
        return rearranged(*draws, [supports.draw(size, rng) for size in drawn])
