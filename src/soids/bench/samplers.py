"""Time per effective sample of the optimistic posterior: our moves beside the tools one could use.

All chains start from draws of the subset prior, far wider than any of these posteriors. Ours grow
until they agree, or patience ends; the others have one length. The first fifth of every chain is
left out, and so is its time; so is the time of adapting. With both it is given apart.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats

from soids.arrays import Floats
from soids.bench import is_installed, nuts
from soids.bench.chains import FOUR, WATCHED, Chains, Mixing, Walk, settle
from soids.bench.problems import NOISE, RADIUS, Problem
from soids.evidence import Evidence
from soids.kernels.rows import one_thread
from soids.kernels.sparse import CHAIN, PINNED_CHAIN, Pace
from soids.posteriors import Langevin, Subset, smc
from soids.posteriors.cloud import Cloud
from soids.posteriors.draws import uniform_in_balls

HOPELESS = 1.05  # R-hat
SETTLING, TRIED = 100, 25  # sweeps before the pace of chains is chosen, and of each kind tried
MORE = 1.4  # times as many changes by glides as by flips: single values are pinned
OURS = ("subset", "spike_slab", "relaxed")


class Sampler(NamedTuple):
    """Something that walks chains from given starts (4 * groups, d) under a problem's posterior."""

    prior: str
    walk: Callable[[Problem, Floats, np.random.Generator], Walk]
    package: str | None = None  # that must be installed
    grows: bool = False  # until chains agree


class Effort(NamedTuple):
    """How long chains are, and how many."""

    sweeps: int  # of ours and of Langevin, at first
    draws: int  # of other tools
    groups: int  # of four chains, of ours and of Langevin
    peer_groups: int  # of other tools, whose chains do not share a sweep's overhead
    patience: int  # times the first number of sweeps, where chains may grow


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
    milliseconds_in_all: float  # with burning in and adapting
    milliseconds_of_squares: float  # per effective sample of squared deviations
    weights: float  # their efficiency
    by_group: tuple[float, ...]  # milliseconds
    by_group_in_all: tuple[float, ...]

    @property
    def problem(self) -> tuple[int, int, str, str]:
        return self.dimension, self.rounds, self.data, self.settings


class Ratio(NamedTuple):
    """How much more CPU time an effective sample of a sampler takes than one of ours."""

    sampler: str
    ours: str
    dimension: int
    rounds: int
    data: str
    settings: str
    ratio: float
    low: float  # 95 % interval, by the spread over groups
    high: float
    in_all: float  # the same with burning in and adapting
    in_all_low: float
    in_all_high: float
    means_something: bool  # not where chains disagree: their effective size is then a fiction

    @property
    def problem(self) -> tuple[int, int, str, str]:
        return self.dimension, self.rounds, self.data, self.settings


def our_walk(prior: str, problem: Problem, starts: Floats, rng: np.random.Generator) -> Walk:
    """Our moves on one of our priors."""
    count, groups = len(starts), len(starts) // FOUR
    variances = np.full(count, NOISE**2)
    cloud = smc.placed(problem.target(prior), starts, starts != 0.0, variances)
    smc.moved(cloud, np.random.default_rng(0), pace=CHAIN)  # compiled before the clock starts
    began = time.process_time()
    cloud, pace = adapted(cloud, rng)
    adaptation = np.full(groups, (time.process_time() - began) / groups)

    def onward(draws: int) -> Chains:
        nonlocal cloud
        # Written to, so that the memory is there before the clock starts.
        rewards, log_truth = np.full((draws, count, WATCHED), np.nan), np.empty((draws, count))
        began = time.process_time()
        for n in range(draws):  # densities are of no use to chains
            cloud, seen = smc.swept(cloud, cloud.rewards, rng, pace)
            cloud = cloud._replace(rewards=seen)
            rewards[n], log_truth[n] = seen[:, :WATCHED], smc.optimism_of(cloud)[1]
        spent = time.process_time() - began
        return Chains(rewards, log_truth, np.full(groups, spent / groups))

    return Walk(adaptation, onward)


def adapted(cloud: Cloud, rng: np.random.Generator) -> tuple[Cloud, Pace]:
    """The chains after some sweeps, and the pace for them: do glides change more than flips?"""
    if cloud.target.prior.spike_scale > 0.0:  # there is but one pace
        return cloud, CHAIN
    cloud = smc.moved(cloud, rng, SETTLING, pace=CHAIN)
    changes = {0.0: 0, 1.0: 0}
    for joint in changes:
        for _ in range(TRIED):
            before = cloud.included
            cloud = smc.moved(cloud, rng, pace=CHAIN._replace(joint=joint))
            changes[joint] += int(np.count_nonzero(before != cloud.included))
    return cloud, PINNED_CHAIN if changes[1.0] > MORE * changes[0.0] else CHAIN


def langevin_walk(problem: Problem, starts: Floats, rng: np.random.Generator) -> Walk:
    """The paper's sampler, which is never corrected: its chains agree on something else."""
    count, groups = len(starts), len(starts) // FOUR
    sampler = Langevin(problem.dimension, sparsity=problem.sparsity, noise=NOISE)
    target = problem.target("relaxed")
    pace = sampler.pace(target)
    chains = sampler.start(target, count, rng)._replace(thetas=starts)
    sampler.swept(chains, target, pace, np.random.default_rng(0))
    watched = target.columns[:, :WATCHED]

    def onward(draws: int) -> Chains:
        nonlocal chains
        rewards = np.empty((draws, count, WATCHED))
        began = time.process_time()
        for n in range(draws):
            chains = sampler.swept(chains, target, pace, rng)
            rewards[n] = chains.thetas @ watched
        spent = time.process_time() - began
        return Chains(rewards, np.zeros((draws, count)), np.full(groups, spent / groups))

    return Walk(np.zeros(groups), onward)


def nuts_walk(
    tool: Callable[..., nuts.Nuts], problem: Problem, starts: Floats, rng: np.random.Generator
) -> Walk:
    """The No-U-Turn sampler of another tool."""
    return nuts.walk(tool, problem.target("relaxed"), starts, rng)


SAMPLERS: dict[str, Sampler] = {
    **{prior: Sampler(prior, partial(our_walk, prior), grows=True) for prior in OURS},
    "numpyro": Sampler("relaxed", partial(nuts_walk, nuts.numpyro_nuts), "numpyro"),
    "blackjax": Sampler("relaxed", partial(nuts_walk, nuts.blackjax_nuts), "blackjax"),
    "langevin": Sampler("relaxed", langevin_walk),
}


def is_missing(name: str) -> bool:
    """Whether a sampler's package is not installed."""
    package = SAMPLERS[name].package
    return package is not None and not is_installed(package)


def measure(name: str, problem: Problem, effort: Effort, seed: int) -> Measurement:
    """Run as many chains as the effort says, ours in one thread, and judge them."""
    rng = np.random.default_rng(seed)
    sampler = SAMPLERS[name]
    draws, groups = effort.sweeps, effort.groups
    if sampler.package is not None:
        draws, groups = effort.draws, effort.peer_groups
    starts = wide_starts(problem, FOUR * groups, rng)
    with one_thread():
        walk = sampler.walk(problem, starts, rng)
        mixing = settle(walk, draws, effort.patience if sampler.grows else 1)
    return measurement(name, problem, mixing)


def wide_starts(problem: Problem, count: int, rng: np.random.Generator) -> Floats:
    """Draws of the subset prior."""
    nothing = Evidence.empty(problem.dimension)
    prior = Subset(problem.dimension, problem.sparsity, RADIUS, NOISE).prior(nothing)
    return uniform_in_balls(prior, np.full(count, RADIUS), problem.dimension, rng)


def measurement(name: str, problem: Problem, mixing: Mixing) -> Measurement:
    """What the groups show together; times are geometric means."""
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
    """Each of the others over each of ours on the same problem."""
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
            max(other.rhat_worst, ours.rhat_worst) < HOPELESS,
        )


def over(others: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """The ratio of geometric means, and its 95 % interval by Welch's t on the logarithms.

    >>> [round(float(x), 2) for x in over([7.2, 8.0, 8.8], [2.0, 1.9, 2.1])]
    [3.99, 3.24, 4.92]
    >>> over([2.0, 2.0], [1.0, 1.0])  # no spread, no interval
    (2.0, nan, nan)
    """
    logs = np.log(others), np.log(ours)
    ratio = float(np.exp(logs[0].mean() - logs[1].mean()))
    if min(map(len, logs)) < 2 or max(map(np.ptp, logs)) == 0.0:
        return ratio, math.nan, math.nan
    low, high = stats.ttest_ind(*logs, equal_var=False).confidence_interval()
    return ratio, float(np.exp(low)), float(np.exp(high))
