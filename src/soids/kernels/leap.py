"""Two features, the arm and all values exchanged at once, for clouds that have settled wrongly.

Another pair of features may explain all rewards and want another arm. Given the arm, or one feature
of the two, nothing leads there; and where the truth lies on the rim of the ball, hardly a draw that
does not know of the ball falls inside. Notation as in ``sparse``.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.draws import NEGLIGIBLE, draw_index, highest, pick, total, write_shares
from soids.kernels.elimination import (
    drop,
    eliminate,
    join,
    precision_factor,
    solve_back,
    solve_forward,
)
from soids.kernels.joint import draw_lean, is_replaced, weigh_arms, weigh_candidates
from soids.kernels.normal import HALF_LOG_2PI, invert_mass, log_mass

DRAWN = 7  # uniforms that a leap takes


@njit(cache=True)
def leap(
    theta, active, factor, scores, whitened, power, radius, gram, slab_precision, moment, slopes,
    leans, lean, columns, first, last, tilt, uniforms, sides, normals,
):  # fmt: skip
    """Exchange two features, the arm of one menu and all values; returns the arm, or -1 if not.

    One feature is drawn blindly, its partner beside it and the rest from the plain posterior, whose
    slopes at zero are the moment. Then all arms decide, with the values integrated out over one
    side of a face of the ball, and those inside the ball are taken. Factor, scores and whitened
    slopes are of the present support, by ``weigh_arms``. A single feature is drawn as a partner is.
    """
    n = active.size
    done = eliminate(theta, n, power, gram, slab_precision, moment, leans, lean)
    masses = np.empty(theta.size)
    place = min(int(uniforms[0] * n), n - 1)
    former, second = -1, done.active[place]
    second_lean = drop(done, n, place)
    blind, blind_lean = -1, lean if sides[0] < 0.5 else -lean
    if n > 1:
        place = min(int(uniforms[1] * (n - 1)), n - 2)
        former = done.active[place]
        former_lean = drop(done, n - 1, place)
        mark_candidates(done, n - 2, masses)
        if masses[former] == 0.0:  # there would be no way back
            return -1
        blind = pick(masses, uniforms[2])
        join(done, n - 2, former, former_lean, power, gram)
    if is_replaced(done, second):
        return -1
    gained = log_weight(done, second, second_lean) - weigh_candidates(done, n - 1, masses)
    if n > 1:
        drop(done, n - 1, n - 2)
        join(done, n - 2, blind, blind_lean, power, gram)
    all_masses = weigh_candidates(done, n - 1, masses)
    if all_masses == -math.inf:  # the data pin no other feature beside those
        return -1
    partner = pick(masses, uniforms[3])
    if (blind == former and partner == second) or (blind == second and partner == former):
        return -1
    partner_lean = draw_lean(done, partner, sides[1])
    gained += all_masses - log_weight(done, partner, partner_lean)
    new_leans = done.leans
    new_leans[partner] = partner_lean
    # Sorted, as the present support is: what depends on a support must not depend on its order.
    entered = done.active.copy()
    entered[n - 1] = partner
    entered.sort()
    new_factor, pinned = precision_factor(entered, power, gram, slab_precision)
    if not pinned:
        return -1
    for a in range(n):
        gained += math.log(factor[a, a] / new_factor[a, a])
    others, new_whitened = weigh_arms(
        entered, new_factor, slopes + new_leans, columns, first, last, tilt
    )
    rise, scores = np.zeros(n), scores.copy()
    if radius < math.inf:
        rise = cut_off(entered, new_factor, moment + new_leans, radius, others, new_whitened)
        cut_off(active, factor, moment + leans, radius, scores, whitened)
    gained += log_sum(others) - log_sum(scores)
    if not gained >= 0.0 and not uniforms[4] < math.exp(gained):
        return -1
    arm = draw_index(others, uniforms[5])
    values = new_whitened[:, arm] + normals[:n]
    if radius < math.inf:  # the length is drawn anew, below the face
        spread, length = (rise * rise).sum(), (rise * values).sum()
        middle = (rise * new_whitened[:, arm]).sum()
        drawn = middle + invert_mass(0.0, 1.0 / spread, -math.inf, radius - middle, uniforms[6])
        values += rise * ((drawn - length) / spread)
    solve_back(new_factor, n, values)
    if np.abs(values).sum() > radius:
        return -1
    theta[:] = 0.0
    theta[entered] = values
    leans[:] = new_leans
    return arm


@njit(cache=True)
def cut_off(active, factor, moment, radius, scores, whitened):
    """Add to each arm's score the log of its share on this side of one face of the ball.

    The face is the one that has the signs of the plain posterior's mean; arms that no longer count
    get minus infinity. Returns the whitened direction (n,) in which the length grows that the face
    bounds.
    """
    n, mean = active.size, moment[active]
    solve_forward(factor, n, mean)
    solve_back(factor, n, mean)
    rise = np.where(mean < 0.0, -1.0, 1.0)
    solve_forward(factor, n, rise)
    spread, best = (rise * rise).sum(), -math.inf
    whole = HALF_LOG_2PI + 0.5 * math.log(spread)
    for k in range(scores.size):
        if scores[k] < best + NEGLIGIBLE:  # what is cut off only makes it less
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
    """The log of the sum of their exponentials."""
    shares, top = np.empty(scores.size), highest(scores)
    write_shares(scores, 1.0, top, shares)
    return top + math.log(total(shares))


@njit(cache=True)
def mark_candidates(done, n, masses):
    """Write one for each feature that the data pin beside the n eliminated, else zero."""
    for i in range(masses.size):
        masses[i] = 0.0 if is_replaced(done, i) else 1.0
    for a in range(n):
        masses[done.active[a]] = 0.0


@njit(cache=True)
def log_weight(done, i, lean):
    """The log mass of a feature that leans so much beside the eliminated ones, its value integrated
    out.
    """
    excess = done.excess[i] + lean
    return 0.5 * (excess * excess / done.spread[i] - math.log(done.spread[i]))
