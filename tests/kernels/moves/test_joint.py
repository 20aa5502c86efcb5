"""The moves of several coordinates at once, each against linear algebra."""

import itertools
import math

import numpy as np
import pytest
from numba import config
from scipy.special import softmax
from scipy.stats import chisquare

from compiled import assert_compiled_equals_plain
from move_scenes import (
    POWER,
    SLAB,
    factored,
    joint_law,
    numbers,
    particle,
    scene,
    upright,
)
from p_values import assert_plausible, of_zero_means
from soids.kernels.cholesky import eliminate, is_pinned
from soids.kernels.gram_rows import whole
from soids.kernels.moves import candidates, exchange, rearm
from soids.kernels.moves.glide import glide
from soids.kernels.moves.target import ActionSet

SIDES = np.full(exchange.EXCHANGED, 0.5)
ANGLES = np.random.default_rng(9).random(rearm.ANGLES + 1)

OWN_ODDS = np.array([0.0, 0.8, -0.6, 0.0, 0.4, -0.3])


def drawn_values(gram, slopes, support, normals):
    """The draw from the joint law that the normals stand for."""
    precision, mean, _ = joint_law(gram, slopes, support)
    return mean + np.linalg.solve(np.linalg.cholesky(precision).T, normals[: len(support)])


def rearmed(gram, slopes, columns, theta, radius, u, normals, tilt=1.5):
    """The arm of the action set 4..8 that takes the place of arm 6, and the values beside it."""
    theta = theta.copy()
    active, factor = factored(theta, gram)
    law = rearm.weigh_arms(active, factor, slopes, ActionSet(columns, 4, 9, tilt))
    own = rearm.ValueNumbers(normals, ANGLES, normals[::-1].copy())
    arm = rearm.rearm(theta, law, 2 if tilt > 0.0 else 0, radius, u, own)
    return 4 + arm, theta


def whitened(theta, gram, slopes):
    """The same, and the slopes that the factor has whitened."""
    active, factor = factored(theta, gram)
    return active, factor, np.linalg.solve(np.tril(factor), slopes[active])


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
    rearm.reflect(new, *whitened(theta, gram, slopes), math.inf)
    np.testing.assert_allclose(new[support], 2.0 * mean - theta[support], rtol=1e-9)
    assert not np.delete(new, support).any()


def test_values_are_drawn_anew_beside_the_arms_that_they_have():
    gram, slopes, _, theta, normals = scene(2)
    support, new = [1, 3, 4], theta.copy()
    own = rearm.ValueNumbers(normals, ANGLES, normals)
    rearm.redraw(new, *whitened(theta, gram, slopes), math.inf, own)
    np.testing.assert_allclose(
        new[support], drawn_values(gram, slopes, support, normals), rtol=1e-11
    )
    assert not np.delete(new, support).any()


def changes(before, after, radius):
    """The p-values of the changes of means and squares by a move that leaves little as it is."""
    assert (np.abs(after).sum(axis=1) <= radius).all()
    assert (after != before).any(axis=1).mean() > 0.95
    return of_zero_means(np.column_stack([after - before, after**2 - before**2]))


@pytest.mark.parametrize("radius", [0.8, 1.5])
def test_drawing_anew_leaves_the_law_in_the_ball_as_it_is(radius):
    """Draws by rejection, redrawn: their means and squares must be those they had."""
    active, centre = np.arange(3), np.array([0.6, -0.2, 0.3])
    factor = np.tril(np.random.default_rng(6).uniform(0.5, 2.0, (3, 3))) + np.eye(3)

    def p_values(rng, times):
        noise = np.linalg.solve(factor.T, rng.standard_normal((3, 60_000 * times))).T
        draws = centre + noise
        draws = draws[np.abs(draws).sum(axis=1) <= radius][: 4_000 * times]
        redrawn = draws.copy()
        for theta in redrawn:
            normals, others = rng.standard_normal((2, 3))
            own = rearm.ValueNumbers(normals, rng.random(rearm.ANGLES + 1), others)
            rearm.redraw(theta, active, factor, factor.T @ centre, radius, own)
        return changes(draws, redrawn, radius)

    assert_plausible(p_values)


@pytest.mark.parametrize("radius", [0.8, 1.5])
def test_turning_leaves_the_law_in_the_ball_as_it_is(radius):
    """Draws by rejection, turned: their means and squares must be those they had."""
    centre = np.array([0.6, -0.2, 0.3])
    factor = np.tril(np.random.default_rng(5).uniform(0.1, 0.5, (3, 3)))

    def p_values(rng, times):
        draws = centre + rng.standard_normal((60_000 * times, 3)) @ factor.T
        draws = draws[np.abs(draws).sum(axis=1) <= radius][: 4_000 * times]
        turned = draws.copy()
        for values in turned:
            rearm.turn(values, centre, factor @ rng.standard_normal(3), radius, rng.random(8))
        return changes(draws, turned, radius)

    assert_plausible(p_values)


def of_one(place, candidate):
    """The uniforms that exchange the feature at one place."""
    return np.array([0.0, place, 0.0, 0.0, candidate, 0.0, 0.0, 0.0])


def exchanged(gram, slopes, theta, radius, uniforms, normals, own_odds=None):
    theta = theta.copy()
    one = particle(theta, POWER, gram, SLAB, radius, own_odds=own_odds)
    done = eliminate(theta, 4, one.precision, slopes, *upright(theta))
    exchange.exchange(one, done, uniforms, SIDES, normals)
    return theta


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_exchanges_of_features_that_lean_leave_the_law_in_the_ball_as_it_is(count, share):
    """Supports, sides and values are drawn together, as many in the ball as the share says; then
    exchanged. 36 means must stay as they are.
    """
    lean, (gram, slopes, _, _, _) = 1.3, scene(6)
    slopes, states, own_odds = 1.5 * slopes, [], OWN_ODDS
    for support in map(list, itertools.combinations(range(6), 3)):
        for sides in itertools.product([-lean, lean], repeat=3):
            leans = np.zeros(6)
            leans[support] = sides
            states.append((support, leans, *joint_law(gram, slopes + leans, support)))
    law = softmax([state[4] + own_odds[state[0]].sum() for state in states])

    def moments(thetas, sides):
        included, with_first = (thetas != 0.0).astype(float), sides[:, [1]] * sides
        return np.hstack([thetas, thetas**2, included, sides, sides * thetas, with_first])

    def p_values(rng, times):
        drawn = rng.choice(len(states), int(times * 8_000 / share), p=law)
        before, sides = np.zeros((len(drawn), 6)), np.array([states[k][1] for k in drawn])
        for theta, k in zip(before, drawn, strict=True):
            support, _, precision, mean, _ = states[k]
            root = np.linalg.cholesky(precision).T
            theta[support] = mean + np.linalg.solve(root, rng.standard_normal(3))
        lengths = np.abs(before).sum(axis=1)
        radius = float(np.quantile(lengths, share)) if share < 1.0 else math.inf
        before, sides = before[lengths <= radius], sides[lengths <= radius]
        after, turned = before.copy(), sides.copy()
        for theta, leans in zip(after, turned, strict=True):
            uniforms, old = rng.random(8), theta.copy()
            uniforms[0] = ((count - 0.5) / exchange.EXCHANGED) ** 0.5
            one = particle(theta, POWER, gram, SLAB, radius, own_odds=own_odds)
            done = eliminate(theta, 4, one.precision, slopes, leans, lean)
            exchange.exchange(one, done, uniforms, rng.random(3), rng.standard_normal(3))
            if (theta != old).any():
                leans[:] = done.leans
        assert (after != before).any(axis=1).mean() > 0.05
        return of_zero_means(moments(after, turned) - moments(before, sides))

    assert_plausible(p_values)


def test_an_exchange_weighs_each_feature_with_all_values_integrated_out():
    gram, slopes, _, theta, normals = scene(3)
    counts = np.zeros(6)
    for u in (np.arange(2_000) + 0.5) / 2_000:  # feature 3, the second of three, goes
        new = exchanged(gram, slopes, theta, math.inf, of_one(0.5, u), normals, OWN_ODDS)
        counts[np.flatnonzero(new)] += 1
    candidates = [0, 2, 3, 5]
    masses = [joint_law(gram, slopes, [1, 4, i])[2] + OWN_ODDS[i] for i in candidates]
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
    """Accepting every one has chi-square in hundreds."""
    gram, slopes, _, _, normals = scene(6)
    slopes = 3.0 * slopes
    supports = list(itertools.combinations(range(6), 3))
    law = softmax([joint_law(gram, slopes, list(support))[2] for support in supports])
    common = law > 0.003

    def p_value(rng, times):
        counts, theta = dict.fromkeys(supports, 0), np.zeros(6)
        for start in rng.choice(len(supports), times * 4_000, p=law):
            theta[:] = 0.0
            theta[list(supports[start])] = 1.0
            uniforms = rng.random(8)
            uniforms[0] = ((count - 0.5) / exchange.EXCHANGED) ** 0.5
            new = exchanged(gram, slopes, theta, math.inf, uniforms, normals)
            counts[tuple(np.flatnonzero(new).tolist())] += 1
        expected = np.append(law[common], law[~common].sum()) * times * 4_000
        found = np.array(list(counts.values()))
        return chisquare(np.append(found[common], found[~common].sum()), expected).pvalue

    assert_plausible(p_value)


def test_a_feature_that_the_others_replace_is_not_exchanged():
    """Feature 0 is pinned alone, and 1 and 2 beside it, but 0 not quite beside the two others."""
    e = 1.5e-7**0.5
    rows = np.array([[1.0, 1.0, 1.0, 0.0], [0.0, e, 0.0, 0.0], [0.0, 0.0, e, 0.0]])
    theta, gram = np.array([0.5, 0.2, 0.3, 0.0]), whole(rows.T @ rows)
    one = particle(theta.copy(), POWER, gram, 0.0, math.inf)
    assert is_pinned(theta, one.precision)
    done = eliminate(theta, 3, one.precision, np.ones(4), *upright(theta))
    exchange.exchange(one, done, of_one(0.1, 0.5), SIDES, np.zeros(3))
    new = one.theta
    np.testing.assert_array_equal(new, theta)


def test_joint_moves_stay_among_supports_that_the_data_pin():
    """Features 1 and 2 are told apart just so, and not beside feature 0, itself no problem."""
    gap = math.sqrt(2e-7)
    rows = np.array([[0.0, 1.0, 1.0], [math.sqrt(0.7), 0.0, gap], [math.sqrt(0.3), 0.0, 0.0]])
    gram, theta = whole(rows.T @ rows), np.array([0.0, 0.3, 0.2])
    new = theta.copy()
    one = particle(new, POWER, gram, 0.0, 9.0)
    done = eliminate(theta, 3, one.precision, np.zeros(3), *upright(theta))
    assert done.precisions[0] > 0.1 * done.diagonal[0]
    assert is_pinned(theta, one.precision)
    assert not is_pinned(np.ones(3), one.precision)
    glide(one, done, numbers(np.full(3, 50.0), 1, np.zeros(3)), True, np.full(3, 0.3))
    assert new[0] == 0.0
    assert new[1:].all()
    # What was refused leaves no trace.
    afresh = eliminate(new, 3, one.precision, np.zeros(3), *upright(new))
    np.testing.assert_allclose(done.precisions[0], afresh.precisions[0], rtol=1e-6)
    np.testing.assert_allclose(done.slopes[0], afresh.slopes[0], atol=1e-6)

    # A fourth feature that nothing resembles could be exchanged for feature 0 alike.
    gram, theta = np.eye(4), np.array([0.0, 0.3, 0.2, 0.1])
    gram[:3, :3] = rows.T @ rows
    gram = whole(gram)
    one = particle(theta.copy(), POWER, gram, 0.0, math.inf)
    done = eliminate(theta, 4, one.precision, np.array([50.0, 0.0, 0.0, 0.0]), *upright(theta))
    exchange.exchange(one, done, of_one(0.9, 0.5), SIDES, np.zeros(3))
    np.testing.assert_array_equal(one.theta, theta)


def kernel_calls():
    """One call of every kernel."""
    gram, slopes, columns, theta, normals = scene(7)
    uniforms = np.random.default_rng(8).random(8)
    one = particle(theta, POWER, gram, SLAB, 9.0)
    done = eliminate(theta, 3, one.precision, slopes, *upright(theta))
    weighed = (*factored(theta, gram), slopes, ActionSet(columns, 4, 9, 1.5))
    law, own = rearm.weigh_arms(*weighed), rearm.ValueNumbers(normals, ANGLES, normals)
    return {
        rearm.weigh_arms: weighed,
        rearm.rearm: (theta, law, 2, 9.0, 0.4, own),
        rearm.redraw: (theta, *whitened(theta, gram, slopes), 9.0, own),
        rearm.stay_inside: (theta, *factored(theta, gram), normals[:3], 1.4, own),
        rearm.reflect: (theta, *whitened(theta, gram, slopes), 9.0),
        exchange.exchange: (one, done, uniforms, SIDES, normals),
        candidates.draw_lean: (done._replace(lean=0.5), 2, 0.4),
        candidates.weigh: (done._replace(lean=0.5), 3, np.empty(6), np.arange(6.0)),
    }


@pytest.mark.parametrize("kernel", kernel_calls())
def test_compiled_equals_plain(kernel):
    arguments = kernel_calls()[kernel]
    assert_compiled_equals_plain(kernel, *arguments)
