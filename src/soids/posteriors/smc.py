"""Sequential Monte Carlo: one cloud of particles carried from round to round, exactly weighted.

The moves leave invariant a *relaxed* target, in which the best reward is replaced by a log-sum-exp
and supports may be one larger than allowed; a particle's share in the true target is a weight on
top of it, at most one if all actions are arms. When evidence or learning rate change, particles are
weighted by the ratio of the two targets. Once too few of them matter they are resampled, and all
are moved; in between they are in turn. A cloud that many rewards at once surprise grows anew.
"""

import math
import time

import numpy as np
from scipy.special import logsumexp

from soids.arrays import Bools, Floats
from soids.evidence import Evidence, Menu
from soids.gram import Gram
from soids.kernels import relaxed, sparse
from soids.kernels.density import fits, optimism, twins
from soids.kernels.rewards import all_rewards, best_rewards
from soids.kernels.weights import effective_share, normalised, sizes
from soids.posteriors.arms import promising
from soids.posteriors.cloud import BATCH, PER_PARTICLE, Cloud, copied, some
from soids.posteriors.draws import (
    draw_radii,
    draw_variances,
    log_mass_of_balls,
    slabs_and_spikes,
    uniform_in_balls,
)
from soids.posteriors.luck import luck_for
from soids.posteriors.prior import Prior
from soids.posteriors.target import Target, Tuning

ALIVE = 0.5  # resample and move when the effective size falls under this share of the cloud
ABRUPT = 0.1  # a step that leaves fewer alive is taken in several
SURPRISE = 0.03  # a step that leaves fewer alive is no step of this cloud
LONG = 60  # steps to one target: from the prior it is not as far
# Of the particles this share is due to move at any target, so that no cloud is stuck for ever; less
# where all that is new is less than one reward in so many.
UPKEEP = 0.05
SETTLED = 200
# A learned radius may grow out of its old range. Weights know nothing of the new room, so particles
# are due to move, and if so much of the range is new, the cloud starts again.
GROWTH = 5.0  # moves of a particle that become due while the whole range moves up
OUTGROWN = 0.5
REDRAWN = 20  # times at most, what the prior draws outside of a ball
WARM_UP = 50  # sweeps that bring it in if need be
PROBE = 4  # particles moved first where time is short, to see how long they take


def start(target: Target, particles: int, rng: np.random.Generator) -> Cloud:
    """A cloud for the prior alone, in the shape of a target whose evidence is yet to come."""
    prior, dimension = target.prior, len(target.moment)
    nothing = target._replace(
        gram=Gram.empty(dimension), moment=np.zeros(dimension), energy=0.0, rounds=0.0,
        drift=np.zeros(dimension), tilts=np.zeros_like(target.tilts),
    )  # fmt: skip
    variances = draw_variances(prior, np.zeros(particles), 0.0, rng)
    radii = np.full(particles, prior.radius.high)
    if prior.uniform_in_ball:
        radii *= (prior.radius.low / prior.radius.high) ** rng.random(particles)
        thetas = uniform_in_balls(prior, radii, dimension, rng)
        return placed(nothing, thetas, thetas != 0.0, variances)
    thetas, included = slabs_and_spikes(prior, particles, dimension, rng)
    outside = np.abs(thetas).sum(axis=1) > radii
    for _ in range(REDRAWN):
        count = int(outside.sum())
        if count == 0:
            break
        thetas[outside], included[outside] = slabs_and_spikes(prior, count, dimension, rng)
        outside = np.abs(thetas).sum(axis=1) > radii
    thetas[outside], included[outside] = 0.0, False
    cloud = placed(nothing, thetas, included, variances)
    return moved(cloud, rng, WARM_UP) if outside.any() else cloud


def placed(target: Target, thetas: Floats, included: Bools, variances: Floats) -> Cloud:
    """An evenly weighted cloud at the given parameters."""
    rewards, zeros = all_rewards(thetas, target.columns), np.zeros(len(thetas))
    arms = promising(target, rewards)
    cloud = Cloud(target, arms, thetas, included, variances, rewards, zeros, zeros, zeros)
    return evaluated(cloud)


def evaluated(cloud: Cloud) -> Cloud:
    """The same particles and weights, with the densities that the cloud's target has there."""
    target, prior, thetas = cloud.target, cloud.target.prior, cloud.thetas
    included, variances = cloud.included, cloud.variances
    squares, drifts = fits(thetas, target.gram.ready(thetas), target.moment, target.drift)
    soft, log_truth = optimism_of(cloud)
    log_density = soft - drifts - 0.5 * target.eta * (target.energy + squares) / variances
    if not prior.noise.known:
        shape, scale = prior.noise
        log_density -= (0.5 * target.eta * target.rounds + shape + 1.0) * np.log(
            variances
        ) + scale / variances
    if not prior.uniform_in_ball:  # the scales of slab and spike may follow the rewards
        slab = np.where(included, thetas, 0.0) if prior.spike_scale > 0.0 else thetas
        log_density += prior.log_sizes()[sizes(included)]
        log_density -= 0.5 * prior.slab_precision * np.einsum("md,md->m", slab, slab)
        if prior.slab_centre > 0.0:
            log_density += twins(slab, prior.lean)
    if prior.spike_scale > 0.0:
        spread = np.abs(np.where(included, 0.0, thetas)).sum(axis=1)
        log_density -= spread / prior.spike_scale + thetas.shape[1] * np.log(prior.spike_scale)
    if not prior.uniform_in_ball:
        log_density[np.abs(thetas).sum(axis=1) > prior.radius.high] = -np.inf
    elif not prior.radius.known:
        log_density += log_mass_of_balls(prior.radius, thetas)
    return cloud._replace(log_density=log_density, log_truth=log_truth)


def optimism_of(cloud: Cloud) -> tuple[Floats, Floats]:  # (M,) each
    """The optimism of the relaxed target, and the log of the true target over the relaxed one."""
    target = cloud.target
    best, soft = optimism(cloud.arms.of(cloud.rewards), cloud.arms.starts, target.tilts)
    if cloud.arms.indices is not None:
        best = best_rewards(cloud.rewards, target.starts) @ target.tilts
    log_truth = best - soft
    log_truth[sizes(cloud.included) > target.prior.largest] = -np.inf
    return soft, log_truth


def aimed(cloud: Cloud, target: Target) -> Cloud:
    """The same particles, weighted for another target."""
    rewards, arms = cloud.rewards, cloud.arms
    if target.columns is not cloud.target.columns:
        rewards = rewards_on_all(cloud, target.menus)
        arms = promising(target, rewards)
    return weighted(cloud, cloud._replace(target=target, rewards=rewards, arms=arms))


def rewards_on_all(cloud: Cloud, menus: tuple[Menu, ...]) -> Floats:  # (M, N)
    """The rewards of the actions of some menus, side by side; most may be known."""
    target = cloud.target
    known = {id(menu): first for menu, first in zip(target.menus, target.starts, strict=False)}
    blocks = [np.empty((len(cloud.thetas), 0))]
    for menu in menus:
        first = known.get(id(menu))
        if first is None:
            blocks.append(all_rewards(cloud.thetas, menu.columns))
        else:
            blocks.append(cloud.rewards[:, first : first + len(menu.actions)])
    return np.ascontiguousarray(blocks[-1]) if len(menus) == 1 else np.hstack(blocks)


def weighted(cloud: Cloud, ahead: Cloud) -> Cloud:
    """The same particles, weighted for what else is ahead."""
    ahead = evaluated(ahead)
    gained = ahead.log_density - np.maximum(cloud.log_density, -1e300)  # the dead stay dead
    return ahead._replace(log_weights=cloud.log_weights + gained)


def resampled(cloud: Cloud, rng: np.random.Generator) -> Cloud:
    """Equally weighted particles, each kept in proportion to its weight (systematic resampling)."""
    size = len(cloud.thetas)
    ladder = (rng.random() + np.arange(size)) / size
    kept = np.minimum(np.searchsorted(np.cumsum(normalised(cloud.log_weights)), ladder), size - 1)
    gained = float(logsumexp(cloud.log_weights)) - math.log(size)
    return some(cloud, kept)._replace(log_weights=np.zeros(size), log_mass=cloud.log_mass + gained)


def moved(
    cloud: Cloud, rng: np.random.Generator, sweeps: int = 1, pace: sparse.Pace = sparse.CLOUD
) -> Cloud:
    """The cloud after some sweeps of moves that leave its target invariant.

    The pace says how moves share a sweep (``relaxed`` has but one).
    """
    target, arms = cloud.target, cloud.arms
    rewards = arms.of(cloud.rewards)
    for _ in range(sweeps):
        cloud, rewards = swept(cloud, rewards, rng, pace)
    if arms.indices is not None:
        rewards = all_rewards(cloud.thetas, target.columns)
    return evaluated(cloud._replace(rewards=rewards))


def swept(
    cloud: Cloud, rewards: Floats, rng: np.random.Generator, pace: sparse.Pace
) -> tuple[Cloud, Floats]:
    """Parameters and noise after one sweep, and the rewards of the arms."""
    target, prior, arms = cloud.target, cloud.target.prior, cloud.arms
    size, dimension = cloud.thetas.shape
    radii = draw_radii(prior.radius, cloud.thetas, rng)
    powers = target.eta / cloud.variances
    stage = (target.moment, target.drift, arms.columns, arms.starts, target.tilts)
    if prior.spike_scale > 0.0:
        coordinate_uniforms = rng.random((size, dimension))
        arm_uniforms = rng.random((size, len(target.tilts)))
        slab_normals = rng.standard_normal((size, dimension))
        thetas, included, rewards = relaxed.sweep(
            cloud.thetas, cloud.included, rewards, powers, target.gram.all_rows(), *stage,
            prior.log_odds, prior.slab_precision, prior.spike_scale,
            coordinate_uniforms, arm_uniforms, rng.random((size, 2)), slab_normals,
        )  # fmt: skip
    else:
        rules = (
            prior.log_odds, prior.smallest, prior.slab_precision, prior.uniform_in_ball, prior.lean
        )  # fmt: skip
        luck = luck_for(cloud.thetas, target, pace, rng)
        gram = target.gram.roomy(cloud.thetas)
        thetas, rewards = sparse.sweep(
            cloud.thetas, rewards, radii, powers, sparse.Stage(gram, *stage, *rules), luck,
            pace,
        )  # fmt: skip
        target.gram.remember(gram)
        included = thetas != 0.0
    variances = cloud.variances
    if not prior.noise.known:
        squares, _ = fits(thetas, target.gram.ready(thetas), target.moment, target.drift)
        misfits = target.eta * (target.energy + squares)
        variances = draw_variances(prior, misfits, target.eta * target.rounds, rng)
    return cloud._replace(thetas=thetas, included=included, variances=variances), rewards


def moved_for(cloud: Cloud, rng: np.random.Generator, seconds: float) -> Cloud:
    """The cloud after the moves it is owed, or after a few and as many as there is time for."""
    size, began, done = len(cloud.thetas), time.perf_counter(), 0
    is_ours = False  # its arrays, for what came in may be held by others
    while cloud.owed > 0:
        count = cloud.owed
        if seconds < math.inf:
            spent = max(time.perf_counter() - began, 1e-9)
            count = min(count, PROBE if done == 0 else int(done * (seconds - spent) / spent))
            if count < 1:
                break
        if cloud.turn == 0 and count >= size:
            count -= count % size
            cloud = moved(cloud, rng, count // size)
        else:
            count = min(count, size - cloud.turn)
            cloud, is_ours = cloud if is_ours else copied(cloud), True
            move_part(cloud, slice(cloud.turn, cloud.turn + count), rng)
        cloud = cloud._replace(owed=cloud.owed - count, turn=(cloud.turn + count) % size)
        done += count
        if cloud.turn == 0:
            share = effective_share(cloud.log_weights + cloud.log_truth)
            cloud = cloud._replace(fresh=share if share > 0.0 else 1.0)
    return cloud


def move_part(cloud: Cloud, rows: slice, rng: np.random.Generator) -> None:
    """Make one sweep over some particles of a cloud that nobody else holds."""
    part = moved(some(cloud, rows), rng)
    for name in PER_PARTICLE:
        getattr(cloud, name)[rows] = getattr(part, name)


def follow(
    cloud: Cloud | None, prior: Prior, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
) -> Cloud:
    """The cloud for new evidence, grown from the cloud of earlier evidence or from the prior."""
    before = None if cloud is None else cloud.target
    target = Target.of(evidence, prior, tuning.eta, tuning.rate, before)
    cloud = cloud or start(target, tuning.particles, rng)
    return advance(cloud, target, rng, tuning.sweeps, tuning.seconds)


def advance(
    cloud: Cloud, target: Target, rng: np.random.Generator, sweeps: int, seconds: float = math.inf
) -> Cloud:
    """The cloud for a new target, which knows at least the evidence of the old one.

    Moves take little longer than so many seconds; what is not done is owed, and done later.
    """
    # One reward more is seldom worth a new start, which takes long with thousands of features.
    may_start, steps = target.rounds > cloud.target.rounds + 1 > 1 and seconds == math.inf, 0
    if target.prior.radius.beyond(cloud.target.prior.radius) > OUTGROWN:
        cloud = start(target, len(cloud.thetas), rng)
    while cloud.target is not target:
        ahead = aimed(cloud, target)
        if np.isnan(ahead.log_weights).any():  # else no step would ever be small enough
            raise FloatingPointError("the posterior overflowed: rescale the rewards or the actions")
        if (share := effective_share(ahead.log_weights)) < ABRUPT:
            under_new_prior = aimed(cloud, cloud.target.towards(target, 0.0))
            steps += 1
            is_lost = effective_share(under_new_prior.log_weights) < ABRUPT or steps == LONG
            if is_lost or (share < SURPRISE and may_start):
                cloud, may_start = start(target, len(cloud.thetas), rng), False
            ahead = halfway(cloud, target)
        owed = sweeps * len(ahead.thetas)
        if ahead.target is not target or ahead.alive() < ALIVE:
            # On the way in any case, or the steps would shrink to nothing.
            if ahead.arms.indices is not None:
                ahead = weighted(ahead, ahead._replace(arms=promising(ahead.target, ahead.rewards)))
            ahead = resampled(ahead, rng)._replace(turn=0)
        else:
            owed = min(owed, ahead.owed + upkeep(cloud, target))
        cloud = ahead._replace(owed=owed)
        if owed >= BATCH * len(ahead.thetas):
            before = time.perf_counter()
            cloud = moved_for(cloud, rng, seconds)
            seconds = max(0.0, seconds - (time.perf_counter() - before))
    return cloud


def upkeep(cloud: Cloud, target: Target) -> int:
    """How many particles are due to move at the next target, whatever their weights say."""
    news = max(1.0, target.rounds - cloud.target.rounds)
    share = UPKEEP * min(1.0, SETTLED * news / max(1.0, target.rounds))
    share += GROWTH * target.prior.radius.beyond(cloud.target.prior.radius)
    return math.ceil(share * len(cloud.thetas) - 1e-9)  # what rounding adds is no particle


def halfway(cloud: Cloud, target: Target) -> Cloud:
    """The cloud for a target on the way: half of the particles stay alive, if any step allows."""
    share = 0.5
    while True:
        ahead = aimed(cloud, cloud.target.towards(target, share))
        if effective_share(ahead.log_weights) >= ALIVE or share < 1e-9:
            return ahead
        share *= 0.5
