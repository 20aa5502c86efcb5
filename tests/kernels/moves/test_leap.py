"""The exchange of two features, an arm and all values, against the law that it must keep."""

import itertools
import math

import numpy as np
import pytest
from numba import config, njit
from scipy.special import log_ndtr, logsumexp, softmax
from scipy.stats import chisquare

from compiled import assert_compiled_equals_plain
from move_scenes import (
    POWER,
    SLAB,
    factored,
    joint_law,
    particle,
    scene,
)
from p_values import assert_plausible, of_zero_means
from soids.kernels.cholesky import Precision, eliminate, precision_factor
from soids.kernels.gram_rows import whole
from soids.kernels.moves import candidates
from soids.kernels.moves import leap as leaping
from soids.kernels.moves.candidates import draw_leans
from soids.kernels.moves.rearm import weigh_arms
from soids.kernels.moves.target import ActionSet, Particle

TILT = 1.5  # of the action set 4..8 of the scene
OWN_ODDS = np.array([0.0, 0.8, -0.6, 0.0, 0.4, -0.3])


def pulled(slopes, columns, tilt):
    """The slopes that each arm leads to; without a tilt there is one."""
    return [slopes + tilt * columns[:, k] for k in range(4, 9)] if tilt > 0.0 else [slopes]


def leaning(slopes, support, lean):
    """The slopes that each way to lean leads to; if nothing leans there is one."""
    for sides in itertools.product([-lean, lean] if lean > 0.0 else [0.0], repeat=len(support)):
        leant = slopes.copy()
        leant[support] += sides
        yield leant


def drawn(gram, slopes, columns, size, share, tilt, slab, lean, count, rng):
    """Parameters (n, 6) with supports of one size, arms summed out, by rejection: such a share of
    them lies in the ball, whose radius comes beside them.
    """
    supports = [list(support) for support in itertools.combinations(range(6), size)]
    laws = [
        (support, *joint_law(gram, slope, support, slab))
        for support in supports
        for leant in leaning(slopes, support, lean)
        for slope in pulled(leant, columns, tilt)
    ]
    roots = [np.linalg.cholesky(np.linalg.inv(precision)) for _, precision, _, _ in laws]
    weights = softmax([law[3] + OWN_ODDS[law[0]].sum() for law in laws])
    states = rng.choice(len(laws), int(count / share), p=weights)
    thetas = np.zeros((len(states), 6))
    for theta, state in zip(thetas, states, strict=True):
        support, _, mean, _ = laws[state]
        theta[support] = mean + roots[state] @ rng.standard_normal(size)
    lengths = np.abs(thetas).sum(axis=1)
    radius = float(np.quantile(lengths, share)) if share < 1.0 else math.inf
    return thetas[lengths <= radius], radius


@njit
def leap_on(theta, precision, radius, arms, slopes, moment, lean, leanings, numbers):
    """Leap once for each row of random numbers; returns how often the parameter changed."""
    leaps = 0
    for i in range(len(leanings)):
        active = np.flatnonzero(theta)
        factor = precision_factor(active, precision)[0]
        leans = draw_leans(theta, active, lean, leanings[i])
        law = weigh_arms(active, factor, slopes + leans, arms)
        one = Particle(theta, precision, radius, 0.0, OWN_ODDS)
        own = leaping.LeapNumbers(numbers.uniforms[i], numbers.sides[i], numbers.normals[i])
        leaps += leaping.leap(one, law, arms, slopes, moment, leans, lean, own) >= 0
        if not np.array_equal(np.abs(leans), lean * (theta != 0.0)):  # Numba takes no assert here
            raise AssertionError("what leans must be what is not zero")
    return leaps


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize(
    ("size", "share", "tilt", "slab", "lean"),
    [
        (1, 0.5, TILT, SLAB, 0.0),
        (2, 1.0, TILT, SLAB, 0.0),
        (2, 0.1, TILT, SLAB, 0.0),
        (3, 0.1, TILT, SLAB, 0.0),
        (3, 0.3, 0.0, SLAB, 0.0),
        (3, 0.3, TILT, 0.0, 0.0),
        (1, 0.5, TILT, SLAB, 1.0),
        (2, 1.0, TILT, SLAB, 1.0),
        (3, 0.3, TILT, SLAB, 1.0),
    ],
)
def test_leaps_leave_the_law_in_the_ball_as_it_is(size, share, tilt, slab, lean):
    """Ten leaps each: supports by chi-square, and the means of values, lengths and rewards. Without
    a slab the rewards have no noise: supports that hold the true one have means of zero, whose sign
    must be the same each time.
    """
    rng = np.random.default_rng(30 + size)
    gram, slopes, columns, theta, _ = scene(6)
    slopes, moment = 0.5 * slopes, 0.5 * slopes + rng.normal(0.0, 0.5, 6)
    if slab == 0.0:
        rows, theta[3] = rng.normal(0.0, 0.5, (12, 6)), 0.0
        gram = whole(rows.T @ rows)
        moment = POWER * gram.rows @ theta
        slopes = moment + rng.normal(0.0, 0.5, 6)

    precision, arms = Precision(POWER, gram, slab), ActionSet(columns, 4, 9, tilt)

    def p_values(rng, times):
        count = 5_000 * times
        before, radius = drawn(gram, slopes, columns, size, share, tilt, slab, lean, count, rng)
        after, leaps = before.copy(), 0
        for theta in after:
            uniforms, sides = rng.random((10, leaping.DRAWN)), rng.random((10, 2))
            numbers = leaping.LeapNumbers(uniforms, sides, rng.standard_normal((10, size)))
            leanings = rng.random((10, size))
            leaps += leap_on(
                theta, precision, radius, arms, slopes, moment, lean, leanings, numbers
            )
        assert leaps > (0.4 if lean > 0.0 else 0.5) * len(after)
        assert (np.abs(after).sum(axis=1) <= radius).all()
        change = np.column_stack([after - before, np.abs(after) - np.abs(before)])
        change = np.column_stack([change, change[:, :6] @ columns[:, 4:9]])
        return np.append(of_zero_means(change), supports_p_value(before, after))

    assert_plausible(p_values)


def supports_p_value(before, after):
    """The p-value of the claim that both have the same law of supports, by chi-square."""
    supports, first = np.unique(before != 0.0, axis=0, return_inverse=True)
    second = [np.flatnonzero((supports == (theta != 0.0)).all(axis=1)) for theta in after]
    second = np.array([place[0] if place.size else len(supports) for place in second])
    counts = np.array([np.bincount(at, minlength=len(supports) + 1) for at in (first, second)])
    common = counts[0] > 30
    was, found = (np.append(c[common], c[~common].sum() + 1) for c in counts)
    # Both are counts: if they were independent their difference had twice the variance of one.
    return chisquare(was + (found - was) / 2.0**0.5, was).pvalue


def test_what_lies_beyond_a_face_of_the_ball_is_cut_off():
    gram, slopes, columns, theta, _ = scene(3)
    active, factor = factored(theta, gram)
    law = weigh_arms(active, factor, slopes, ActionSet(columns, 4, 9, TILT))
    cut, scores = law.scores.copy(), law.scores
    leaping.cut_off(law, slopes, 0.5, cut)
    signs = np.sign(joint_law(gram, slopes, active)[1])
    for k in range(5):
        precision, mean, _ = joint_law(gram, slopes + TILT * columns[:, 4 + k], active)
        spread = (signs @ np.linalg.solve(precision, signs)) ** 0.5
        assert cut[k] - scores[k] == pytest.approx(log_ndtr((0.5 - signs @ mean) / spread))


def kernel_calls():
    """One call of every kernel."""
    gram, slopes, columns, theta, normals = scene(7)
    leans, sides = 0.5 * np.sign(theta), np.array([0.3, 0.6])
    one, arms = particle(theta, POWER, gram, SLAB, 9.0), ActionSet(columns, 4, 9, TILT)
    done = eliminate(theta, 3, one.precision, slopes, leans, 0.5)
    law = weigh_arms(*factored(theta, gram), slopes, arms)
    own = leaping.LeapNumbers(np.array([0.3, 0.6, 0.1, 0.9, 0.0, 0.4, 0.5]), sides, normals)
    return {
        leaping.leap: (one, law, arms, slopes, slopes, leans, 0.5, own),
        leaping.cut_off: (law, slopes, 0.5, law.scores.copy()),
        candidates.mark: (done, 3, np.empty(6)),
        candidates.log_weight: (done, 2, -0.5),
        leaping.log_sum: (slopes,),
    }


@pytest.mark.parametrize("kernel", kernel_calls())
def test_compiled_equals_plain(kernel):
    arguments = kernel_calls()[kernel]
    assert_compiled_equals_plain(kernel, *arguments)


def test_the_log_of_a_sum_is_that_of_scipy():
    scores = np.random.default_rng(0).normal(0.0, 20.0, 50)
    assert leaping.log_sum(scores) == pytest.approx(logsumexp(scores))
