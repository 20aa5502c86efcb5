"""CPU time per effective sample of each sampler on a problem, and ratios to the time of ours.

All chains start from draws of the subset prior, which is far wider than the posterior. Our chains
grow until they agree; the others have one length. The first fifth of every chain is left out with
its time, and so is the time of adaptation; the numbers "in all" include both.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.problems import Problem
from benchmarks.samplers.chains import FOUR, Mixing, mixing_of
from benchmarks.samplers.walks import OURS, SAMPLERS, wide_starts
from soids.kernels.threads import one_thread

HOPELESS = 1.05  # R-hat from which effective sizes are not valid


class Effort(NamedTuple):
    """The length and the number of chains."""

    sweeps: int  # of ours, at first, and of Langevin
    patience: int  # factor by which our chains may grow
    draws: int  # of other libraries
    groups: int  # of four chains, of ours and of Langevin
    peer_groups: int  # of other libraries


class Measurement(NamedTuple):
    """A sampler on a problem."""

    sampler: str
    prior: str
    dimension: int
    rounds: int
    data: str
    settings: str
    draws: int
    rhat: float  # median of the groups
    rhat_worst: float
    milliseconds: float  # CPU time per effective sample
    milliseconds_in_all: float  # with adaptation and burn-in
    milliseconds_of_squares: float  # per effective sample of squared deviations
    weights: float  # their efficiency
    by_group: tuple[float, ...]  # milliseconds
    by_group_in_all: tuple[float, ...]

    @property
    def problem(self) -> tuple[int, int, str, str]:
        return self.dimension, self.rounds, self.data, self.settings

    @property
    def is_valid(self) -> bool:
        """Whether chains agree well enough for effective sizes, and so times, to be valid."""
        return self.rhat_worst < HOPELESS


class Ratio(NamedTuple):
    """The CPU time per effective sample of another sampler divided by that of one of ours."""

    sampler: str
    ours: str
    dimension: int
    rounds: int
    data: str
    settings: str
    ratio: float
    low: float  # 95 % interval over the groups
    high: float
    in_all: float  # the same with adaptation and burn-in
    in_all_low: float
    in_all_high: float
    is_valid: bool  # false where chains disagree

    @property
    def problem(self) -> tuple[int, int, str, str]:
        return self.dimension, self.rounds, self.data, self.settings


def measure(name: str, problem: Problem, effort: Effort, seed: int) -> Measurement:
    """Run the chains of a sampler, ours in one thread, and diagnose them."""
    rng = np.random.default_rng(seed)
    sampler = SAMPLERS[name]
    draws, groups = effort.sweeps, effort.groups
    if sampler.package is not None:
        draws, groups = effort.draws, effort.peer_groups
    starts = wide_starts(problem, FOUR * groups, rng)
    with one_thread():
        walk = sampler.walk(problem, starts, rng)
        mixing = mixing_of(walk, draws, effort.patience if sampler.grows else 1)
    return measurement(name, problem, mixing)


def measurement(name: str, problem: Problem, mixing: Mixing) -> Measurement:
    """The summary of all groups; times are geometric means."""
    return Measurement(
        name,
        SAMPLERS[name].prior,
        problem.dimension,
        problem.rounds,
        problem.data,
        problem.settings,
        mixing.draws,
        float(np.median(mixing.rhats)),
        max(mixing.rhats),
        float(stats.gmean(mixing.milliseconds)),
        float(stats.gmean(mixing.in_all)),
        float(stats.gmean(mixing.of_squares)),
        mixing.efficiency,
        tuple(mixing.milliseconds),
        tuple(mixing.in_all),
    )


def ratios(measurements: Iterable[Measurement]) -> Iterator[Ratio]:
    """Each of the other samplers over each of ours on the same problem."""
    found = list(measurements)
    for other, ours in product(found, found):
        if other.problem != ours.problem or other.sampler in OURS or ours.sampler not in OURS:
            continue
        yield Ratio(
            other.sampler,
            ours.sampler,
            *other.problem,
            *over(other.by_group, ours.by_group),
            *over(other.by_group_in_all, ours.by_group_in_all),
            other.is_valid and ours.is_valid,
        )


def over(others: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """The ratio of geometric means, and its 95 % interval by Welch's t on the logarithms.

    >>> [round(float(x), 2) for x in over([7.2, 8.0, 8.8], [2.0, 1.9, 2.1])]
    [3.99, 3.24, 4.92]
    >>> over([2.0, 2.0], [1.0, 1.0])  # equal times have no interval
    (2.0, nan, nan)
    """
    logs = np.log(others), np.log(ours)
    ratio = float(np.exp(logs[0].mean() - logs[1].mean()))
    if min(map(len, logs)) < 2 or max(map(np.ptp, logs)) == 0.0:
        return ratio, math.nan, math.nan
    low, high = stats.ttest_ind(*logs, equal_var=False).confidence_interval()
    return ratio, float(np.exp(low)), float(np.exp(high))
