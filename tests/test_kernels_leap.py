"""The exchange of two features, an arm and all values, against the law that it must keep."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, softmax
from scipy.stats import chisquare

from soids.kernels import leap as leaping
from soids.kernels.elimination import eliminate
from soids.kernels.gram import whole
from soids.kernels.joint import weigh_arms
from test_kernels_joint import POWER, SLAB, factored, joint_law, scene
from test_kernels_sparse import outcome, plain

TILT = 1.5  # of the menu 4..8 of the scene


def drawn(gram, slopes, columns, size, share, rng):
    """Parameters (n, 6) with supports of one size, arms summed out, by rejection: such a share of
    them lies in the ball, whose radius comes beside them.
    """
    pulled = [slopes + TILT * columns[:, k] for k in range(4, 9)]
    supports = list(itertools.combinations(range(6), size))
    laws = [joint_law(gram, pull, list(support)) for support in supports for pull in pulled]
    roots = [np.linalg.cholesky(np.linalg.inv(precision)) for precision, _, _ in laws]
    states = rng.choice(len(laws), int(4_000 / share), p=softmax([mass for _, _, mass in laws]))
    thetas = np.zeros((len(states), 6))
    for theta, state in zip(thetas, states, strict=True):
        values = laws[state][1] + roots[state] @ rng.standard_normal(size)
        theta[list(supports[state // 5])] = values
    lengths = np.abs(thetas).sum(axis=1)
    radius = float(np.quantile(lengths, share)) if share < 1.0 else math.inf
    return thetas[lengths <= radius], radius


def leapt(gram, slopes, columns, theta, radius, moment, uniforms, normals, kernel=leaping.leap):
    theta = theta.copy()
    active, factor = factored(theta, gram)
    weighed = weigh_arms(active, factor, slopes, columns, 4, 9, TILT)
    arm = kernel(
        theta, active, factor, *weighed, POWER, radius, gram, SLAB, moment, slopes, columns, 4, 9,
        TILT, uniforms, normals,
    )  # fmt: skip
    return arm, theta


@pytest.mark.parametrize(
    ("size", "share"), [(1, 0.5), (2, 1.0), (2, 0.1), (3, 1.0), (3, 0.1), (3, 0.5)]
)
def test_a_leap_leaves_the_law_in_the_ball_as_it_is(size, share):
    """Supports by chi-square (right moves fail with probability 1e-4), rewards and lengths within
    four standard errors of what they were.
    """
    rng = np.random.default_rng(20 + size)
    gram, slopes, columns, _, _ = scene(6)
    slopes, moment = 0.5 * slopes, 0.5 * slopes + rng.normal(0.0, 0.5, 6)
    before, radius = drawn(gram, slopes, columns, size, share, rng)
    after, arms = before.copy(), []
    for theta in after:
        uniforms, normals = rng.random(leaping.DRAWN), rng.standard_normal(size)
        arm, theta[:] = leapt(gram, slopes, columns, theta, radius, moment, uniforms, normals)
        arms.append(arm)
    assert (np.abs(after).sum(axis=1) <= radius).all()
    assert np.mean(np.array(arms) >= 0) > 0.05, np.mean(np.array(arms) >= 0)
    supports, first = np.unique(before != 0.0, axis=0, return_inverse=True)
    second = [np.flatnonzero((supports == (theta != 0.0)).all(axis=1))[0] for theta in after]
    counts = np.array([np.bincount(place, minlength=len(supports)) for place in (first, second)])
    common = counts[0] > 30
    expected, found = (np.append(c[common], c[~common].sum() + 1) for c in counts)
    # Both are counts: their difference has up to twice the variance of one.
    assert chisquare(expected + (found - expected) / 2.0**0.5, expected).pvalue > 1e-4
    for measure in (lambda thetas: thetas @ columns[:, 4:9], lambda thetas: np.abs(thetas)):
        change = measure(after) - measure(before)
        error = change.std(axis=0) / len(change) ** 0.5 + 1e-12
        assert (np.abs(change.mean(axis=0)) < 4.0 * error).all()


def test_what_lies_beyond_a_face_of_the_ball_is_cut_off():
    gram, slopes, columns, theta, _ = scene(3)
    active, factor = factored(theta, gram)
    scores, whitened = weigh_arms(active, factor, slopes, columns, 4, 9, TILT)
    cut = scores.copy()
    leaping.cut_off(active, factor, slopes, 0.5, cut, whitened)
    signs = np.sign(joint_law(gram, slopes, active)[1])
    for k in range(5):
        precision, mean, _ = joint_law(gram, slopes + TILT * columns[:, 4 + k], active)
        spread = (signs @ np.linalg.solve(precision, signs)) ** 0.5
        assert cut[k] - scores[k] == pytest.approx(log_ndtr((0.5 - signs @ mean) / spread))


def test_a_leap_escapes_where_one_feature_or_one_arm_at_a_time_cannot():
    """Features 2 and 5 alone explain nothing, together all; no other pair explains half of it."""
    rng = np.random.default_rng(1)
    rows = rng.normal(0.0, 1.0, (30, 6))
    rows[:, 5] = -rows[:, 2] + 0.3 * rows[:, 5]
    rewards = 9.0 * (rows[:, 2] + rows[:, 5])
    gram, moment = whole(rows.T @ rows), POWER * rows.T @ rewards
    theta, columns = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0]), rng.normal(0.0, 1.0, (6, 9))
    ends = [
        tuple(np.flatnonzero(leapt(gram, moment, columns, theta, 18.0, moment,
              rng.random(leaping.DRAWN), rng.standard_normal(2))[1]))
        for _ in range(200)
    ]  # fmt: skip
    assert ends.count((2, 5)) > 10


def kernel_arguments():
    """One call of every kernel."""
    gram, slopes, columns, theta, normals = scene(7)
    active, factor = factored(theta, gram)
    done = eliminate(theta, 3, POWER, gram, SLAB, slopes)
    weighed = weigh_arms(active, factor, slopes, columns, 4, 9, TILT)
    uniforms = np.array([0.3, 0.6, 0.1, 0.9, 0.0, 0.4, 0.5, 0.0])
    return {
        "leap": (
            theta, active, factor, *weighed, POWER, 9.0, gram, SLAB, slopes, slopes, columns, 4, 9,
            TILT, uniforms, normals,
        ),
        "cut_off": (active, factor, slopes, 0.5, *weighed),
        "mark_candidates": (done, 3, np.empty(6)),
        "log_weight": (done, 2),
        "log_sum": (slopes,),
    }  # fmt: skip


@pytest.mark.parametrize("name", kernel_arguments())
def test_compiled_equals_plain(name):
    kernel, arguments = getattr(leaping, name), kernel_arguments()[name]
    np.testing.assert_allclose(
        outcome(kernel, *arguments), outcome(plain(kernel), *arguments), rtol=1e-11
    )


def test_the_log_of_a_sum_is_that_of_scipy():
    scores = np.random.default_rng(0).normal(0.0, 20.0, 50)
    assert leaping.log_sum(scores) == pytest.approx(logsumexp(scores))
