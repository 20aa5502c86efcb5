"""One sweep of sparse parameters (docs/sampler.md section 4, The moves).

p        powers        (M,)    likelihood power over noise variance
R        radii         (M,)    of the l1 ball that holds the parameter, possibly infinite
theta    thetas        (M, d)  one row per particle
A theta  rewards       (M, N)  of all actions of all sets
tau_m    target.tilts  (B,)    how strongly the best reward of each set is favoured
k_m      arms          (B,)    one action of each set
h        slopes        (d,)    of the log density at zero, given the arms

A sweep draws the arms. Then come leap, rearm, redraw or mirror, and then either flips and swap, or
glides and exchange. All moves leave the same law invariant.
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Bools, Floats
from soids.kernels.categorical import draw_arms
from soids.kernels.cholesky import Precision, eliminate, precision_factor, solve_forward
from soids.kernels.compiler import njit
from soids.kernels.gram_rows import opened
from soids.kernels.moves.candidates import draw_leans
from soids.kernels.moves.exchange import EXCHANGED, exchange
from soids.kernels.moves.flip import fields, flip
from soids.kernels.moves.glide import glide
from soids.kernels.moves.leap import DRAWN, LeapNumbers, leap
from soids.kernels.moves.rearm import ValueNumbers, rearm, redraw, reflect, weigh_arms
from soids.kernels.moves.swap import swap
from soids.kernels.moves.target import ActionSet, Particle, TargetArrays
from soids.kernels.rewards import support, write_rewards
from soids.kernels.threads import by_rows
from soids.kernels.truncated_normal import HALF_LOG_2PI


class Pace(NamedTuple):
    """How the moves share a sweep."""

    redrawn: float  # share of the sweeps that redraw values; the others mirror them
    rearmed: float  # share of those that redraw the arm too, with the values integrated out
    joint: float  # share that move supports by glides and exchange; the others by flips and swap
    glides: int  # passes over all features, then
    exchanged: float  # share that go on to swap or to exchange
    eager: bool  # whether a feature enters or leaves by Metropolis steps, not by Gibbs steps


# Particles keep their last states only, so every sweep redraws the values. A chain averages over
# its states, and errors on opposite sides cancel. Where data pin every value, glides change most
# features, but only flips lead to supports that data do not pin, and back.
PARTICLES = Pace(redrawn=1.0, rearmed=1.0, joint=0.5, glides=1, exchanged=1.0, eager=False)
CHAIN = Pace(redrawn=0.1, rearmed=0.1, joint=0.5, glides=1, exchanged=0.25, eager=True)
PINNED_CHAIN = Pace(redrawn=0.4, rearmed=0.025, joint=0.98, glides=3, exchanged=0.05, eager=True)


class RandomNumbers(NamedTuple):
    """All random numbers of one sweep, a row for every particle; zeros where none are needed."""

    coins: Floats  # (M, 3)  which moves of supports; new values; new arm too, or a leap
    arms: Floats  # (M, B)
    redraws: Bools  # (M,)  whether values are redrawn, or mirrored
    rearms: Bools  # (M,)  whether their arm is redrawn with them
    values: Floats  # (M, 2 + DRAWN + ANGLES + 1)  set and arm; leap; angles; whether to mirror
    normals: Floats  # (M, 3, n)  of values, leap and turn; n is the most active ones, beforehand
    flips: Floats  # (M, passes of glides * d)
    exchanges: Bools  # (M,)  whether there is a swap or an exchange
    supports: Floats  # (M, 2 * EXCHANGED + 2)  of a swap or an exchange
    exchange_normals: Floats  # (M, s)
    sides: Floats  # (M, n)  sides of active features
    entrants: Floats  # (M, LEANING)  sides of features that enter


TURNING = 2 + DRAWN  # where the angles begin, after set, arm and leap
LEANING = 2 + EXCHANGED  # features that may enter: by a leap, by an exchange
PASSES = 30  # roughly, over features and actions, in all moves of one particle
LEAPS = 0.1  # bound on the coin for the arm: a tenth of the sweeps leap, all rearms of CHAIN


class Levels(NamedTuple):
    """Radii and powers of the particles, and a bound for all of them."""

    radii: Floats  # (M,)
    powers: Floats  # (M,)
    half_logs: Floats  # (d,)  bound on the log of the width of each feature's bump


def sweep(
    thetas, rewards, radii, powers, target: TargetArrays, numbers: RandomNumbers, pace: Pace
) -> tuple[Floats, Floats]:
    """The parameters and their rewards after moves of values and of supports."""
    thetas, rewards, prior = thetas.copy(), rewards.copy(), target.prior
    # The smallest precision has the widest bump, so one table bounds all particles.
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
        particle = Particle(theta, precision, radius, volume, prior.own_odds)
        slopes, arms = np.empty(theta.size), np.empty(target.tilts.size, dtype=np.int64)
        starts, tilts, uniforms = target.starts, target.tilts, numbers.arms[m]
        draw_arms(rewards[m], starts, tilts, target.columns, uniforms, arms, slopes)
        slopes += power * target.moment - target.drift
        active = support(theta)
        leans = draw_leans(theta, active, lean, numbers.sides[m])
        if numbers.rearms[m]:
            leap_or_rearm(particle, active, leans, slopes, arms, target, numbers, m)
        if numbers.coins[m, 0] < pace.joint:
            done = eliminate(theta, log_odds.size, precision, slopes, leans, lean)
            if done.pinned:
                if not numbers.rearms[m]:
                    renew(particle, active, done.factor, done.centre[: active.size], numbers, m)
                glide(particle, done, prior, pace.eager, numbers.flips[m])
                if numbers.exchanges[m]:
                    sides, normals = numbers.entrants[m, 2:], numbers.exchange_normals[m]
                    exchange(particle, done, numbers.supports[m], sides, normals)
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


@njit(cache=True, inline="always")
def value_numbers(numbers, m):
    """The random numbers that redraw the active values of one particle."""
    normals = numbers.normals[m]
    return ValueNumbers(normals[0], numbers.values[m, TURNING:], normals[2])


@njit(cache=True, inline="always")
def renew(particle, active, factor, whitened, numbers, m):
    """Redraw all active values, given the arms, or mirror them."""
    theta, radius = particle.theta, particle.radius
    if numbers.redraws[m]:
        redraw(theta, active, factor, whitened, radius, value_numbers(numbers, m))
    else:
        reflect(theta, active, factor, whitened, radius)


@njit(cache=True, inline="always")
def leap_or_rearm(particle, active, leans, slopes, arms, target, numbers, m):
    """Leap, or redraw the arm of one set and all active values, if the data pin them; writes the
    parameter, the leans of its features, and the slopes with the pull of the arms.
    """
    columns, starts, tilts = target.columns, target.starts, target.tilts
    uniforms, own = numbers.values[m], value_numbers(numbers, m)
    factor, pinned = precision_factor(active, particle.precision)
    if active.size == 0 or not pinned:
        return
    menu = min(int(uniforms[0] * tilts.size), tilts.size - 1)
    first, last, arm, tilt = 0, 0, 0, 0.0  # without a pull there is only one arm
    if menu >= 0:
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
    if tilt > 0.0:
        arm = arms[menu] - first
        slopes -= tilt * columns[:, first + arm]
    offered = ActionSet(columns, first, last, tilt)
    law = weigh_arms(active, factor, slopes + leans, offered)
    chosen = -1
    if numbers.coins[m, 2] < LEAPS:
        leaping = LeapNumbers(uniforms[2:TURNING], numbers.entrants[m, :2], numbers.normals[m, 1])
        moment = particle.precision.power * target.moment
        chosen = leap(particle, law, offered, slopes, moment, leans, target.prior.lean, leaping)
    if chosen < 0:  # a refusal depends neither on the values nor on this arm, so rearm may follow
        chosen = rearm(particle.theta, law, arm, particle.radius, uniforms[1], own)
    if tilt > 0.0:
        slopes += tilt * columns[:, first + chosen]
