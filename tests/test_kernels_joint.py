"""The moves of several coordinates at once, each against linear algebra."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import config
from scipy.special import expit, logsumexp, softmax
from scipy.stats import chisquare

from soids.kernels import joint
from soids.kernels.elimination import eliminate, is_pinned, precision_factor
from soids.kernels.gram import whole
from test_kernels_sparse import (
    inside,
    inverted,
    log_masses,
    outcome,
    plain,
    slopes_of,
    sparse_thetas,
    staged,
    upright,
)

POWER, SLAB = 2.0, 0.4
SIDES = np.full(joint.EXCHANGED, 0.5)
TURNING = np.random.default_rng(9).random(joint.ANGLES + 1)


def joint_law(gram, slopes, support, slab=SLAB):
    """Precision, mean and log mass of the values on a support."""
    precision = POWER * gram.rows[np.ix_(support, support)] + slab * np.eye(len(support))
    mean = np.linalg.solve(precision, slopes[support])
    return precision, mean, 0.5 * (slopes[support] @ mean - np.linalg.slogdet(precision)[1])


def drawn_values(gram, slopes, support, normals):
    """The draw from the joint law that the normals stand for."""
    precision, mean, _ = joint_law(gram, slopes, support)
    return mean + np.linalg.solve(np.linalg.cholesky(precision).T, normals[: len(support)])


def scene(seed):
    """A gram, slopes, actions and a parameter with features 1, 3 and 4."""
    rng = np.random.default_rng(seed)
    stage, theta = staged(rng), np.array([0.0, 0.4, 0.0, -0.2, 0.7, 0.0])
    return (
        stage.gram.all_rows(),
        slopes_of(stage, POWER),
        stage.columns,
        theta,
        rng.standard_normal(4),
    )


def rearmed(gram, slopes, columns, theta, radius, u, normals, tilt=1.5):
    """The arm of the menu 4..8 that takes the place of arm 6, and the values beside it."""
    theta = theta.copy()
    active, factor = factored(theta, gram)
    weighed = joint.weigh_arms(active, factor, slopes, columns, 4, 9, tilt)
    arm = joint.rearm(
        theta, active, factor, radius, *weighed, 2 if tilt > 0.0 else 0, u, normals, TURNING,
        normals[::-1].copy(),
    )  # fmt: skip
    return 4 + arm, theta


def factored(theta, gram):
    """The active features, and the factor of their values' precision."""
    active = np.flatnonzero(theta)
    return active, precision_factor(active, POWER, gram, SLAB)[0]


def test_a_new_arm_is_weighed_with_all_values_integrated_out():
    gram, slopes, columns, theta, normals = scene(1)
    grid = (np.arange(2_000) + 0.5) / 2_000
    arms = [rearmed(gram, slopes, columns, theta, math.inf, u, normals)[0] for u in grid]
    support = np.flatnonzero(theta)
    masses = [joint_law(gram, slopes + 1.5 * columns[:, k], support)[2] for k in range(4, 9)]
    shares = np.bincount(arms, minlength=9)[4:] / 2_000
    np.testing.assert_allclose(shares, softmax(masses), atol=1e-3)


def test_a_new_arm_comes_with_values_of_its_own():
    gram, slopes, columns, theta, normals = scene(2)
    arm, new = rearmed(gram, slopes, columns, theta, math.inf, 0.9, normals)
    expected = drawn_values(gram, slopes + 1.5 * columns[:, arm], [1, 3, 4], normals)
    np.testing.assert_allclose(new[[1, 3, 4]], expected, rtol=1e-11)
    too_small = 0.99 * np.abs(expected).sum()
    arm, new = rearmed(gram, slopes, columns, theta, too_small, 0.9, normals)
    assert arm == 6  # the old one
    # Other values then, on the ellipse through the old ones and a draw about their mean.
    mean = joint_law(gram, slopes + 1.5 * columns[:, 6], [1, 3, 4])[1]
    other = drawn_values(gram, slopes + 1.5 * columns[:, 6], [1, 3, 4], normals[::-1])
    angles = np.linalg.lstsq(
        np.column_stack([theta[[1, 3, 4]] - mean, other - mean]), new[[1, 3, 4]] - mean
    )[0]
    assert np.linalg.norm(angles) == pytest.approx(1.0)
    assert 0.0 < np.abs(new).sum() <= too_small
    assert (new[[1, 3, 4]] != theta[[1, 3, 4]]).all()


def test_without_a_pull_there_is_one_arm_and_values_are_drawn_all_the_same():
    gram, slopes, columns, theta, normals = scene(2)
    arm, new = rearmed(gram, slopes, columns, theta, math.inf, 0.9, normals, tilt=0.0)
    assert arm == 4
    np.testing.assert_allclose(
        new[[1, 3, 4]], drawn_values(gram, slopes, [1, 3, 4], normals), rtol=1e-11
    )
    arm, cut = rearmed(gram, slopes, columns, theta, 0.99 * np.abs(new).sum(), 0.9, normals, 0.0)
    assert arm == 4
    assert 0.0 < np.abs(cut).sum() <= 0.99 * np.abs(new).sum()
    assert (cut[[1, 3, 4]] != theta[[1, 3, 4]]).all()


def test_without_a_ball_the_reflection_is_about_the_mean():
    gram, slopes, _, theta, _ = scene(2)
    support = [1, 3, 4]
    mean = joint_law(gram, slopes, support)[1]
    theta[support] = mean * [0.9, 1.05, 1.1]  # near it, so that no sign turns
    new = theta.copy()
    joint.reflect(new, *factored(theta, gram), math.inf, slopes)
    np.testing.assert_allclose(new[support], 2.0 * mean - theta[support], rtol=1e-9)
    assert not np.delete(new, support).any()


@pytest.mark.parametrize("radius", [0.8, 1.5])
def test_turning_leaves_the_law_in_the_ball_as_it_is(radius):
    """Draws by rejection, turned; their mean and squares must be those they had."""
    rng = np.random.default_rng(5)
    centre, factor = np.array([0.6, -0.2, 0.3]), np.tril(rng.uniform(0.1, 0.5, (3, 3)))
    draws = centre + rng.standard_normal((60_000, 3)) @ factor.T
    draws = draws[np.abs(draws).sum(axis=1) <= radius][:4_000]
    turned = draws.copy()
    for values in turned:
        joint.turn(values, centre, factor @ rng.standard_normal(3), radius, rng.random(8))
    assert (np.abs(turned).sum(axis=1) <= radius).all()
    assert (turned != draws).any(axis=1).mean() > 0.95
    for before, after in ((draws, turned), (draws**2, turned**2)):
        error = (after - before).std(axis=0) / len(draws) ** 0.5
        assert (np.abs((after - before).mean(axis=0)) < 4.0 * error).all()


def of_one(place, candidate):
    """The uniforms that exchange the feature at one place."""
    return np.array([0.0, place, 0.0, 0.0, candidate, 0.0, 0.0, 0.0])


def exchanged(gram, slopes, theta, radius, uniforms, normals):
    theta = theta.copy()
    done = eliminate(theta, 4, POWER, gram, SLAB, slopes, *upright(theta))
    joint.exchange(theta, done, POWER, radius, gram, SLAB, uniforms, SIDES, normals)
    return theta


def test_an_exchange_weighs_each_feature_with_all_values_integrated_out():
    gram, slopes, _, theta, normals = scene(3)
    counts = np.zeros(6)
    for u in (np.arange(2_000) + 0.5) / 2_000:  # feature 3, the second of three, goes
        new = exchanged(gram, slopes, theta, math.inf, of_one(0.5, u), normals)
        counts[np.flatnonzero(new)] += 1
    candidates = [0, 2, 3, 5]
    masses = [joint_law(gram, slopes, [1, 4, i])[2] for i in candidates]
    np.testing.assert_allclose(counts[candidates] / 2_000, softmax(masses), atol=1e-3)


def test_an_exchange_comes_with_values_of_its_own():
    gram, slopes, _, theta, normals = scene(4)
    new = exchanged(gram, slopes, theta, math.inf, of_one(0.5, 0.7), normals)
    support = [1, 4, *np.setdiff1d(np.flatnonzero(new), [1, 4])]
    expected = drawn_values(gram, slopes, support, normals)
    np.testing.assert_allclose(new[support], expected, rtol=1e-11)
    assert np.count_nonzero(new) == 3
    too_small = 0.99 * np.abs(expected).sum()
    new = exchanged(gram, slopes, theta, too_small, of_one(0.5, 0.7), normals)
    np.testing.assert_array_equal(new, theta)


@pytest.mark.parametrize("count", [2, 3])
def test_an_exchange_of_several_leaves_the_law_of_supports_as_it_is(count):
    """Right moves fail with probability 1e-4; accepting every one has chi-square in hundreds."""
    gram, slopes, _, _, normals = scene(6)
    rng, slopes = np.random.default_rng(10 + count), 3.0 * slopes
    supports = list(itertools.combinations(range(6), 3))
    law = softmax([joint_law(gram, slopes, list(support))[2] for support in supports])
    counts, theta = dict.fromkeys(supports, 0), np.zeros(6)
    starts = rng.choice(len(supports), 4_000, p=law)
    for start in starts:
        theta[:] = 0.0
        theta[list(supports[start])] = 1.0
        uniforms = rng.random(8)
        uniforms[0] = ((count - 0.5) / joint.EXCHANGED) ** 0.5
        new = exchanged(gram, slopes, theta, math.inf, uniforms, normals)
        counts[tuple(np.flatnonzero(new).tolist())] += 1
    common = law > 0.003
    expected = np.append(law[common], law[~common].sum()) * 4_000
    found = np.array(list(counts.values()))
    assert chisquare(np.append(found[common], found[~common].sum()), expected).pvalue > 1e-4


def test_a_feature_that_the_others_replace_is_not_exchanged():
    """Feature 0 is pinned alone, and 1 and 2 beside it, but 0 not quite beside the two others."""
    e = 1.5e-7**0.5
    rows = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, e, 0.0, 0.0], [0.0, 0.0, e, 0.0]])
    theta, gram = np.array([0.5, 0.2, 0.3, 0.0]), whole(rows.T @ rows)
    assert is_pinned(theta, POWER, gram, 0.0)
    done = eliminate(theta, 3, POWER, gram, 0.0, np.ones(4), *upright(theta))
    new = theta.copy()
    joint.exchange(new, done, POWER, math.inf, gram, 0.0, of_one(0.1, 0.5), SIDES, np.zeros(3))
    np.testing.assert_array_equal(new, theta)


def test_a_feature_that_the_data_pin_once_another_has_left_may_enter():
    """Feature 2 is made of the first two: beside both nothing pins it, beside one it is wide."""
    rows = np.array([[1.0, 0.0, 0.1, 0.0], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 9.0]])
    gram, theta = whole(rows.T @ rows), np.array([0.1, 0.1, 0.0, 0.0])
    odds = math.log(0.4) - 0.5 * math.log(2.0 * math.pi / (0.01 * POWER))
    done = eliminate(theta, 3, POWER, gram, 0.0, np.zeros(4), *upright(theta))
    law = math.inf, 0.0, gram, 0.0, np.full(3, odds), 0, False
    joint.glide(theta, done, POWER, *law, np.array([0.99, 0.0, 0.2, 0.99]))
    assert (theta != 0.0).tolist() == [False, True, True, False]


coordinates = st.floats(-1.0, 1.0).filter(lambda x: x == 0.0 or abs(x) > 1e-6)


@given(
    arrays(float, 3, elements=coordinates),
    arrays(float, 3, elements=st.floats(-5.0, 5.0)),
    coordinates,
    st.floats(0.0, 2.0),
    arrays(float, 20, elements=st.floats(-10.0, 10.0)),
)
def test_bounds_hold_all_of_the_ball_and_no_more_until_a_sign_changes(
    others, way, old, slack, tried
):
    at_zero = others - old * way
    radius = np.abs(others).sum() + abs(old) + slack
    low, high = joint.bounds(
        np.append(others, old), np.append(way, 0.0), np.arange(4), 4, old, radius
    )

    def length(y):
        return abs(y) + np.abs(at_zero + y * way).sum()

    for y in (old, *tried):
        if length(y) <= radius:
            assert low - 1e-9 <= y <= high + 1e-9
    for end in filter(math.isfinite, (low, high)):
        if length(0.0) <= radius and (np.sign(at_zero + end * way) == np.sign(at_zero)).all():
            assert length(end) == pytest.approx(radius, rel=1e-9)


def glided(
    theta, slopes, radius, volume, gram, slab, leans, lean, log_odds, floor, eager, uniforms
):
    """The glides by their definition: along the line on which the others answer each value best.

    Returns what the features lean as well.
    """
    precision, leans = POWER * gram.rows + slab * np.eye(6), leans.copy()
    for j, u in enumerate(uniforms):
        others = np.setdiff1d(np.flatnonzero(theta), [j])
        if len(others) == log_odds.size:
            continue
        way = np.zeros(6)
        way[j] = 1.0
        way[others] = -np.linalg.solve(precision[np.ix_(others, others)], precision[others, j])
        base = theta - theta[j] * way
        leant = np.where(np.arange(6) == j, 0.0, leans)
        bump = way @ (slopes + leant - precision @ base), lean, way @ precision @ way
        ends, price = [-math.inf, math.inf], log_odds[len(others)] - volume
        if radius < math.inf and price + logsumexp(log_masses(*bump, *ends)) > 0.0:
            for k, side in enumerate((-1.0, 1.0)):  # the tangents of the length at zero
                rise = 1.0 + side * (np.sign(base) @ way)
                reach = (radius - np.abs(base).sum()) / rise
                ends[k] = side * max(reach, side * theta[j]) if rise > 0.0 else ends[k]
        share = 1.0
        if len(others) >= floor:
            odds = price + logsumexp(log_masses(*bump, *ends))
            share = inside(odds, theta[j] != 0.0, eager)
        if theta[j] == 0.0 or u >= share:  # what stays keeps its value
            value, leant[j] = inverted(*bump, *ends, u / share) if u < share else (0.0, 0.0)
            new = base + value * way
            if np.abs(new).sum() <= radius:
                theta, leans = new, leant
    return theta, leans


@pytest.mark.parametrize(
    ("slab", "lean", "radius"),
    [(0.0, 0.0, 3.0), (SLAB, 0.0, 3.0), (SLAB, 0.0, math.inf), (SLAB, 0.7, 3.0), (SLAB, 5.0, 3.0)],
)
@pytest.mark.parametrize("price", [0.5, -3.0])
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("tight", [1.0, 100.0, -1.0, -100.0])  # bumps; below zero: the other way
def test_a_glide_keeps_to_its_definition(slab, lean, radius, price, eager, tight):
    rng = np.random.default_rng(6)
    floor, log_odds = 0 if slab else 1, np.full(4, price)
    for theta in sparse_thetas(rng, particles=150):
        stage, uniforms = staged(rng), rng.random(6) ** rng.choice([1, 4])
        gram = whole(abs(tight) * (stage.gram.dense() + 0.1 * np.eye(6)))  # every value is pinned
        slopes = 3.0 * tight * slopes_of(stage, POWER)  # the rim matters
        leans = np.where(theta != 0.0, rng.choice([-lean, lean], 6), 0.0)
        expected, leant = glided(
            theta, slopes, radius, 1.8, gram, slab, leans, lean, log_odds, floor, eager, uniforms
        )
        done = eliminate(theta, 4, POWER, gram, slab, slopes, leans, lean)
        joint.glide(theta, done, POWER, radius, 1.8, gram, slab, log_odds, floor, eager, uniforms)
        np.testing.assert_allclose(theta, expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(done.leans, leant)
        assert np.abs(theta).sum() <= radius * (1 + 1e-12)
        afresh = eliminate(theta, 4, POWER, gram, slab, slopes, leant, lean)
        n = np.count_nonzero(theta)
        np.testing.assert_array_equal(np.sort(done.active[:n]), afresh.active[:n])
        free = theta == 0.0
        np.testing.assert_allclose(done.spread[free], afresh.spread[free], rtol=1e-9)
        np.testing.assert_allclose(done.excess[free], afresh.excess[free], atol=1e-9)


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize("eager", [False, True])
def test_glides_beside_many_others_leave_the_law_as_it_was(eager):
    """Features that know nothing of each other are in with known odds, before and after. With so
    many others some coordinates do not try; to count oneself among them would lead seven standard
    errors astray.
    """
    rng, d, draws = np.random.default_rng(12), 70, 2000
    gram, slopes, log_odds = whole(np.eye(d)), 2.0 * rng.standard_normal(d), np.full(d, -0.5)
    precision = POWER + SLAB
    log_masses = 0.5 * slopes**2 / precision + 0.5 * math.log(2.0 * math.pi / precision)
    odds = expit(log_odds + log_masses)
    assert odds.sum() > 1.3 * joint.FREE
    before = rng.random((draws, d)) < odds
    values = slopes / precision + rng.standard_normal((draws, d)) / math.sqrt(precision)
    thetas = np.where(before, values, 0.0)
    for theta in thetas:
        for _ in range(5):
            done = eliminate(theta, d, POWER, gram, SLAB, slopes, *upright(theta))
            joint.glide(
                theta, done, POWER, math.inf, 0.0, gram, SLAB, log_odds, 0, eager, rng.random(d)
            )  # fmt: skip
    after = thetas != 0.0
    error = math.sqrt((odds * (1.0 - odds)).sum() / draws)
    assert after.sum(axis=1).mean() == pytest.approx(odds.sum(), abs=4.0 * error)
    strays = (after.mean(axis=0) - odds) / np.sqrt(odds * (1.0 - odds) / draws)
    assert np.abs(strays).max() < 4.5


def test_nothing_glides_into_a_ball_without_room():
    gram, theta = whole(np.eye(3) + 0.3), np.array([1.0, 0.0, 0.0])
    done = eliminate(theta, 3, POWER, gram, 0.0, np.array([1.0, 0.0, 0.0]), *upright(theta))
    law = 1.0, 0.0, gram, 0.0, np.full(3, 3.0), 1, True
    plain(joint.glide)(theta, done, POWER, *law, np.full(3, 0.3))
    assert theta.tolist() == [1.0, 0.0, 0.0]


def test_the_empty_support_can_glide_away():
    gram, theta = whole(np.eye(3)), np.zeros(3)
    done = eliminate(theta, 3, POWER, gram, SLAB, np.zeros(3), *upright(theta))
    joint.glide(
        theta, done, POWER, 3.0, 0.0, gram, SLAB, np.full(3, 50.0), 0, False, np.full(3, 0.3)
    )
    assert theta.all()


def test_joint_moves_stay_among_supports_that_the_data_pin():
    """Features 1 and 2 are told apart just so, and not beside feature 0, itself no problem."""
    gap = math.sqrt(2e-7)
    rows = np.array([[0.0, 1.0, 1.0], [math.sqrt(0.7), 0.0, gap], [math.sqrt(0.3), 0.0, 0.0]])
    gram, theta = whole(rows.T @ rows), np.array([0.0, 0.3, 0.2])
    done = eliminate(theta, 3, POWER, gram, 0.0, np.zeros(3), *upright(theta))
    assert done.spread[0] > 0.1 * done.whole[0]
    assert is_pinned(theta, POWER, gram, 0.0)
    assert not is_pinned(np.ones(3), POWER, gram, 0.0)
    new = theta.copy()
    joint.glide(new, done, POWER, 9.0, 0.0, gram, 0.0, np.full(3, 50.0), 1, True, np.full(3, 0.3))
    assert new[0] == 0.0
    assert new[1:].all()
    afresh = eliminate(
        new, 3, POWER, gram, 0.0, np.zeros(3), *upright(new)
    )  # what was refused leaves no trace
    np.testing.assert_allclose(done.spread[0], afresh.spread[0], rtol=1e-6)
    np.testing.assert_allclose(done.excess[0], afresh.excess[0], atol=1e-6)

    # A fourth feature that nothing resembles could be exchanged for feature 0 alike.
    gram, theta = np.eye(4), np.array([0.0, 0.3, 0.2, 0.1])
    gram[:3, :3] = rows.T @ rows
    gram = whole(gram)
    done = eliminate(theta, 4, POWER, gram, 0.0, np.array([50.0, 0.0, 0.0, 0.0]), *upright(theta))
    new = theta.copy()
    joint.exchange(new, done, POWER, math.inf, gram, 0.0, of_one(0.9, 0.5), SIDES, np.zeros(3))
    np.testing.assert_array_equal(new, theta)


def kernel_arguments():
    """One call of every kernel."""
    gram, slopes, columns, theta, normals = scene(7)
    active = np.flatnonzero(theta)
    uniforms = np.random.default_rng(8).random(8)
    done = eliminate(theta, 3, POWER, gram, SLAB, slopes, *upright(theta))
    weighed = joint.weigh_arms(*factored(theta, gram), slopes, columns, 4, 9, 1.5)
    return {
        "weigh_arms": (*factored(theta, gram), slopes, columns, 4, 9, 1.5),
        "rearm": (
            theta,
            *factored(theta, gram),
            9.0,
            *weighed,
            2,
            0.4,
            normals,
            TURNING,
            normals,
        ),
        "reflect": (theta, *factored(theta, gram), 9.0, slopes),
        "exchange": (theta, done, POWER, 9.0, gram, SLAB, uniforms, SIDES, normals),
        "answer": (np.empty(3), done, 3, 5, -1, 0.0),
        "bounds": (theta, np.array([0.5, -2.0, 1.0]), active, 3, 0.0, 3.0),
        "glide": (theta, done, POWER, 3.0, 0.3, gram, SLAB, np.zeros(3), 0, True, uniforms[:6]),
        "share_inside": (0.3, True, True),
        "draw_lean": (done._replace(lean=0.5), 2, 0.4),
        "weigh_candidates": (done._replace(lean=0.5), 3, np.empty(6)),
        "widest": (theta, done),
    }


@pytest.mark.parametrize("name", kernel_arguments())
def test_compiled_equals_plain(name):
    kernel, arguments = getattr(joint, name), kernel_arguments()[name]
    np.testing.assert_allclose(
        outcome(kernel, *arguments), outcome(plain(kernel), *arguments), rtol=1e-11
    )
