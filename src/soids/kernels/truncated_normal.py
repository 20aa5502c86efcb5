"""Mass and inversion of a Gaussian bump cut to an interval, safe in every tail.

The bump is ``exp(slope * x - precision * x**2 / 2)`` on ``[low, high]``, docs/sampler.md section 5.
Its precision may be zero (the bump is then exponential, or flat), its interval infinite (if the
precision is not zero), and its peak thousands of standard deviations outside. Seen from the end of
the interval nearest to the peak, the bump is always a decaying piece with ``fall >= 0``,

    decay(fall, precision, width) = integral over [0, width] of exp(-fall y - precision y^2 / 2),

which is a difference of two scaled complementary error functions.
"""

import math

import numpy as np

from soids.kernels.compiler import njit
from soids.kernels.normal_quantile import normal_quantile

SQRT_PI = math.sqrt(math.pi)
LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
NODES, WEIGHTS = 0.5 * (NODES + 1.0), 0.5 * WEIGHTS

FLAT = 0.5  # total fall below which the error functions nearly cancel; ten nodes are exact then
STRAIGHT = 1e8  # ratio beyond which the curvature of a piece is less than rounding
NEAR = 5.0  # ratio up to which Newton's method begins at the quantile of the uncut bump
FAR = 8.5**2  # squared standard deviations beyond which a tail is less than rounding
LAST = 1.0 - 2.0**-53  # the largest share below one: an infinite interval has no last point
FIRST = 1e-300  # the smallest positive share


@njit(cache=True)
def erfcx(x):
    """``exp(x**2) * erfc(x)`` for ``x >= 0``."""
    if x < 10.0:
        return math.exp(x * x) * math.erfc(x)
    step, series = 0.5 / (x * x), 1.0
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
    """The mass of a decaying piece."""
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
    """The ``y`` before which a decaying piece has the given share of its mass."""
    share = min(share, LAST)
    total = whole_fall(fall, precision, width)
    if total < FLAT:
        goal, y = share * decay(fall, precision, width), share * width
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
    # log erfc is concave and falling, so Newton overshoots at most once and then converges
    # monotonically. From a quantile, if it has its digits, few steps are left.
    y = 0.0
    if fall < NEAR * root:
        tail = 0.5 * math.erfc(fall / root) * math.exp(goal)
        y = max((-math.sqrt(precision) * normal_quantile(tail) - fall) / precision, 0.0)
    for _ in range(60):
        tail = erfcx((fall + precision * y) / root)
        excess = math.log(tail / near) - y * (fall + 0.5 * precision * y) - goal
        step = excess * tail * SQRT_PI / root
        y = max(y + step, 0.0)
        if abs(step) <= 1e-9 * y:  # the next step would be rounding
            break
    return min(y, width)


@njit(cache=True)
def slope_at(point, slope, precision):
    """The slope of the bump's exponent at a point, which may be infinite."""
    return slope - precision * point if precision > 0.0 else slope


@njit(cache=True)
def is_uncut(slope, precision, low, high):
    """Whether the mass outside of ``[low, high]`` is less than rounding."""
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
    mode, root = slope / precision, math.sqrt(0.5 * precision)
    mass = math.erf((mode - low) * root) + math.erf((high - mode) * root)
    return 0.5 * slope * mode + math.log(0.5 * SQRT_PI / root * mass)


@njit(cache=True)
def log_twin_mass(slope, lean, precision, low, high):
    """The log mass of two bumps with the lean added to and taken from the slope; one if it is 0."""
    if lean == 0.0:
        return log_mass(slope, precision, low, high)
    up = log_mass(slope + lean, precision, low, high)
    down = log_mass(slope - lean, precision, low, high)
    return max(up, down) + math.log1p(math.exp(-abs(up - down)))


@njit(cache=True)
def least_log_mass(slope, precision, value):
    """A lower bound on the log mass of the bump between zero and a value (Jensen's inequality)."""
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
    left, right = decay(0.0, precision, mode - low), decay(0.0, precision, high - mode)
    split = share * (left + right)
    if split < left:
        return mode - invert_decay(0.0, precision, mode - low, 1.0 - split / left)
    return mode + invert_decay(0.0, precision, high - mode, (split - left) / right)


@njit(cache=True)
def invert_twin_mass(slope, lean, precision, low, high, share):
    """A point of two bumps as in ``log_twin_mass``, the upper one first, and its bump's lean."""
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
    """The probability of an event with these log odds."""
    if log_odds < 0.0:
        odds = math.exp(log_odds)
        return odds / (1.0 + odds)
    return 1.0 / (1.0 + math.exp(-log_odds))
