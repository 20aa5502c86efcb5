"""One sweep of sparse parameters (docs/sampler.md section 4): arms; leap, rearm, redraw or mirror;
then flips and swap, or glides and exchange.

    p       powers         (M,)    likelihood power over noise variance
    R       radii          (M,)    of the l1 ball that holds the parameter, possibly infinite
    theta   thetas         (M, d)  one row per particle
    A theta rewards        (M, N)  of all actions of all sets
    tau_m   target.tilts   (B,)    how strongly the best reward of each set is favoured
    k_m     arms           (B,)    one action of each set
    h       slopes         (d,)    of the log density at zero, given the arms

Given one arm per set optimism is linear, so a move draws from an exact conditional, or proposes
from one and keeps the old state (or turns and mirrors it) if the new one left the ball; swap and
leap correct their proposals by the exact weights. All leave the same law invariant.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Bools, Floats
from soids.kernels.categorical import draw_arms
from soids.kernels.cholesky import Precision, eliminate, precision_factor, solve_forward
from soids.kernels.gram_rows import opened
from soids.kernels.moves.exchange import EXCHANGED, exchange
from soids.kernels.moves.flip import fields, flip
from soids.kernels.moves.glide import glide
from soids.kernels.moves.lean import draw_leans
from soids.kernels.moves.leap import DRAWN, LeapNumbers, leap
from soids.kernels.moves.rearm import ValueNumbers, rearm, redraw, reflect, weigh_arms
from soids.kernels.moves.swap import swap
from soids.kernels.moves.target import ActionSet, Particle, TargetArrays
from soids.kernels.rewards import support, write_rewards
from soids.kernels.threads import by_rows
from soids.kernels.truncated_normal import HALF_LOG_2PI


class Pace(NamedTuple):
    """How the moves share a sweep."""

    redrawn: float  # share of the sweeps that draw values anew; the others mirror them
    rearmed: float  # share of those that draw the arm anew as well, with the values integrated out
    joint: float  # share that move supports by glides and exchange; the others by flips and swap
    glides: int  # passes over all features, then
    exchanged: float  # share that go on to swap or to exchange
    eager: bool  # whether a feature enters or leaves as often as Metropolis allows


# A particle system keeps its last states only: they had better be fresh. A chain averages over its
# states, and errors on opposite sides cancel. Where data pin every single value, glides are what
# moves; but flips alone lead to supports that data do not pin, and back.
CLOUD = Pace(redrawn=1.0, rearmed=1.0, joint=0.5, glides=1, exchanged=1.0, eager=False)
CHAIN = Pace(redrawn=0.1, rearmed=0.1, joint=0.5, glides=1, exchanged=0.25, eager=True)
PINNED_CHAIN = Pace(redrawn=0.4, rearmed=0.025, joint=0.98, glides=3, exchanged=0.05, eager=True)


class RandomNumbers(NamedTuple):
    """All random numbers of one sweep, a row for every particle; zeros where none are needed."""

    coins: Floats  # (M, 3)  which moves of supports; values anew; arm as well, or even a leap
    arms: Floats  # (M, B)
    redraws: Bools  # (M,)  whether values are drawn anew, or mirrored
    rearms: Bools  # (M,)  whether their arm is drawn with them
    values: Floats  # (M, 2 + DRAWN + ANGLES + 1)  set and arm; a leap; angles, and is it mirrored
    normals: Floats  # (M, 3, n)  of values, leap and turn; n are active at most, before the sweep
    flips: Floats  # (M, passes of glides * d)
    exchanges: Bools  # (M,)  whether there is a swap or an exchange
    supports: Floats  # (M, 2 * EXCHANGED + 2)  of a swap or an exchange
    exchange_normals: Floats  # (M, s)
    sides: Floats  # (M, n)  to which side active features lean
    entrants: Floats  # (M, LEANING)  and what enters


TURNING = 2 + DRAWN  # where the angles begin, after set, arm and leap
LEANING = 2 + EXCHANGED  # features that enter at once and lean: by a leap, by an exchange
PASSES = 30  # over features and actions, or so, that all moves of one particle make
LEAPS = 0.1  # share of the rearms of a particle system; all rearms of a chain begin with a leap


class Levels(NamedTuple):
    """What else tells particles apart, and a bound that holds for all."""

    radii: Floats  # (M,)
    powers: Floats  # (M,)
    half_logs: Floats  # (d,)  bound on the log of the width of each feature's bump


def sweep(
    thetas, rewards, radii, powers, target: TargetArrays, numbers: RandomNumbers, pace: Pace = CLOUD
) -> tuple[Floats, Floats]:
    """The parameters after moves of values and of supports, as the pace says, and their rewards."""
    thetas, rewards, prior = thetas.copy(), rewards.copy(), target.prior
    # The smallest precision has the largest bump, so one table bounds all particles.
    least = powers.min() * target.gram.diagonal + prior.slab_precision
    half_logs = HALF_LOG_2PI - 0.5 * np.log(np.maximum(least, 1e-300))
    if prior.lean > 0.0:
        half_logs += math.log(2.0)
    cost, levels = PASSES * sum(target.columns.shape), Levels(radii, powers, half_logs)
    by_rows(sweep_rows, cost, len(thetas), thetas, rewards, levels, target, numbers, pace)
    return thetas, rewards


@njit(cache=True, nogil=True)
def sweep_rows(start, stop, thetas, rewards, levels, target, numbers, pace):
    """Move some particles."""
    gram, prior = opened(target.gram, start, stop, len(thetas)), target.prior
    log_odds, lean = prior.log_odds, prior.lean
    for m in range(start, stop):
        theta, power, radius = thetas[m], levels.powers[m], levels.radii[m]
        precision = Precision(power, gram, prior.slab_precision)
        volume = math.log(2.0 * radius) if prior.uniform_in_ball else 0.0
        particle = Particle(theta, precision, radius, volume)
        slopes = np.empty(theta.size)
        arms = np.empty(target.tilts.size, dtype=np.int64)
        draw_arms(
            rewards[m], target.starts, target.tilts, target.columns, numbers.arms[m], arms, slopes
        )
        for j in range(theta.size):
            slopes[j] += power * target.moment[j] - target.drift[j]
        active = support(theta)
        leans = draw_leans(theta, active, lean, numbers.sides[m])
        if numbers.rearms[m]:
            leap_or_rearm(particle, active, leans, slopes, arms, target, numbers, m)
        if numbers.coins[m, 0] < pace.joint:
            done = eliminate(theta, log_odds.size, precision, slopes, leans, lean)
            if done.pinned:
                if not numbers.rearms[m]:
                    renew(particle, active, done.factor, done.centre, numbers, m)
                glide(particle, done, prior, pace.eager, numbers.flips[m])
                if numbers.exchanges[m]:
                    exchange(
                        particle, done, numbers.supports[m], numbers.entrants[m, 2:],
                        numbers.exchange_normals[m],
                    )  # fmt: skip
        else:
            if not numbers.rearms[m]:
                factor, pinned = precision_factor(active, precision)
                if pinned:
                    whitened = slopes[active] + leans[active]
                    solve_forward(factor, active.size, whitened)
                    renew(particle, active, factor, whitened, numbers, m)
            field = fields(theta, power, gram, slopes)
            flip(particle, prior, field, levels.half_logs, pace.eager, numbers.flips[m])
            if numbers.exchanges[m]:
                swap(particle, lean, field, numbers.supports[m])
        write_rewards(theta, target.columns, rewards[m])


@njit(cache=True)
def value_numbers(numbers, m):
    """The random numbers that draw the active values of one particle."""
    normals = numbers.normals[m]
    return ValueNumbers(normals[0], numbers.values[m, TURNING:], normals[2])


@njit(cache=True)
def renew(particle, active, factor, whitened, numbers, m):
    """Draw all active values anew, given the arms, or mirror them."""
    if numbers.redraws[m]:
        own = value_numbers(numbers, m)
        redraw(particle.theta, active, factor, whitened, particle.radius, own)
    else:
        reflect(particle.theta, active, factor, whitened, particle.radius)


@njit(cache=True)
def leap_or_rearm(particle, active, leans, slopes, arms, target, numbers, m):
    """Leap, or draw the arm of one set and all active values anew, if the data pin them.

    Writes the parameter, the leans of its features and the slopes, which hold the pull of the arms.
    """
    columns, starts, tilts, uniforms = (
        target.columns, target.starts, target.tilts, numbers.values[m]
    )  # fmt: skip
    factor, pinned = precision_factor(active, particle.precision)
    if active.size == 0 or not pinned:
        return
    menu = min(int(uniforms[0] * tilts.size), tilts.size - 1)
    first, last, arm, tilt = 0, 0, 0, 0.0  # without a pull there is but one arm
    if menu >= 0:
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
    if tilt > 0.0:
        arm = arms[menu] - first
        slopes -= tilt * columns[:, first + arm]
    offered = ActionSet(columns, first, last, tilt)
    law = weigh_arms(active, factor, slopes + leans, offered)
    chosen = -1
    if numbers.coins[m, 2] < LEAPS:
        own = LeapNumbers(uniforms[2:TURNING], numbers.entrants[m, :2], numbers.normals[m, 1])
        moment = particle.precision.power * target.moment
        chosen = leap(particle, law, offered, slopes, moment, leans, target.prior.lean, own)
    if chosen < 0:  # which never depends on the values or this arm: rearm may follow
        chosen = rearm(
            particle.theta, law, arm, particle.radius, uniforms[1], value_numbers(numbers, m)
        )
    if tilt > 0.0:
        slopes += tilt * columns[:, first + chosen]
