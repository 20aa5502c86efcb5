"""Estimators of a target policy's mean reward from the choices of a logging policy.

Notation, (n,) each
    weights    probability of the chosen action under the target, over that under the logging policy
    rewards    of the chosen actions
    predicted  a model's rewards of the chosen actions
    expected   the model's mean reward over the target's distribution

All estimators but the direct method are averages of independent terms, or ratios of such averages.
Their intervals are Student's t after Hall's transformation (1992), which removes the skewness:
terms are mostly zero and sometimes large, and the largest may not have occurred yet, so the usual
interval ends too low. docs/replay.md has the coverage of both, and why other intervals are not
used.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from soids.arrays import Floats, as_floats, as_share

WEIGHTLESS = "no weight is above zero"
DOMINANT = 0.5  # share of one term in the variance, beyond which no interval is given


class Estimate(NamedTuple):
    """An estimate of a policy's mean reward."""

    method: str
    value: float
    error: float  # standard error; for the direct method, of the sample only
    low: float | None = None  # ends of the interval, if there is one
    high: float | None = None
    doubt: str = ""  # why there is no interval

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.method} {self.value:.4g}, no interval: {self.doubt or 'none exists'}"
        return f"{self.method} {self.value:.4g} ({self.low:.4g} to {self.high:.4g})"

    def without_interval(self, doubt: str) -> "Estimate":
        return self._replace(low=None, high=None, doubt=doubt)


def ips(weights: Floats, rewards: Floats, confidence: float = 0.95) -> Estimate:
    """Inverse propensity scores (Horvitz and Thompson 1952): the mean of weighted rewards.

    Unbiased if the logging policy gives every action some probability that the target does.

    >>> ips(np.array([2.0, 0.0]), np.array([1.0, 5.0])).value
    1.0
    """
    weights, rewards = paired(weights=weights, rewards=rewards)
    return mean_of("IPS", weights * rewards, confidence)


def snips(weights: Floats, rewards: Floats, confidence: float = 0.95) -> Estimate:
    """Self-normalised IPS (Swaminathan and Joachims 2015): over the sum of weights, not n.

    Biased by O(1/n), mostly far less variable; a constant added to all rewards is added to it.

    >>> snips(np.array([2.0, 1.0]), np.array([1.0, 4.0])).value
    2.0
    """
    weights, rewards = paired(weights=weights, rewards=rewards)
    if not weights.any():
        return Estimate("SNIPS", math.nan, math.nan, doubt=WEIGHTLESS)
    value, influences = snips_terms(weights, rewards)
    return shifted(mean_of("SNIPS", influences, confidence), value)


def snips_terms(weights: Floats, rewards: Floats) -> tuple[float, Floats]:
    """The estimate, and the influence (n,) of each round on it; influences sum to zero.

    By the delta method: with v the ratio of two means, its error is the mean of w (r - v), over the
    mean weight, up to O(1/n). Not every weight is zero.
    """
    shares = weights / weights.sum()
    value = float(shares @ rewards)
    return value, len(weights) * shares * (rewards - value)


def direct(expected: Floats) -> Estimate:
    """The direct method: a model's mean reward under the target.

    The standard error does not contain the error of the model, so there is no interval.
    """
    (expected,) = paired(expected=expected)
    deviation = float(expected.std(ddof=1)) if len(expected) > 1 else math.nan
    doubt = "the error of its model is unknown"
    return Estimate("DM", float(expected.mean()), deviation / math.sqrt(len(expected)), doubt=doubt)


def doubly_robust(
    weights: Floats, rewards: Floats, predicted: Floats, expected: Floats, confidence: float = 0.95
) -> Estimate:
    """Doubly robust (Dudik, Langford, Li 2011): the model, corrected by its weighted errors.

    Unbiased where IPS is, for any model, and less variable if the model is good. The model must not
    be fitted to the rewards that correct it.
    """
    arrays = paired(weights=weights, rewards=rewards, predicted=predicted, expected=expected)
    weights, rewards, predicted, expected = arrays
    terms = robust_terms(weights, rewards, predicted, expected)
    estimate = mean_of("DR", terms, confidence)
    counted = rewards[weights > 0.0]
    if not len(counted) or np.ptp(counted) == 0.0:
        # The model's errors then look small because none was observed, not because there are none.
        return estimate.without_interval("all rewards of positive weight are equal: too few rounds")
    return estimate


def robust_terms(
    weights: Floats, rewards: Floats, predicted: Floats, expected: Floats
) -> Floats:  # (n,)
    """What each round adds to the doubly robust estimate."""
    return expected + weights * (rewards - predicted)


def paired(**arrays: Floats) -> tuple[Floats, ...]:
    """Finite arrays of one length; weights are at least zero."""
    checked = {name: as_floats(array, name) for name, array in arrays.items()}
    (name, first), *others = checked.items()
    if first.ndim != 1 or not len(first):
        raise ValueError(f"{name} must have shape (n,), n at least 1, got {first.shape}")
    for other, array in others:
        if array.shape != first.shape:
            raise ValueError(f"{other} must have shape {first.shape} as {name}, got {array.shape}")
    for k in np.flatnonzero(checked.get("weights", np.ones(1)) < 0.0)[:1]:
        raise ValueError(f"weights must be at least 0, got {checked['weights'][k]:g}")
    return tuple(checked.values())


def mean_of(method: str, terms: Floats, confidence: float = 0.95) -> Estimate:
    """The mean of independent terms, and an interval for their expectation."""
    confidence = as_share(confidence, "confidence")
    size, value = len(terms), float(terms.mean())
    if size < 2:
        return Estimate(method, value, math.nan, doubt="one round has no standard error")
    off = terms - value
    deviation = float(np.sqrt(off @ off / (size - 1)))
    error = deviation / math.sqrt(size)
    if deviation <= 1e-12 * max(1.0, abs(value)):
        return Estimate(method, value, error, doubt="all terms are equal: no standard error")
    scaled = off / deviation
    skewness = float(np.mean(scaled**3)) / math.sqrt(size)
    dominant = float(np.max(scaled**2)) / size
    if dominant > DOMINANT and size > 2:
        doubt = f"rests on a single round, which makes up {dominant:.0%} of the variance"
        return Estimate(method, value, error, doubt=doubt)
    reach = float(stdtrit(size - 1, 0.5 + 0.5 * confidence))
    low = value - error * unskewed(reach, skewness)
    high = value - error * unskewed(-reach, skewness)
    return Estimate(method, value, error, low, high)


def mean_difference(method: str, terms: Floats, confidence: float = 0.95) -> Estimate:
    """The mean of differences of terms: on each side the farther end of Student's and Hall's.

    Differences have both signs, so that their skewness is small and its estimate noisy: Hall's
    interval alone is then too short on one side.
    """
    estimate = mean_of(method, terms, confidence)
    if estimate.low is None or estimate.high is None:
        return estimate
    reach = estimate.error * float(stdtrit(len(terms) - 1, 0.5 + 0.5 * confidence))
    low = min(estimate.low, estimate.value - reach)
    return estimate._replace(low=low, high=max(estimate.high, estimate.value + reach))


def unskewed(quantile: float, skewness: float) -> float:
    """The studentised mean that Hall's cubic maps to a quantile, by the skewness over sqrt(n).

    >>> round(unskewed(-1.96, 0.3), 3), unskewed(-1.96, 0.0)
    (-2.65, -1.96)
    """
    bend = skewness / 3.0
    if abs(bend) < 1e-9:
        return quantile
    inside = 1.0 + 3.0 * bend * (quantile - 0.5 * bend)
    return (math.copysign(abs(inside) ** (1.0 / 3.0), inside) - 1.0) / bend


def shifted(estimate: Estimate, by: float) -> Estimate:
    low, high = (None if end is None else end + by for end in (estimate.low, estimate.high))
    return estimate._replace(value=estimate.value + by, low=low, high=high)
