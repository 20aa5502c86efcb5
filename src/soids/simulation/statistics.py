"""How policies compare: summaries, paired differences and curves, each with its uncertainty.

Regret means the cumulative regret at the horizon; intervals are 95 % confidence intervals of means
over seeds. The bootstrap has a fixed seed: the same results give the same numbers.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from soids.arrays import Floats, Ints, as_count, as_floats, as_share
from soids.simulation.results import Panel, Part, Runs, policies_of

RESAMPLES = 4999
SEED = 0  # of the resampling
BLOCK = 1_000_000  # numbers resampled at a time
FEW = 6  # the resamples of fewer values do not reach the ends of an interval

BETTER, WORSE, UNDECIDED = "less regret", "more regret", "no claim"


class Interval(NamedTuple):
    """A confidence interval of a mean; both ends are NaN for a single value."""

    low: float
    high: float


def interval(values: object, level: float = 0.95) -> Interval:
    """A bootstrap interval of the mean of independent values (N,).

    This is BCa with widened levels (Hesterberg 2015), for fewer than six values Student's interval.
    At ten seeds and 95 % it covers 94 % of the time for Gaussian values and 92 % for exponential
    ones, where plain BCa covers 90 % and 88 %; heavier tails are covered less. It stays in the
    range of the values; the bootstrap-t reaches far beyond it if one of ten seeds is an outlier.

    >>> low, high = interval([3.0, 5.0, 4.0, 6.0, 4.5, 3.5, 5.5, 12.0])
    >>> round(low, 1), round(high, 1)
    (4.1, 9.8)
    """
    sample = as_floats(values, "values")
    if sample.ndim != 1 or len(sample) == 0:
        raise ValueError(f"values must have shape (N,) with N at least 1, got {sample.shape}")
    # In ascending order, so that the order of the seeds does not matter.
    return sorted_interval(tuple(np.sort(sample).tolist()), as_share(level, "level"))


def regret_interval(regret: Floats) -> Interval:
    """The interval of a mean regret: at least zero, unless some regret is negative."""
    low, high = interval(regret)
    return Interval(0.0, high) if low < 0.0 <= regret.min() else Interval(low, high)


@lru_cache(maxsize=10_000)  # tables, figures and reports need the same ones
def sorted_interval(values: tuple[float, ...], level: float) -> Interval:
    """The interval of values in ascending order."""
    sample = np.array(values)
    count, mean = len(sample), float(sample.mean())
    if count == 1:
        return Interval(math.nan, math.nan)
    if sample[0] == sample[-1]:
        return Interval(float(sample[0]), float(sample[0]))
    reach = float(stdtrit(count - 1, 0.5 + 0.5 * level))
    if count < FEW:
        half = reach * float(sample.std(ddof=1)) / math.sqrt(count)
        return Interval(mean - half, mean + half)
    means = resampled_means(sample)
    ends = corrected_levels(sample, means, reach * math.sqrt(count / (count - 1)))
    low, high = np.quantile(means, ends)
    return Interval(float(low), float(high))


def resampled_means(sample: Floats) -> Floats:
    """The means of samples with replacement, drawn in blocks of bounded memory."""
    rng, means = np.random.default_rng(SEED), np.empty(RESAMPLES)
    rows = max(1, BLOCK // len(sample))
    for first in range(0, RESAMPLES, rows):
        part = means[first : first + rows]
        part[:] = sample[rng.integers(len(sample), size=(len(part), len(sample)))].mean(axis=1)
    return means


def corrected_levels(sample: Floats, means: Floats, reach: float) -> list[float]:
    """The levels of the resampled means that replace those ``reach`` from the centre."""
    centre, steps = sample.mean(), sample - sample.mean()
    below = (np.mean(means < centre) + np.mean(means <= centre)) / 2.0
    bias = float(ndtri(np.clip(below, 1.0 / len(means), 1.0 - 1.0 / len(means))))
    skew = float((steps**3).sum() / (6.0 * (steps**2).sum() ** 1.5))
    shifted = (bias - reach, bias + reach)
    # At the pole of the correction no quantile is far enough out.
    return [float(ndtr(bias + z / max(1.0 - skew * z, 1e-9))) for z in shifted]


class Summary(NamedTuple):
    """The regret and the time of one policy on one problem."""

    panel: str
    policy: str
    seeds: int
    mean: float
    sd: float  # NaN for one seed, as are the next three
    error: float  # standard error of the mean
    low: float  # the ends of its interval
    high: float
    median: float
    decile: float  # the quantiles 0.1
    last_decile: float  # and 0.9 over seeds
    best: float
    worst: float
    worst_seeds: tuple[int, ...]
    milliseconds: float  # per decision, of the median seed


def summarise(panel: Panel) -> list[Summary]:
    """Summaries of all policies with a finished trial, in the order of the panel."""
    return [summary(panel.title, policy, runs) for policy, runs in panel.played.items()]


def summary(panel: str, policy: str, runs: Runs) -> Summary:
    """The summary of one policy on one problem."""
    final, seeds = runs.final, len(runs.final)
    sd = float(final.std(ddof=1)) if seeds > 1 else math.nan
    worst_seeds = tuple(sorted(runs.seeds[final == final.max()].tolist()))
    milliseconds = 1000.0 * float(np.median(runs.seconds)) / int(runs.rounds[-1])
    ends = regret_interval(final)
    best, decile, median, last_decile, worst = map(
        float, np.quantile(final, [0.0, 0.1, 0.5, 0.9, 1.0])
    )
    return Summary(
        panel, policy, seeds, float(final.mean()), sd, sd / math.sqrt(seeds), *ends, median,
        decile, last_decile, best, worst, worst_seeds, milliseconds,
    )  # fmt: skip


class Difference(NamedTuple):
    """The regret of one policy minus that of another, on the seeds that both have played."""

    panel: str
    policy: str
    reference: str
    seeds: int
    mean: float
    low: float
    high: float
    won: int  # seeds on which the policy had less regret
    tied: int
    verdict: str


def compare(panel: Panel, reference: str) -> list[Difference]:
    """Every other policy against the reference, where they have seeds in common.

    No claim is made if the interval contains zero, nor for a single seed. The intervals are not
    corrected for multiple comparisons: of twenty between equals, one is expected to make a claim.
    """
    if reference not in panel.runs:
        raise ValueError(
            f"reference must be a policy of the panel, one of {list(panel.runs)}, got {reference!r}"
        )
    others = (policy for policy in panel.runs if policy != reference)
    differences = (difference(panel, policy, reference) for policy in others)
    return [found for found in differences if found is not None]


def difference(panel: Panel, policy: str, reference: str) -> Difference | None:
    """One policy against another, or None if they have no seed in common."""
    ours, theirs = panel.runs[policy], panel.runs[reference]
    seeds, here, there = np.intersect1d(ours.seeds, theirs.seeds, return_indices=True)
    if len(seeds) == 0:
        return None
    paired = ours.final[here] - theirs.final[there]
    ends, mean = interval(paired), float(paired.mean())
    excludes_zero = ends.low > 0.0 or ends.high < 0.0
    chance = len(seeds) < FEW and ends.low == ends.high  # a few differences may well be equal
    claim = BETTER if mean < 0.0 else WORSE
    return Difference(
        panel.title, policy, reference, len(seeds), mean, *ends,
        won=int((paired < 0.0).sum()), tied=int((paired == 0.0).sum()),
        verdict=claim if excludes_zero and not chance else UNDECIDED,
    )  # fmt: skip


class Curve(NamedTuple):
    """The cumulative regret of one policy on one problem over rounds, (P,) each."""

    rounds: Ints
    mean: Floats
    sd: Floats  # zero for one seed: there is no band to draw
    decile: Floats
    median: Floats
    last_decile: Floats


def curve(runs: Runs, points: int = 200) -> Curve:
    """The distribution of the regret over seeds, at evenly spaced rounds."""
    count = len(runs.rounds)
    kept = np.unique(np.linspace(0, count - 1, min(as_count(points, "points", 2), count)).round())
    regret = runs.regret[:, kept.astype(np.int64)]
    decile, median, last_decile = np.quantile(regret, [0.1, 0.5, 0.9], axis=0)
    sd = regret.std(axis=0, ddof=1) if len(regret) > 1 else np.zeros(len(kept))
    rounds = runs.rounds[kept.astype(np.int64)]
    return Curve(rounds, regret.mean(axis=0), sd, decile, median, last_decile)


def curves(panel: Panel, points: int = 200) -> dict[str, Curve]:
    """The curves of all policies with a finished trial."""
    return {policy: curve(runs, points) for policy, runs in panel.played.items()}


def reference_of(panels: list[Panel]) -> str:
    """The policy that others are compared with: the first one with a finished trial."""
    played = {policy for panel in panels for policy in panel.played}
    return next(policy for policy in policies_of(panels) if policy in played)


def ranked(panels: list[Panel]) -> list[str]:
    """The policies with a finished trial, by their mean rank over panels, least regret first."""
    places: dict[str, list[float]] = {}
    for panel in panels:
        means = {policy: runs.final.mean() for policy, runs in panel.played.items()}
        for place, policy in enumerate(sorted(means, key=means.__getitem__)):
            places.setdefault(policy, []).append(place / len(means))
    return sorted(places, key=lambda policy: sum(places[policy]) / len(places[policy]))


def order_of(part: Part) -> list[str]:
    """The policies with a finished trial, as the figure lists them or else as they are ranked."""
    found, listed = ranked(part.panels), policies_of(part.panels)
    return [policy for policy in listed if policy in found] if part.figure.policies else found
