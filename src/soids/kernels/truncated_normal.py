"""Mass and inversion of a Gaussian bump cut to an interval, safe in every tail.

The bump is ``exp(slope * x - precision * x**2 / 2)`` on ``[low, high]``. Its precision may be zero
(then it is an exponential, or flat), its interval may be infinite (if the precision is not zero),
and its peak may lie thousands of standard deviations outside. Seen from the end of the interval
nearest to the peak, what is left is always a decaying piece

    decay(fall, precision, width) = integral over [0, width] of exp(-fall y - precision y^2 / 2)

with ``fall >= 0``, and that is a difference of two scaled complementary error functions.
"""

import math

import numpy as np
from numba import njit

from soids.kernels.normal_quantile import normal_quantile

SQRT_PI = math.sqrt(math.pi)
LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
NODES, WEIGHTS = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS

# Below this total fall the two error functions nearly cancel, and ten quadrature nodes are exact to
# rounding.
FLAT = 0.5
# Beyond this ratio the curvature of a piece changes nothing that a double can hold.
STRAIGHT = 1e8
# Up to this ratio the quantile of what is left is near enough to begin with.
NEAR = 5.0
# Squared standard deviations beyond which a tail holds less than rounding.
FAR = 8.5**2
# The largest double below one: an infinite interval has no point that leaves nothing behind it.
LAST = 1.0 - 2.0**-53
FIRST = 1e-300  # the smallest share that is told from none


@njit(cache=True)
def erfcx(x):
    """``exp(x**2) * erfc(x)`` for ``x >= 0``."""
    if x < 10.0:
        return math.exp(x * x) * math.erfc(x)
    step = 0.5 / (x * x)
    series = 1.0
    for n in range(10, 0, -1):  # asymptotic series: the tenth term is below 1e-14 from x = 10 on
        series = 1.0 - (2 * n - 1) * step * series
    return series / (x * SQRT_PI)


@njit(cache=True)
def whole_fall(fall, precision, width):
    """How far the exponent of a decaying piece falls over its width."""
    if width == math.inf:
        return math.inf
    return width * (fall + 0.5 * precision * width)


@njit(cache=True)
def decay(fall, precision, width):
    """The mass of a decaying piece; ``fall`` must not be negative."""
    total = whole_fall(fall, precision, width)
    if total < FLAT:
        mass = 0.0
        for i in range(NODES.size):
            y = width * NODES[i]
            mass += WEIGHTS[i] * math.exp(-y * (fall + 0.5 * precision * y))
        return mass * width
    root = math.sqrt(2.0 * precision)
    if fall >= STRAIGHT * root:
        return -math.expm1(-total) / fall
    near = erfcx(fall / root)
    far = 0.0 if total > 745.0 else math.exp(-total) * erfcx((fall + precision * width) / root)
    return (near - far) * SQRT_PI / root


@njit(cache=True)
def invert_decay(fall, precision, width, share):
    """The ``y`` at which a decaying piece has spent the given share of its mass."""
    share = min(share, LAST)
    total = whole_fall(fall, precision, width)
    if total < FLAT:
        goal = share * decay(fall, precision, width)
        y = share * width
        for _ in range(20):
            step = (decay(fall, precision, y) - goal) * math.exp(y * (fall + 0.5 * precision * y))
            y = min(max(y - step, 0.0), width)
            if abs(step) <= 1e-15 * width:
                break
        return y
    root = math.sqrt(2.0 * precision)
    if fall >= STRAIGHT * root:
        return min(-math.log1p(share * math.expm1(-total)) / fall, width)
    near = erfcx(fall / root)
    far = 0.0 if total > 745.0 else math.exp(-total) * erfcx((fall + precision * width) / root)
    goal = math.log1p(share * (far / near - 1.0))
    # log erfc is concave and falling, so Newton overshoots once at most and then comes back
    # monotonically; from a quantile, if no tail takes its digits, it has hardly anywhere to go.
    y = 0.0
    if fall < NEAR * root:
        tail = 0.5 * math.erfc(fall / root) * math.exp(goal)
        y = max((-math.sqrt(precision) * normal_quantile(tail) - fall) / precision, 0.0)
    for _ in range(60):
        tail = erfcx((fall + precision * y) / root)
        excess = math.log(tail / near) - y * (fall + 0.5 * precision * y) - goal
        step = excess * tail * SQRT_PI / root
        y = max(y + step, 0.0)
        if abs(step) <= 1e-9 * y:  # the next one would be rounding
            break
    return min(y, width)


@njit(cache=True)
def slope_at(point, slope, precision):
    """The slope of the bump's exponent at a point, which may be infinite."""
    return slope - precision * point if precision > 0.0 else slope


@njit(cache=True)
def is_uncut(slope, precision, low, high):
    """Whether the ends of ``[low, high]`` cut nothing off the bump that a double could hold."""
    if precision <= 0.0:
        return False
    left, right = slope - precision * low, precision * high - slope
    return left > 0.0 and right > 0.0 and min(left, right) ** 2 > FAR * precision


@njit(cache=True)
def log_mass(slope, precision, low, high):
    """The logarithm of the mass of the bump on ``[low, high]``."""
    if is_uncut(slope, precision, low, high):
        return 0.5 * (slope * slope / precision + LOG_2PI - math.log(precision))
    if slope_at(low, slope, precision) <= 0.0:
        peak = low * (slope - 0.5 * precision * low)
        return peak + math.log(decay(precision * low - slope, precision, high - low))
    if slope_at(high, slope, precision) >= 0.0:
        peak = high * (slope - 0.5 * precision * high)
        return peak + math.log(decay(slope - precision * high, precision, high - low))
    mode = slope / precision
    root = math.sqrt(0.5 * precision)
    mass = math.erf((mode - low) * root) + math.erf((high - mode) * root)
    return 0.5 * slope * mode + math.log(0.5 * SQRT_PI / root * mass)


@njit(cache=True)
def log_twin_mass(slope, lean, precision, low, high):
    """The logarithm of the mass of two bumps whose slopes are raised and lowered by the lean, or of
    the single one if that is zero.
    """
    if lean == 0.0:
        return log_mass(slope, precision, low, high)
    up = log_mass(slope + lean, precision, low, high)
    down = log_mass(slope - lean, precision, low, high)
    return max(up, down) + math.log1p(math.exp(-abs(up - down)))


@njit(cache=True)
def least_log_mass(slope, precision, value):
    """A lower bound on the log mass of the bump between zero and a value, without error functions.

    By Jensen, width times geometric mean is no more than the mass.
    """
    if value == 0.0:
        return -math.inf
    return math.log(abs(value)) + value * (0.5 * slope - precision * value / 6.0)


@njit(cache=True)
def invert_mass(slope, precision, low, high, share):
    """The point below which the bump on ``[low, high]`` holds the given share of its mass."""
    if is_uncut(slope, precision, low, high):
        inside = min(max(share, FIRST), LAST)
        point = slope / precision + normal_quantile(inside) / math.sqrt(precision)
        return min(max(point, low), high)
    if slope_at(low, slope, precision) <= 0.0:
        return low + invert_decay(precision * low - slope, precision, high - low, share)
    if slope_at(high, slope, precision) >= 0.0:
        return high - invert_decay(slope - precision * high, precision, high - low, 1.0 - share)
    mode = slope / precision
    left = decay(0.0, precision, mode - low)
    right = decay(0.0, precision, high - mode)
    split = share * (left + right)
    if split < left:
        return mode - invert_decay(0.0, precision, mode - low, 1.0 - split / left)
    return mode + invert_decay(0.0, precision, high - mode, (split - left) / right)


@njit(cache=True)
def invert_twin_mass(slope, lean, precision, low, high, share):
    """A point of two bumps as in ``log_twin_mass``, and the lean of the bump that it is of.

    The first share of the mass is that of the bump which leans upwards.
    """
    if lean == 0.0:
        return invert_mass(slope, precision, low, high, share), 0.0
    up = log_mass(slope + lean, precision, low, high)
    down = log_mass(slope - lean, precision, low, high)
    upwards = share_of(up - down)
    if share < upwards:
        return invert_mass(slope + lean, precision, low, high, share / upwards), lean
    rest = (share - upwards) / share_of(down - up)
    return invert_mass(slope - lean, precision, low, high, rest), -lean


@njit(cache=True)
def share_of(log_odds):
    """The probability of what has these log odds."""
    if log_odds < 0.0:
        odds = math.exp(log_odds)
        return odds / (1.0 + odds)
    return 1.0 / (1.0 + math.exp(-log_odds))
