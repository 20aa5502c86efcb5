"""Leap: two features, the arm and all values exchanged at once (docs/sampler.md section 4).

o_1, o_2    former, second                scalar  features taken out
f_1, f_2    blind, partner                scalar  features put back
p b         moment                        (d,)    slopes of the plain posterior at zero
sigma       signs of the plain mean       (n,)
L^-1 sigma  rise                          (n,)    direction in which sigma' theta grows
log W(S)    log_sum(scores), and factors  scalar
"""

import math
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.kernels import cholesky
from soids.kernels.categorical import NEGLIGIBLE, draw_index, highest, pick, total, write_shares
from soids.kernels.compiler import njit
from soids.kernels.moves import candidates
from soids.kernels.moves.rearm import weigh_arms
from soids.kernels.rewards import support
from soids.kernels.truncated_normal import HALF_LOG_2PI, invert_mass, log_mass
from soids.kernels.vectors import l1_norm, overwrite, put

DRAWN = 7  # uniforms of a leap


class LeapNumbers(NamedTuple):
    """The random numbers of a leap."""

    uniforms: Floats  # (DRAWN,)
    sides: Floats  # (2,)  uniforms that say to which sides the features lean
    normals: Floats  # (n,)


@njit(cache=True, inline="always")
def leap(particle, law, arms, slopes, moment, leans, lean, numbers):
    """Exchange two features, the arm of one action set and all values; returns the arm, or -1.

    One feature is drawn uniformly, and its partner, given the others, from the plain posterior. A
    single active feature is drawn like a partner. The law is that of the present values; the slopes
    leave out this set's pull.
    """
    theta, precision, radius = particle.theta, particle.precision, particle.radius
    own_odds = particle.own_odds
    active, uniforms, sides = law.active, numbers.uniforms, numbers.sides
    n, masses = active.size, np.empty(theta.size)
    done = cholesky.eliminate(theta, n, precision, moment, leans, lean)
    place = min(int(uniforms[0] * n), n - 1)
    former, second, gained = -1, done.active[place], 0.0
    second_lean = cholesky.drop(done, n, place)
    blind, blind_lean = -1, lean if sides[0] < 0.5 else -lean
    if n > 1:
        place = min(int(uniforms[1] * (n - 1)), n - 2)
        former = done.active[place]
        former_lean = cholesky.drop(done, n - 1, place)
        candidates.mark(done, n - 2, masses)
        if masses[former] == 0.0:  # there would be no way back
            return -1
        blind = pick(masses, uniforms[2])
        gained += own_odds[blind] - own_odds[former]
        cholesky.join(done, n - 2, former, former_lean, precision)
    if candidates.is_replaced(done, second):
        return -1
    gained += candidates.log_weight(done, second, second_lean)
    gained -= candidates.weigh(done, n - 1, masses, own_odds)
    if n > 1:
        cholesky.drop(done, n - 1, n - 2)
        cholesky.join(done, n - 2, blind, blind_lean, precision)
    all_masses = candidates.weigh(done, n - 1, masses, own_odds)
    if all_masses == -math.inf:  # the data pin no other feature beside those
        return -1
    partner = pick(masses, uniforms[3])
    if (blind == former and partner == second) or (blind == second and partner == former):
        return -1
    partner_lean = candidates.draw_lean(done, partner, sides[1])
    gained += all_masses - candidates.log_weight(done, partner, partner_lean)
    new_leans, marks = done.leans, np.zeros(theta.size)
    new_leans[partner], marks[partner] = partner_lean, 1.0
    for j in done.active[: n - 1]:
        marks[j] = 1.0
    entered = support(marks)  # in the order of the present one: results must not depend on it
    new_factor, pinned = cholesky.precision_factor(entered, precision)
    if not pinned:
        return -1
    for a in range(n):
        gained += math.log(law.factor[a, a] / new_factor[a, a])
    new = weigh_arms(entered, new_factor, slopes + new_leans, arms)
    rise, scores = np.zeros(n), law.scores.copy()
    if radius < math.inf:
        rise = cut_off(new, moment + new_leans, radius, new.scores)
        cut_off(law, moment + leans, radius, scores)
    gained += log_sum(new.scores) - log_sum(scores)
    if not gained >= 0.0 and not uniforms[4] < math.exp(gained):
        return -1
    arm = draw_index(new.scores, uniforms[5])
    centre = new.whitened[:, arm]
    values = centre + numbers.normals[:n]
    if radius < math.inf:  # the length is redrawn, below the face
        spread, length, middle = (rise * rise).sum(), (rise * values).sum(), (rise * centre).sum()
        drawn = middle + invert_mass(0.0, 1.0 / spread, -math.inf, radius - middle, uniforms[6])
        values += rise * ((drawn - length) / spread)
    cholesky.solve_back(new_factor, n, values)
    if l1_norm(values) > radius:
        return -1
    theta[:] = 0.0
    put(theta, entered, values)
    overwrite(leans, new_leans)
    return arm


@njit(cache=True)
def cut_off(law, moment, radius, scores):
    """Add to each arm's score the log of its mass on this side of one face of the ball, that of the
    signs of the plain posterior's mean; returns the whitened direction (n,) towards the face.
    """
    factor, whitened = law.factor, law.whitened
    n, mean = law.active.size, moment[law.active]
    cholesky.solve_forward(factor, n, mean)
    cholesky.solve_back(factor, n, mean)
    rise = np.ones(n)
    for a in range(n):
        if mean[a] < 0.0:
            rise[a] = -1.0
    cholesky.solve_forward(factor, n, rise)
    spread, best = (rise * rise).sum(), -math.inf
    whole = HALF_LOG_2PI + 0.5 * math.log(spread)
    for k in range(scores.size):
        if scores[k] < best + NEGLIGIBLE:  # the log of the mass is negative
            scores[k] = -math.inf
            continue
        room = radius
        for a in range(n):
            room -= rise[a] * whitened[a, k]
        scores[k] += log_mass(0.0, 1.0 / spread, -math.inf, room) - whole
        best = max(best, scores[k])
    return rise


@njit(cache=True)
def log_sum(scores):
    """The log of the sum of the exponentials of some scores."""
    shares, top = np.empty(scores.size), highest(scores)
    write_shares(scores, 1.0, top, shares)
    return top + math.log(total(shares))
