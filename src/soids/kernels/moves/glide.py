"""Glide: a flip of one coordinate to which the other active ones adapt (docs/sampler.md section 4).

j, y           j, old     scalar  the coordinate and its value
O              active     (n,)    the other active features (and j, if it is active)
-B             way        (n,)    how much each of the others changes for a unit of y
P_jj - P_jO B  precision  scalar  of y
h_j - B' h_O   slope      scalar  at zero
I              low, high  scalar  interval that holds the ball's part of the line
omega          odds       scalar  log odds of the bump over the atom
"""

import math

import numpy as np

from soids.kernels import cholesky, truncated_normal
from soids.kernels.categorical import total
from soids.kernels.cholesky import PINNED
from soids.kernels.compiler import njit
from soids.kernels.moves.flip import LOG_RARE, RARE, share_inside
from soids.kernels.rewards import support

FREE = 25  # number of other active features up to which every coordinate glides


@njit(cache=True)
def note(active, inverse, centre, n, means, variances, places):
    """Write means and variances of the n active values, and the place of each feature."""
    cholesky.write_marginals(inverse, centre, n, means, variances)
    for a in range(n):
        places[active[a]] = a


@njit(cache=True)
def answer(way, inverse, shadow, n, j, own, precision):
    """Write how the n active values change for a unit of ``j``, whose place is ``own``, or -1."""
    way[:n] = 0.0
    if own < 0:
        for b in range(n):
            for a in range(b + 1):
                way[a] -= inverse[b, a] * shadow[b, j]
        return
    for b in range(own, n):
        for a in range(b + 1):
            way[a] += precision * inverse[b, own] * inverse[b, a]
    way[own] = 0.0  # it is not one of the others


@njit(cache=True)
def bounds(theta, way, active, n, old, radius):
    """An interval that holds all ``y`` with ``|y| + sum |others + (y - old) * way| <= radius``.

    It ends at the tangents at zero, above which the norm lies, as it is convex.
    """
    length, rise = -abs(old), 0.0
    for a in range(n):
        value = theta[active[a]] - old * way[a]
        length += abs(value)
        rise += way[a] if value > 0.0 else -way[a]
    room = radius - length
    low = -room / (1.0 - rise) if rise < 1.0 else -math.inf
    high = room / (1.0 + rise) if rise > -1.0 else math.inf
    return low, high


@njit(cache=True, inline="always")
def glide(particle, done, prior, eager, uniforms):
    """Flip every coordinate in turn, once or several times, while the other active ones adapt.

    A step that would leave the ball is refused. ``done`` has eliminated the active features, and
    each change updates it. Beside many others only some coordinates try, which keeps the law, as a
    try does not change the number of others.
    """
    theta, precision_matrix = particle.theta, particle.precision
    radius, volume, log_odds = particle.radius, particle.log_volume, prior.log_odds
    n, lean, own_odds = support(theta).size, done.lean, prior.own_odds
    # Every access to a record counts references, which takes time.
    active, inverse = done.active, done.inverse
    shadow, centre = done.shadow, done.centre
    precisions, slopes = done.precisions, done.slopes
    diagonal, leans = done.diagonal, done.leans
    way, means, variances = np.empty((3, log_odds.size))
    places = np.empty(theta.size, dtype=np.int64)
    note(active, inverse, centre, n, means, variances, places)
    # Any q > 0 bounds a bump's width, -log p <= q / p - 1 - log q. So low odds are seen without a
    # logarithm. A good q is near the usual precision p, or above it.
    usual = 0.5 * total(precisions) / theta.size + 1e-300
    bumps = math.log(2.0) if lean > 0.0 else 0.0
    wide = 1.0 + math.log(usual) + 2.0 * (volume - truncated_normal.HALF_LOG_2PI - bumps)
    j = -1
    for u in uniforms:
        j = j + 1 if j + 1 < theta.size else 0
        old, own = theta[j], -1
        rest = n - (old != 0.0)
        if rest > FREE:
            u *= (rest / FREE) ** 2
            if u >= 1.0:
                continue
        if old == 0.0:
            if n == log_odds.size:
                continue
            precision, slope = precisions[j], slopes[j]
            steepest, asked = abs(slope) + lean, LOG_RARE if u > RARE else math.log(u + 1e-300)
            asked -= log_odds[n] + own_odds[j]
            if steepest * steepest + usual < (wide + 2.0 * asked) * precision:
                continue
        else:
            if n <= prior.smallest:
                continue
            own = places[j]
            precision = 1.0 / variances[own]
            slope = precision * means[own] - leans[j]
        # A feature that the others nearly replace may neither enter nor leave this way.
        if precision <= PINNED * diagonal[j]:
            continue
        prior_odds = log_odds[rest] + own_odds[j] - volume
        if own >= 0:
            # A ball that holds zero holds the way from there to here, which has mass enough.
            mass = truncated_normal.least_log_mass(slope + leans[j], precision, old)
            least = prior_odds + mass
            if u < 1.0 - RARE and least > -LOG_RARE:
                continue
            if least > 0.0 and u < 1.0 - math.exp(-least):
                continue
        whole = truncated_normal.log_twin_mass(slope, lean, precision, -math.inf, math.inf)
        odds = prior_odds + whole
        if own < 0 and odds < math.log(u + 1e-300):
            continue
        answer(way, inverse, shadow, n, j, own, precision)
        low, high = -math.inf, math.inf
        if odds > 0.0 and radius < math.inf:
            low, high = bounds(theta, way, active, n, old, radius)
            low, high = min(low, old), max(high, old)  # on the rim, rounding may exclude it
            if not low < high:
                continue
            cut = truncated_normal.log_twin_mass(slope, lean, precision, low, high)
            odds = prior_odds + cut
        share = share_inside(odds, old != 0.0, eager) if rest >= prior.smallest else 1.0
        enters = u < share
        if enters == (old != 0.0):
            continue  # it stays; values are drawn anew by other moves, all at once
        new, side = 0.0, 0.0
        if enters:
            place = u / share
            new, side = truncated_normal.invert_twin_mass(slope, lean, precision, low, high, place)
        length = abs(new) - abs(old)
        for a in range(n):
            length += abs(theta[active[a]] + (new - old) * way[a])
        if new == old or not length <= radius:  # a bump may be drawn at zero itself
            continue
        theta[j] = new
        if enters:
            cholesky.join(done, n, j, side, precision_matrix)
            note(active, inverse, centre, n + 1, means, variances, places)
            sure = cholesky.surely_pinned(active, diagonal, n + 1, variances)
            if not (sure or cholesky.is_pinned(theta, precision_matrix)):
                cholesky.drop(done, n + 1, n)
                note(active, inverse, centre, n, means, variances, places)
                theta[j] = 0.0
                continue
        for a in range(n):
            if a != own:
                theta[active[a]] += (new - old) * way[a]
        if enters:
            n += 1
        else:
            cholesky.drop(done, n, own)
            n -= 1
            note(active, inverse, centre, n, means, variances, places)
