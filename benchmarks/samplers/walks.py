"""The samplers: our moves, the paper's Langevin sampler, and NUTS of other libraries."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.peers import is_installed
from benchmarks.problems import NOISE, RADIUS, Problem
from benchmarks.samplers import nuts
from benchmarks.samplers.chains import FOUR, WATCHED, Chains, Walk
from soids.arrays import Floats
from soids.evidence import Evidence
from soids.kernels.moves.sweep import CHAIN, PINNED_CHAIN, Pace
from soids.posteriors import Langevin, Subset, smc
from soids.posteriors.particle_system import ParticleSystem

SETTLING, TRIED = 100, 25  # sweeps before the pace of chains is chosen, and at each pace tried
MORE = 1.4  # times as many changes by glides as by flips: the data determine single values
OURS = ("subset", "spike_slab", "relaxed")


class Sampler(NamedTuple):
    """A function that starts chains at given parameters (4 * groups, d) on a posterior."""

    prior: str
    walk: Callable[[Problem, Floats, np.random.Generator], Walk]
    package: str | None = None  # that must be installed
    grows: bool = False  # until chains agree


def our_walk(prior: str, problem: Problem, starts: Floats, rng: np.random.Generator) -> Walk:
    """Our moves on one of our priors."""
    count, groups = len(starts), len(starts) // FOUR
    variances = np.full(count, NOISE**2)
    cloud = smc.placed(problem.target(prior), starts, starts != 0.0, variances)
    smc.moved(cloud, np.random.default_rng(0), pace=CHAIN)  # compiled before the clock starts
    began = time.process_time()
    cloud, pace = adapted(cloud, rng)
    adaptation = np.full(groups, (time.process_time() - began) / groups)

    def more(draws: int) -> Chains:
        nonlocal cloud
        # Written to, so that the memory is there before the clock starts.
        rewards, log_weights = np.full((draws, count, WATCHED), np.nan), np.empty((draws, count))
        began = time.process_time()
        for n in range(draws):  # without the densities, which chains do not need
            cloud, seen = smc.swept(cloud, cloud.rewards, rng, pace)
            cloud = cloud._replace(rewards=seen)
            rewards[n], log_weights[n] = seen[:, :WATCHED], smc.optimism_of(cloud)[1]
        spent = time.process_time() - began
        return Chains(rewards, log_weights, np.full(groups, spent / groups))

    return Walk(adaptation, more)


def adapted(cloud: ParticleSystem, rng: np.random.Generator) -> tuple[ParticleSystem, Pace]:
    """The chains after some sweeps, and their pace: the one with glides if they change more."""
    if cloud.target.prior.values.spike_scale > 0.0:  # the relaxed prior has one pace
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
    """The paper's sampler; it has no correction, so its chains agree on another distribution."""
    count, groups = len(starts), len(starts) // FOUR
    sampler = Langevin(problem.dimension, sparsity=problem.sparsity, noise=NOISE)
    target = problem.target("relaxed")
    pace = sampler.pace(target)
    chains = sampler.start(target, count, rng)._replace(thetas=starts)
    sampler.swept(chains, target, pace, np.random.default_rng(0))
    watched = target.columns[:, :WATCHED]

    def more(draws: int) -> Chains:
        nonlocal chains
        rewards = np.empty((draws, count, WATCHED))
        began = time.process_time()
        for n in range(draws):
            chains = sampler.swept(chains, target, pace, rng)
            rewards[n] = chains.thetas @ watched
        spent = time.process_time() - began
        return Chains(rewards, np.zeros((draws, count)), np.full(groups, spent / groups))

    return Walk(np.zeros(groups), more)


def nuts_walk(
    library: Callable[..., nuts.Nuts], problem: Problem, starts: Floats, rng: np.random.Generator
) -> Walk:
    """The No-U-Turn sampler of another library."""
    return nuts.walk(library, problem.target("relaxed"), starts, rng)


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


def wide_starts(problem: Problem, count: int, rng: np.random.Generator) -> Floats:
    """Draws of the subset prior."""
    nothing = Evidence.empty(problem.dimension)
    prior = Subset(problem.dimension, problem.sparsity, RADIUS, NOISE).prior(nothing)
    return prior.draw(np.full(count, RADIUS), problem.dimension, rng)[0]
