"""Sequential Monte Carlo: particles carried from round to round (docs/sampler.md section 7).

The moves leave a *relaxed* target invariant, in which a log-sum-exp replaces the best reward and
supports may be one larger than allowed. A second weight, at most one if all actions are arms, leads
from the relaxed to the true target. When the evidence or the learning rate changes, particles are
weighted by the ratio of the two targets. If too few effective particles remain, they are resampled
and all move; otherwise some move in turn. If a batch of rewards leaves too few effective particles,
the sampler restarts from the prior.
"""

import math
import time

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp

from soids.arrays import Bools, Floats
from soids.evidence import Menu
from soids.gram import Gram
from soids.kernels.density import fits, optimism
from soids.kernels.moves import relabel, sweep
from soids.kernels.moves.sweep import Pace
from soids.kernels.rewards import all_rewards, best_rewards
from soids.kernels.weights import effective_share, normalised, sizes
from soids.posteriors.arms import promising
from soids.posteriors.particle_system import BATCH, PER_PARTICLE, ParticleSystem, copied, some
from soids.posteriors.randomness import random_numbers
from soids.posteriors.target import Target
from soids.posteriors.unknowns import draw_radii, draw_variances

ALIVE = 0.5  # resample and move when the effective size falls under this share of the particles
ABRUPT = 0.1  # a step that leaves a smaller share is split into several steps
SURPRISE = 0.03  # a step that leaves a smaller share leads to a restart
LONG = 60  # maximum number of steps towards one target, before the sampler restarts
FREE = 8  # the same for each new reward, if that is less
LADDER = 12  # maximum number of steps after that, however few particles they leave
UPKEEP = 0.05  # share of the particles that are due to move at each target, so that none is stuck
SETTLED = 200  # rewards after which one reward more makes fewer particles due
# Only moves reach the new part of the range of a learned radius.
GROWTH = 5.0  # moves of a particle that become due while the whole range becomes new
OUTGROWN = 0.5  # if a larger share of the range is new, the sampler restarts
REDRAWN = 20  # maximum number of times that draws of the prior outside the ball are replaced
WARM_UP = 50  # sweeps without evidence if some draws are still outside
PROBE = 4  # particles moved first under a budget, to measure the time


def start(target: Target, particles: int, rng: Generator) -> ParticleSystem:
    """Particles of the prior, for a target without evidence."""
    prior, dimension = target.prior, len(target.moment)
    zeros, tilts = np.zeros(dimension), np.zeros_like(target.tilts)
    nothing = target._replace(
        gram=Gram.empty(dimension), moment=zeros, energy=0.0, rounds=0.0, drift=zeros, tilts=tilts
    )
    variances = draw_variances(prior.noise, np.zeros(particles), 0.0, rng)
    radii = np.full(particles, prior.radius.high)
    if prior.values.uniform_in_ball:
        radii *= (prior.radius.low / prior.radius.high) ** rng.random(particles)
        return placed(nothing, *prior.draw(radii, dimension, rng), variances)
    thetas, included = prior.draw(radii, dimension, rng)
    for _ in range(REDRAWN):
        outside = np.abs(thetas).sum(axis=1) > radii
        if not outside.any():
            break
        thetas[outside], included[outside] = prior.draw(radii[outside], dimension, rng)
    outside = np.abs(thetas).sum(axis=1) > radii
    thetas[outside], included[outside] = 0.0, False
    system = placed(nothing, thetas, included, variances)
    return moved(system, rng, WARM_UP) if outside.any() else system


def placed(target: Target, thetas: Floats, included: Bools, variances: Floats) -> ParticleSystem:
    """Evenly weighted particles at the given parameters."""
    rewards, zeros = all_rewards(thetas, target.columns), np.zeros(len(thetas))
    arms = promising(target, rewards)
    system = ParticleSystem(target, arms, thetas, included, variances, rewards, zeros, zeros, zeros)
    return evaluated(system)


def evaluated(system: ParticleSystem) -> ParticleSystem:
    """The same particles and weights, with their densities under their target."""
    target, prior, thetas = system.target, system.target.prior, system.thetas
    included, variances = system.included, system.variances
    squares, drifts = fits(thetas, target.gram.ready(thetas), target.moment, target.drift)
    soft, log_correction = optimism_of(system)
    log_density = soft - drifts - 0.5 * target.eta * (target.energy + squares) / variances
    if not prior.noise.known:
        shape = 0.5 * target.eta * target.rounds + prior.noise.shape + 1.0
        log_density -= shape * np.log(variances) + prior.noise.scale / variances
    for term in prior.log_terms(thetas, included):
        log_density += term
    return system._replace(log_density=log_density, log_correction=log_correction)


def optimism_of(system: ParticleSystem) -> tuple[Floats, Floats]:  # (M,) each
    """The optimism of the relaxed target, and the log of the true target over the relaxed one."""
    target = system.target
    best, soft = optimism(system.arms.of(system.rewards), system.arms.starts, target.tilts)
    if system.arms.indices is not None:
        best = best_rewards(system.rewards, target.starts) @ target.tilts
    log_correction = best - soft
    log_correction[sizes(system.included) > target.prior.largest] = -np.inf
    return soft, log_correction


def aimed(system: ParticleSystem, target: Target) -> ParticleSystem:
    """The same particles, weighted for another target."""
    rewards, arms = system.rewards, system.arms
    if target.columns is not system.target.columns:
        rewards = rewards_on_all(system, target.menus)
        arms = promising(target, rewards)
    return weighted(system, system._replace(target=target, rewards=rewards, arms=arms))


def rewards_on_all(system: ParticleSystem, menus: tuple[Menu, ...]) -> Floats:  # (M, N)
    """The rewards of the actions of some sets, side by side; those of the target are not new."""
    target, blocks = system.target, [np.empty((len(system.thetas), 0))]
    known = {id(menu): first for menu, first in zip(target.menus, target.starts, strict=False)}
    for menu in menus:
        if (first := known.get(id(menu))) is None:
            blocks.append(all_rewards(system.thetas, menu.columns))
        else:
            blocks.append(system.rewards[:, first : first + len(menu.actions)])
    return np.ascontiguousarray(blocks[-1]) if len(menus) == 1 else np.hstack(blocks)


def weighted(system: ParticleSystem, ahead: ParticleSystem) -> ParticleSystem:
    """The same particles, reweighted from one target to the next."""
    ahead = evaluated(ahead)
    gained = ahead.log_density - np.maximum(system.log_density, -1e300)  # zero weights stay zero
    return ahead._replace(log_weights=system.log_weights + gained)


def resampled(system: ParticleSystem, rng: Generator) -> ParticleSystem:
    """Equally weighted particles, kept in proportion to their weights (systematic resampling)."""
    size = len(system.thetas)
    ladder = (rng.random() + np.arange(size)) / size
    kept = np.minimum(np.searchsorted(np.cumsum(normalised(system.log_weights)), ladder), size - 1)
    gained = float(logsumexp(system.log_weights)) - math.log(size)
    even = np.zeros(size)
    return some(system, kept)._replace(log_weights=even, log_mass=system.log_mass + gained)


def moved(
    system: ParticleSystem, rng: Generator, sweeps: int = 1, pace: Pace = sweep.PARTICLES
) -> ParticleSystem:
    """The particles after some sweeps at a pace, which has no effect on ``relaxed``."""
    target, arms = system.target, system.arms
    rewards = arms.of(system.rewards)
    for _ in range(sweeps):
        system, rewards = swept(system, rewards, rng, pace)
    if arms.indices is not None:
        rewards = all_rewards(system.thetas, target.columns)
    return evaluated(system._replace(rewards=rewards))


def swept(
    system: ParticleSystem, rewards: Floats, rng: Generator, pace: Pace
) -> tuple[ParticleSystem, Floats]:
    """Parameters and noise after one sweep, and the rewards of the arms."""
    target, prior, arms = system.target, system.target.prior, system.arms
    size, dimension = system.thetas.shape
    radii = draw_radii(prior.radius, system.thetas, rng)
    powers = target.eta / system.variances
    if prior.values.spike_scale > 0.0:
        coordinates, uniforms = rng.random((size, dimension)), rng.random((size, len(target.tilts)))
        normals, rearms = rng.standard_normal((size, dimension)), rng.random((size, 2))
        labels = relabel.LabelNumbers(coordinates, uniforms, rearms, normals)
        arrays = target.arrays(target.gram.all_rows(), arms.columns, arms.starts)
        before = system.thetas, system.included, rewards
        thetas, included, rewards = relabel.sweep(*before, powers, arrays, labels)
    else:
        numbers = random_numbers(system.thetas, target, pace, rng)
        gram = target.gram.roomy(system.thetas)
        arrays = target.arrays(gram, arms.columns, arms.starts)
        thetas, rewards = sweep.sweep(system.thetas, rewards, radii, powers, arrays, numbers, pace)
        target.gram.remember(gram)
        included = thetas != 0.0
    variances = system.variances
    if not prior.noise.known:
        squares, _ = fits(thetas, target.gram.ready(thetas), target.moment, target.drift)
        misfits, rounds = target.eta * (target.energy + squares), target.eta * target.rounds
        variances = draw_variances(prior.noise, misfits, rounds, rng)
    return system._replace(thetas=thetas, included=included, variances=variances), rewards


def moved_for(system: ParticleSystem, rng: Generator, seconds: float) -> ParticleSystem:
    """The particles after the moves that are due, or as many as there is time for."""
    size, began, done = len(system.thetas), time.perf_counter(), 0
    owns_arrays = False  # others may hold the arrays of the argument
    while system.owed > 0:
        count = system.owed
        if seconds < math.inf:
            spent = max(time.perf_counter() - began, 1e-9)
            count = min(count, PROBE if done == 0 else int(done * (seconds - spent) / spent))
            if count < 1:
                break
        if system.turn == 0 and count >= size:
            count -= count % size
            system = moved(system, rng, count // size)
        else:
            count = min(count, size - system.turn)
            system, owns_arrays = system if owns_arrays else copied(system), True
            rows = slice(system.turn, system.turn + count)
            part = moved(some(system, rows), rng)
            for name in PER_PARTICLE:
                getattr(system, name)[rows] = getattr(part, name)
        system = system._replace(owed=system.owed - count, turn=(system.turn + count) % size)
        done += count
        if system.turn == 0:
            share = effective_share(system.log_weights + system.log_correction)
            system = system._replace(fresh=share if share > 0.0 else 1.0)
    return system


def advance(
    system: ParticleSystem, target: Target, rng: Generator, sweeps: int, seconds: float = math.inf
) -> ParticleSystem:
    """The particles for a new target, whose evidence includes that of the old one.

    Moves take little longer than the given seconds; the others are owed, and made later.
    """
    # A single reward leads to no restart, which takes long with thousands of features.
    may_start = target.rounds > system.target.rounds + 1 > 1 and seconds == math.inf
    new = max(1.0, target.rounds - system.target.rounds)
    free, steps, gone = min(LONG, math.ceil(FREE * new)), 0, 0.0
    if target.prior.radius.beyond(system.target.prior.radius) > OUTGROWN:
        system = start(target, len(system.thetas), rng)
    while system.target is not target:
        ahead = aimed(system, target)
        if np.isnan(ahead.log_weights).any():
            raise FloatingPointError("the posterior overflowed: rescale the rewards or the actions")
        share = effective_share(ahead.log_weights)
        if share < ABRUPT and steps < free + LADDER:  # else moves do what weights could not
            under_new_prior = aimed(system, system.target.towards(target, 0.0))
            steps += 1
            is_lost = effective_share(under_new_prior.log_weights) < ABRUPT or steps == free + 1
            if is_lost or (share < SURPRISE and may_start):
                system, may_start, gone = start(target, len(system.thetas), rng), False, 0.0
            rungs = free + LADDER - steps + 1
            ahead, gone = halfway(system, target, gone, rungs if steps > free else None)
        owed = sweeps * len(ahead.thetas)
        if ahead.target is not target or ahead.alive() < ALIVE:
            # Between two targets in any case, or the steps would become smaller and smaller.
            if ahead.arms.indices is not None:
                ahead = weighted(ahead, ahead._replace(arms=promising(ahead.target, ahead.rewards)))
            ahead = resampled(ahead, rng)._replace(turn=0)
        else:
            owed = min(owed, ahead.owed + upkeep(system, target))
        system = ahead._replace(owed=owed)
        if owed >= BATCH * len(ahead.thetas):
            before = time.perf_counter()
            system = moved_for(system, rng, seconds)
            seconds = max(0.0, seconds - (time.perf_counter() - before))
    return system


def upkeep(system: ParticleSystem, target: Target) -> int:
    """The number of particles that are due to move at the next target, whatever their weights."""
    new = max(1.0, target.rounds - system.target.rounds)
    share = UPKEEP * min(1.0, SETTLED * new / max(1.0, target.rounds))
    share += GROWTH * target.prior.radius.beyond(system.target.prior.radius)
    return math.ceil(share * len(system.thetas) - 1e-9)  # 1e-9: rounding


def halfway(
    system: ParticleSystem, target: Target, gone: float, rungs: int | None
) -> tuple[ParticleSystem, float]:
    """The particles for a target in between, which leaves half of them alive if any step does, and
    the share of the way that is then gone.

    If there are only some rungs left, a step is at least as long as on a geometric ladder of them.
    """
    reached = gone ** (1.0 - 1.0 / rungs) if rungs and gone > 0.0 else gone
    least, share = max(2.0**-30, (reached - gone) / (1.0 - gone)), 0.5
    while True:
        share = max(share, least)
        ahead = aimed(system, system.target.towards(target, share))
        if share == least or effective_share(ahead.log_weights) >= ALIVE:
            return ahead, gone + share * (1.0 - gone)
        share *= 0.5
