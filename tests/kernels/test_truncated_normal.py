"""The bump's mass and its inverse, against arithmetic with a hundred digits.

What the moves rely on, and what is claimed here: masses are right to 1e-14 of themselves, points to
1e-14 in the share of the mass below them (or as near as a double can be to the exact point).
"""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit

from compiled import plain
from soids.kernels import truncated_normal

# A context of our own: the global one belongs to all tests.
exact = mpmath.mp.clone()
exact.dps = 100

SHARES = [0.0, 1e-18, 1e-9, 0.02, 0.5, 0.999, 1.0 - 2.0**-53]

PIECES = [  # (fall, precision, width)
    piece
    for piece in itertools.product(
        [0.0, 1e-8, 1e-3, 0.7, 50.0, 1e4, 1e9],
        [0.0, 1e-12, 1e-4, 1.0, 1e6],
        [1e-6, 0.1, 3.0, 1e4, math.inf],
    )
    if piece != (0.0, 0.0, math.inf)
]

BUMPS = [  # (slope, precision, low, high): peaks up to 5000 sds from zero, inside and outside
    (peak * math.sqrt(precision), precision, low, high)
    for peak, precision, (low, high) in itertools.product(
        [0.0, -0.3, 0.3, 5.0, -40.0, 40.0, -5e3, 5e3],
        [1e-12, 1e-4, 1.0, 1e6],
        [(-2.0, 2.0), (-1e-3, 1e-3), (-1e3, 1e3), (-math.inf, 0.0), (0.0, math.inf)],
    )
] + [
    (4.0, 0.5, -math.inf, math.inf),
    (-30.0, 2.0, 1.0, 5.0),
    (0.0, 0.0, -3.0, 3.0),  # flat
    (1e-12, 0.0, -3.0, 3.0),
    (-700.0, 0.0, -3.0, 3.0),
    (5.0, 0.0, -math.inf, 0.0),
    (-5.0, 0.0, 0.0, math.inf),
]


def exact_mass(slope, precision, low, high):
    """The mass of the bump on the interval."""
    slope, precision, low, high = map(exact.mpf, (slope, precision, low, high))
    if precision == 0 == slope:
        return high - low
    if precision == 0:
        return (exact.exp(slope * high) - exact.exp(slope * low)) / slope
    mode, root = slope / precision, exact.sqrt(precision / 2)
    start, end = (low - mode) * root, (high - mode) * root
    if end < 0:
        start, end = -end, -start  # erfc keeps its digits in the right tail only
    tails = exact.erfc(start) - exact.erfc(end)
    return exact.exp(slope * mode / 2) * exact.sqrt(exact.pi) / (2 * root) * tails


def test_erfcx_is_exact_to_1e_14():
    for x in [0.0, 1e-300, *np.linspace(1e-3, 30.0, 1000), *np.geomspace(30.0, 1e9, 50)]:
        right = exact.exp(exact.mpf(x) ** 2) * exact.erfc(x)
        assert abs(truncated_normal.erfcx(x) / right - 1) < 1e-14, x


def test_decay_is_exact_to_1e_14():
    for fall, precision, width in PIECES:
        error = (
            truncated_normal.decay(fall, precision, width)
            / exact_mass(-fall, precision, 0.0, width)
            - 1
        )
        assert abs(error) < 1e-14, (fall, precision, width)


@pytest.mark.parametrize("share", SHARES)
def test_invert_decay_leaves_its_share_behind_to_1e_14(share):
    for fall, precision, width in PIECES:
        y = truncated_normal.invert_decay(fall, precision, width, share)
        behind = exact_mass(-fall, precision, 0.0, y) / exact_mass(-fall, precision, 0.0, width)
        assert 0.0 <= y <= width
        assert y < math.inf
        assert abs(behind - share) < 1e-14, (fall, precision, width)


def test_log_mass_is_exact_to_1e_14():
    for bump in BUMPS:
        right = exact.log(exact_mass(*bump))
        assert abs(truncated_normal.log_mass(*bump) - right) < 1e-14 * (1 + abs(right)), bump


@pytest.mark.parametrize("share", SHARES)
def test_invert_mass_leaves_its_share_below_to_1e_14_or_four_roundings(share):
    for bump in BUMPS:
        slope, precision, low, high = bump
        x = truncated_normal.invert_mass(*bump, share)
        assert low <= x <= high
        assert abs(x) < math.inf
        # A point is found as an end or the mode plus a distance, so it is as coarse as these are.
        marks = [x, low, high, slope / precision if precision else 0.0]
        rounding = 4 * np.spacing(max(abs(m) for m in marks if low <= m <= high and abs(m) < 1e300))
        whole = exact_mass(*bump)
        under = exact_mass(slope, precision, low, max(x - rounding, low)) / whole
        over = exact_mass(slope, precision, low, min(x + rounding, high)) / whole
        assert under - 1e-14 < share < over + 1e-14, bump


@pytest.mark.parametrize("precision", [1e-307, 1e-30])
@pytest.mark.parametrize("slope", [0.0, 1e-3, 0.7, 1e4])
@pytest.mark.parametrize("slack", [0.1, 3.0, 1e4])
def test_a_vanishing_precision_is_as_good_as_none(slope, precision, slack):
    mass = truncated_normal.log_mass(slope, precision, -slack, slack)
    point = truncated_normal.invert_mass(slope, precision, -slack, slack, 0.2)
    assert mass == pytest.approx(truncated_normal.log_mass(slope, 0.0, -slack, slack), rel=1e-14)
    assert point == pytest.approx(
        truncated_normal.invert_mass(slope, 0.0, -slack, slack, 0.2), rel=1e-14
    )


slopes = st.floats(-1e6, 1e6)
precisions = st.just(0.0) | st.floats(1e-12, 1e9)
slacks = st.floats(1e-6, 1e6)
shares = st.floats(0.0, 1.0, exclude_max=True)


@given(slopes, precisions, slacks, shares)
def test_no_point_lies_outside_the_ball(slope, precision, slack, share):
    assert abs(truncated_normal.invert_mass(slope, precision, -slack, slack, share)) <= slack


@given(slopes, precisions, slacks, shares, shares)
def test_a_larger_share_never_ends_lower(slope, precision, slack, one, other):
    assume(abs(one - other) > 1e-13)  # what is closer is equal to rounding
    points = [
        truncated_normal.invert_mass(slope, precision, -slack, slack, u)
        for u in sorted([one, other])
    ]
    assert points[0] <= points[1]


@given(st.floats(-1e3, 1e3), st.just(0.0) | st.floats(1e-6, 1e4), st.floats(1e-6, 1e3))
def test_the_least_mass_is_no_more_than_the_mass(slope, precision, value):
    for side in (-1.0, 1.0):
        low, high = sorted((0.0, side * value))
        mass = truncated_normal.log_mass(slope, precision, low, high)
        assert truncated_normal.least_log_mass(slope, precision, side * value) <= mass + 1e-12 * (
            1.0 + abs(mass)
        )


@given(slopes, precisions, slacks, slacks)
def test_a_longer_interval_never_holds_less(slope, precision, one, other):
    short, long = sorted([one, other])
    less = truncated_normal.log_mass(slope, precision, -short, short)
    more = truncated_normal.log_mass(slope, precision, -long, long)
    assert less <= more + 1e-14 * (1 + abs(more))


@pytest.mark.parametrize(
    ("kernel", "inputs"),
    [
        (truncated_normal.erfcx, [(x,) for x in [0.0, 0.3, 4.0, 9.9, 10.0, 1e5]]),
        (truncated_normal.whole_fall, PIECES),
        (truncated_normal.decay, PIECES),
        (truncated_normal.invert_decay, [(*piece, 0.37) for piece in PIECES]),
        (truncated_normal.log_mass, BUMPS),
        (truncated_normal.invert_mass, [(*bump, 0.37) for bump in BUMPS]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_compiled_equals_plain(kernel, inputs):
    for case in inputs:
        assert kernel(*case) == pytest.approx(plain(kernel)(*case), rel=1e-14), case


@pytest.mark.parametrize("lean", [0.0, 0.3, 8.0])
@pytest.mark.parametrize("bump", [(1.5, 2.0, -3.0, 2.0), (-30.0, 2.0, 1.0, 5.0), (0.0, 1.0, -9, 9)])
def test_twins_are_two_bumps_and_draws_fall_into_each_by_its_mass(bump, lean):
    slope, precision, low, high = bump
    masses = [exact_mass(slope + side, precision, low, high) for side in {lean: 0, -lean: 0}]
    log_mass = truncated_normal.log_twin_mass(slope, lean, precision, low, high)
    assert log_mass == pytest.approx(float(exact.log(sum(masses))), rel=1e-13, abs=1e-13)
    grid = (np.arange(1_000) + 0.5) / 1_000
    drawn = [truncated_normal.invert_twin_mass(slope, lean, precision, low, high, u) for u in grid]
    up = float(masses[0] / sum(masses))
    for u, (point, side) in zip(grid, drawn, strict=True):
        assert side == (lean if u < up else -lean)
        inside = u / up if u < up else (u - up) / (1.0 - up)
        below = exact_mass(slope + side, precision, low, point)
        whole = masses[0] if side == lean else masses[1]
        assert float(below / whole) == pytest.approx(inside, abs=1e-10)


def test_a_share_of_odds_is_right_in_both_tails():
    for odds in (-800.0, -40.0, 0.3, 40.0, 800.0):
        assert truncated_normal.share_of(odds) == pytest.approx(float(expit(odds)), rel=1e-14)
