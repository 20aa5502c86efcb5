"""One sweep of sparse parameters: arms; values; then flips and swap, or glides and exchange.

Notation
    thetas    (M, d)    the cloud, one row per particle
    rewards   (M, N)    thetas @ actions.T; the N actions are those of all menus, one by one
    powers    (M,)      likelihood power over noise variance
    radii     (M,)      the l1 ball that holds the parameter, possibly infinite
    field     (d,)      gradient of the log density at theta, prior left out

Given one arm per menu the optimistic term is linear, so a move draws from an exact conditional, or
proposes from one and keeps the old state (or turns and mirrors it) if the new one left the ball;
swap and leap correct their proposals by the exact weights. All leave the same law invariant.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from soids.arrays import Bools, Floats, Ints
from soids.kernels.draws import draw_arms, highest, pick, write_shares
from soids.kernels.elimination import (
    eliminate,
    precision_factor,
    solve_forward,
    support,
)
from soids.kernels.glide import LOG_RARE, RARE, glide, share_inside
from soids.kernels.gram import Rows, meet, opened
from soids.kernels.joint import EXCHANGED, exchange, rearm, redraw, reflect, weigh_arms
from soids.kernels.leap import DRAWN, leap
from soids.kernels.normal import (
    HALF_LOG_2PI,
    invert_twin_mass,
    least_log_mass,
    log_twin_mass,
    share_of,
)
from soids.kernels.rewards import add_shares
from soids.kernels.rows import by_rows


class Stage(NamedTuple):
    """A target as the moves see it, the same for all particles."""

    gram: Rows
    moment: Floats  # (d,)
    drift: Floats  # (d,)
    columns: Floats  # (d, N)  the actions of all menus, feature by feature
    starts: Ints  # (B + 1,)  where each menu begins
    tilts: Floats  # (B,)  how strongly the best reward of each menu is favoured
    log_odds: Floats  # (s,)  log prior density ratio of growing a support of size k by one
    floor: int  # the smallest support
    slab_precision: float
    uniform_in_ball: bool
    lean: float  # by which the slab raises slopes, or lowers them; zero if it has one bump


class Pace(NamedTuple):
    """How the moves share a sweep."""

    redrawn: float  # share of the sweeps that draw values anew; the others mirror them
    rearmed: float  # share of those that draw the arm anew as well, with the values integrated out
    joint: float  # share that move supports by glides and exchange; the others by flips and swap
    glides: int  # passes over all features, then
    exchanged: float  # share that go on to swap or to exchange
    eager: bool  # whether a feature enters or leaves as often as Metropolis allows


# A cloud keeps its last states only: they had better be fresh. A chain averages over its states,
# and errors on opposite sides cancel. Where data pin every single value, glides are what moves; but
# flips alone lead to supports that data do not pin, and back.
CLOUD = Pace(redrawn=1.0, rearmed=1.0, joint=0.5, glides=1, exchanged=1.0, eager=False)
CHAIN = Pace(redrawn=0.1, rearmed=0.1, joint=0.5, glides=1, exchanged=0.25, eager=True)
PINNED_CHAIN = Pace(redrawn=0.4, rearmed=0.025, joint=0.98, glides=3, exchanged=0.05, eager=True)


class Luck(NamedTuple):
    """All random numbers of one sweep, a row for every particle; zeros where none are needed."""

    coins: Floats  # (M, 3)  which moves of supports; values anew; arm as well, or even a leap
    arms: Floats  # (M, B)
    redraws: Bools  # (M,)  whether values are drawn anew, or mirrored
    rearms: Bools  # (M,)  whether their arm is drawn with them
    values: Floats  # (M, 2 + DRAWN + ANGLES + 1)  menu and arm; a leap; angles, and is it mirrored
    normals: Floats  # (M, 3, n)  of values, leap and turn; n are active at most, before the sweep
    flips: Floats  # (M, passes of glides * d)
    exchanges: Bools  # (M,)  whether there is a swap or an exchange
    supports: Floats  # (M, 2 * EXCHANGED + 2)  of a swap or an exchange
    exchange_normals: Floats  # (M, s)
    sides: Floats  # (M, n)  to which side active features lean
    entrants: Floats  # (M, LEANING)  and what enters


TURNING = 2 + DRAWN  # where the angles begin, after menu, arm and leap
LEANING = 2 + EXCHANGED  # features that enter at once and lean: by a leap, by an exchange
PASSES = 30  # over features and actions, or so, that all moves of one particle make
LEAPS = 0.1  # of a cloud's rearms; a chain has fewer, and all of them begin with a leap
REDRAWN = 0.25  # of the flips that keep a feature: enough where the data pin no values


@njit(cache=True, inline="always")  # so that several are taken at once
def bump_bound(slope, precision, slack):
    """An upper bound on the mass of a bump on ``[-slack, slack]``, not far above it: the log of its
    height, and a width.
    """
    slope, precision = abs(slope), max(precision, 1e-300)
    fall = slope - precision * slack  # of the log density at the rim, if its peak lies outside
    rim = slack * (slope - 0.5 * precision * slack)
    height = 0.5 * slope * slope / precision if fall < 0.0 else rim
    width = min(math.sqrt(2.0 * math.pi / precision), 2.0 * slack)
    return height, min(width, 1.0 / fall) if fall > 0.0 else width


@njit(cache=True)
def flip(
    theta, field, power, radius, volume, gram, slab_precision, lean, half_logs, log_odds, floor,
    eager, uniforms,
):  # fmt: skip
    """Decide by its conditional, an atom and one or two cut Gaussians, whether each coordinate is
    zero.

    What enters is drawn from the Gaussians, and so is a share of what stays.
    """
    d, diagonal, slots, rows = theta.size, gram.diagonal, gram.slots, gram.rows
    length = np.abs(theta).sum()
    size = np.count_nonzero(theta)
    for j in range(d):
        old = theta[j]
        rest = size - (old != 0.0)
        if rest == log_odds.size:
            continue
        slack = radius - (length - abs(old))
        if slack <= 0.0:
            continue
        precision = power * diagonal[j]
        slope = field[j] + precision * old
        precision += slab_precision
        u = uniforms[j]
        odds = log_odds[rest] - volume
        share = 1.0
        if rest >= floor:
            if old == 0.0 and precision > 0.0:
                steepest = abs(slope) + lean
                squeeze = odds + 0.5 * steepest * steepest / precision + half_logs[j]
                if squeeze < LOG_RARE and u > RARE:
                    continue
                if squeeze < math.log(u + 1e-300):
                    continue
            # Of the bump on its own side; of nothing if it is zero.
            least = odds + least_log_mass(slope + math.copysign(lean, old), precision, old)
            if REDRAWN <= u < 1.0 - RARE and least > -LOG_RARE:
                continue
            mass = log_twin_mass(slope, lean, precision, -slack, slack)
            share = share_inside(odds + mass, old != 0.0, eager)
        new = 0.0
        if old == 0.0:
            if u < share:
                new, _ = invert_twin_mass(slope, lean, precision, -slack, slack, u / share)
        elif u < REDRAWN * share:
            new, _ = invert_twin_mass(slope, lean, precision, -slack, slack, u / (REDRAWN * share))
        elif u < share:  # it stays, and mostly keeps its value: others draw those that data pin
            continue
        if new != old:
            step = power * (new - old)
            slot = slots[j] if slots[j] >= 0 else meet(gram, j)
            for i in range(d):
                field[i] -= step * rows[slot, i]
            theta[j] = new
            length += abs(new) - abs(old)
            size = rest + (new != 0.0)


@njit(cache=True)
def swap(theta, field, power, radius, gram, slab_precision, lean, uniforms):
    """Take one active coordinate out and put one back: that which explains what is left.

    The field is left without either.
    """
    d, diagonal, slots, rows = theta.size, gram.diagonal, gram.slots, gram.rows
    active = support(theta)
    if active.size == 0:
        return
    out = active[min(int(uniforms[0] * active.size), active.size - 1)]
    old = theta[out]
    slack = radius - (np.abs(theta).sum() - abs(old))
    if slack <= 0.0:
        return
    slot = slots[out] if slots[out] >= 0 else meet(gram, out)
    for i in range(d):
        field[i] += power * old * rows[slot, i]
    theta[out] = 0.0
    heights, widths, masses = np.empty(d), np.empty(d), np.empty(d)
    for i in range(d):
        precision = power * diagonal[i] + slab_precision
        heights[i], widths[i] = bump_bound(abs(field[i]) + lean, precision, slack)
    for j in support(theta):
        heights[j] = -math.inf
    write_shares(heights, 1.0, highest(heights), masses)
    for i in range(d):
        masses[i] *= widths[i]
    chosen = pick(masses, uniforms[1])
    # The bounds proposed, the masses decide: an independence step whose ratio is mass over bound.
    precision_new = power * diagonal[chosen] + slab_precision
    precision_old = power * diagonal[out] + slab_precision
    excess = log_twin_mass(field[chosen], lean, precision_new, -slack, slack) - heights[chosen]
    excess -= log_twin_mass(field[out], lean, precision_old, -slack, slack) - heights[out]
    excess += math.log(widths[out] / widths[chosen])
    new = old
    if excess >= 0.0 or uniforms[2] < math.exp(excess):
        new, _ = invert_twin_mass(field[chosen], lean, precision_new, -slack, slack, uniforms[3])
    else:
        chosen = out
    theta[chosen] = new


@njit(cache=True)
def draw_leans(theta, active, lean, uniforms):
    """What the bump that each active value is of adds to its slope, drawn given the value."""
    leans = np.zeros(theta.size)
    if lean > 0.0:
        for a in range(active.size):
            upwards = uniforms[a] < share_of(2.0 * lean * theta[active[a]])
            leans[active[a]] = lean if upwards else -lean
    return leans


@njit(cache=True)
def fields(theta, power, gram, slopes):
    """The gradient of the log density at theta, prior left out; slopes are that at zero."""
    field, slots, rows = slopes.copy(), gram.slots, gram.rows
    for j in range(theta.size):
        if theta[j] != 0.0:
            slot = slots[j] if slots[j] >= 0 else meet(gram, j)
            for i in range(theta.size):
                field[i] -= power * theta[j] * rows[slot, i]
    return field


@njit(cache=True)
def rate_actions(theta, columns, rewards):
    """Write the rewards of all actions under theta, at a cost that counts only its support."""
    add_shares(0, theta, support(theta), columns, rewards)


def sweep(
    thetas, rewards, radii, powers, stage: Stage, luck: Luck, pace: Pace = CLOUD
) -> tuple[Floats, Floats]:
    """The cloud after moves of values and of supports, as the pace says, and its rewards."""
    thetas, rewards = thetas.copy(), rewards.copy()
    # The smallest precision has the largest bump, so one table bounds all particles.
    least = powers.min() * stage.gram.diagonal + stage.slab_precision
    half_logs = HALF_LOG_2PI - 0.5 * np.log(np.maximum(least, 1e-300))
    if stage.lean > 0.0:
        half_logs += math.log(2.0)
    cost = PASSES * sum(stage.columns.shape)
    by_rows(
        sweep_rows, cost, len(thetas), thetas, rewards, radii, powers, half_logs, stage, luck,
        pace,
    )  # fmt: skip
    return thetas, rewards


@njit(cache=True, nogil=True)
def sweep_rows(start, stop, thetas, rewards, radii, powers, half_logs, stage, luck, pace):
    """Move some particles."""
    gram = opened(stage.gram, start, stop, len(thetas))
    columns, starts, tilts = stage.columns, stage.starts, stage.tilts
    log_odds, floor, slab_precision = stage.log_odds, stage.floor, stage.slab_precision
    lean = stage.lean
    for m in range(start, stop):
        theta, power, radius = thetas[m], powers[m], radii[m]
        volume = math.log(2.0 * radius) if stage.uniform_in_ball else 0.0
        slopes = np.empty(theta.size)
        arms = np.empty(tilts.size, dtype=np.int64)
        draw_arms(rewards[m], starts, tilts, columns, luck.arms[m], arms, slopes)
        for j in range(theta.size):
            slopes[j] += power * stage.moment[j] - stage.drift[j]
        active = support(theta)
        leans = draw_leans(theta, active, lean, luck.sides[m])
        joint = luck.coins[m, 0] < pace.joint
        if luck.rearms[m]:
            leap_or_rearm(theta, active, leans, slopes, arms, power, radius, gram, stage, luck, m)
        if joint:
            done = eliminate(theta, log_odds.size, power, gram, slab_precision, slopes, leans, lean)
            if done.pinned:
                if not luck.rearms[m]:
                    renew(theta, active, done.factor, done.centre, radius, luck, m)
                glide(
                    theta, done, power, radius, volume, gram, slab_precision, log_odds, floor,
                    pace.eager, luck.flips[m],
                )  # fmt: skip
                if luck.exchanges[m]:
                    exchange(
                        theta, done, power, radius, gram, slab_precision, luck.supports[m],
                        luck.entrants[m, 2:], luck.exchange_normals[m],
                    )  # fmt: skip
        else:
            if not luck.rearms[m]:
                factor, pinned = precision_factor(active, power, gram, slab_precision)
                if pinned:
                    whitened = slopes[active] + leans[active]
                    solve_forward(factor, active.size, whitened)
                    renew(theta, active, factor, whitened, radius, luck, m)
            field = fields(theta, power, gram, slopes)
            flip(
                theta, field, power, radius, volume, gram, slab_precision, lean, half_logs,
                log_odds, floor, pace.eager, luck.flips[m],
            )  # fmt: skip
            if luck.exchanges[m]:
                swap(theta, field, power, radius, gram, slab_precision, lean, luck.supports[m])
        rate_actions(theta, columns, rewards[m])


@njit(cache=True)
def renew(theta, active, factor, whitened, radius, luck, m):
    """Draw all active values anew, given the arms, or mirror them."""
    if luck.redraws[m]:
        redraw(
            theta, active, factor, whitened, radius, luck.normals[m, 0], luck.values[m, TURNING:],
            luck.normals[m, 2],
        )  # fmt: skip
    else:
        reflect(theta, active, factor, whitened, radius)


@njit(cache=True)
def leap_or_rearm(theta, active, leans, slopes, arms, power, radius, gram, stage, luck, m):
    """Leap, or draw the arm of one menu and all active values anew, if the data pin them.

    Writes the parameter, what its features lean and the slopes, which hold the pull of the arms.
    """
    columns, starts, tilts, slab_precision = (
        stage.columns, stage.starts, stage.tilts, stage.slab_precision
    )  # fmt: skip
    factor, pinned = precision_factor(active, power, gram, slab_precision)
    if active.size == 0 or not pinned:
        return
    menu = min(int(luck.values[m, 0] * tilts.size), tilts.size - 1)
    first, last, arm, tilt = 0, 0, 0, 0.0  # without a pull there is but one arm
    if menu >= 0:
        first, last, tilt = starts[menu], starts[menu + 1], tilts[menu]
    if tilt > 0.0:
        arm = arms[menu] - first
        slopes -= tilt * columns[:, first + arm]
    scores, whitened = weigh_arms(active, factor, slopes + leans, columns, first, last, tilt)
    chosen = -1
    if luck.coins[m, 2] < LEAPS:
        chosen = leap(
            theta, active, factor, scores, whitened, power, radius, gram, slab_precision,
            power * stage.moment, slopes, leans, stage.lean, columns, first, last, tilt,
            luck.values[m, 2:TURNING], luck.entrants[m, :2], luck.normals[m, 1],
        )  # fmt: skip
    if chosen < 0:  # which never depends on the values or this arm: rearm may follow
        chosen = rearm(
            theta, active, factor, radius, scores, whitened, arm, luck.values[m, 1],
            luck.normals[m, 0], luck.values[m, TURNING:], luck.normals[m, 2],
        )  # fmt: skip
    if tilt > 0.0:
        slopes += tilt * columns[:, first + chosen]
