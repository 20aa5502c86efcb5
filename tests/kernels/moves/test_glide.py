"""Flips to which all others answer, against linear algebra."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import config
from scipy.special import expit, logsumexp

from compiled import assert_compiled_equals_plain, plain
from move_scenes import (
    POWER,
    SLAB,
    inside,
    inverted,
    log_masses,
    numbers,
    particle,
    scene,
    slopes_of,
    sparse_thetas,
    staged,
    upright,
)
from p_values import assert_plausible, two_sided
from soids.kernels.cholesky import eliminate
from soids.kernels.gram_rows import whole
from soids.kernels.moves import glide as gliding


def test_a_feature_that_the_data_pin_once_another_has_left_may_enter():
    """Feature 2 is made of the first two: beside both nothing pins it, beside one it is wide."""
    rows = np.array([[1.0, 0.0, 0.1, 0.0], [0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 9.0]])
    gram, theta = whole(rows.T @ rows), np.array([0.1, 0.1, 0.0, 0.0])
    odds = math.log(0.4) - 0.5 * math.log(2.0 * math.pi / (0.01 * POWER))
    one = particle(theta, POWER, gram, 0.0, math.inf)
    done = eliminate(theta, 3, one.precision, np.zeros(4), *upright(theta))
    uniforms = np.array([0.99, 0.0, 0.2, 0.99])
    gliding.glide(one, done, numbers(np.full(3, odds), 0, np.zeros(4)), False, uniforms)
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
    low, high = gliding.bounds(
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


def glided(theta, slopes, radius, volume, gram, slab, leans, lean, prior, eager, uniforms):
    """The glides by their definition: along the line on which the others answer each value best.

    Returns what the features lean as well.
    """
    precision, leans = POWER * gram.rows + slab * np.eye(6), leans.copy()
    log_odds, floor, own_odds = prior.log_odds, prior.smallest, prior.own_odds
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
        ends, price = [-math.inf, math.inf], log_odds[len(others)] + own_odds[j] - volume
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
    prior = numbers(np.full(4, price), 0 if slab else 1, np.array([0.0, 1.0, -1.0, 2.0, 0.0, -0.5]))
    for theta in sparse_thetas(rng, particles=60):
        stage, uniforms = staged(rng), rng.random(6) ** rng.choice([1, 4])
        gram = whole(abs(tight) * (stage.gram.dense() + 0.1 * np.eye(6)))  # every value is pinned
        slopes = 3.0 * tight * slopes_of(stage, POWER)  # the rim matters
        leans = np.where(theta != 0.0, rng.choice([-lean, lean], 6), 0.0)
        expected, leant = glided(
            theta, slopes, radius, 1.8, gram, slab, leans, lean, prior, eager, uniforms
        )
        one = particle(theta, POWER, gram, slab, radius, 1.8)
        done = eliminate(theta, 4, one.precision, slopes, leans, lean)
        gliding.glide(one, done, prior, eager, uniforms)
        np.testing.assert_allclose(theta, expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(done.leans, leant)
        assert np.abs(theta).sum() <= radius * (1 + 1e-12)
        afresh = eliminate(theta, 4, one.precision, slopes, leant, lean)
        n = np.count_nonzero(theta)
        np.testing.assert_array_equal(np.sort(done.active[:n]), afresh.active[:n])
        free = theta == 0.0
        np.testing.assert_allclose(done.precisions[free], afresh.precisions[free], rtol=1e-9)
        np.testing.assert_allclose(done.slopes[free], afresh.slopes[free], atol=1e-9)


@pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize("eager", [False, True])
def test_glides_beside_many_others_leave_the_law_as_it_was(eager):
    """Features that know nothing of each other are in with known odds, before and after. With so
    many others some coordinates do not try; to count oneself among them would lead seven standard
    errors astray.
    """
    d, gram, log_odds = 70, whole(np.eye(70)), np.full(70, -0.5)
    slopes = 2.0 * np.random.default_rng(12).standard_normal(d)
    precision = POWER + SLAB
    log_masses = 0.5 * slopes**2 / precision + 0.5 * math.log(2.0 * math.pi / precision)
    odds = expit(log_odds + log_masses)
    assert odds.sum() > 1.3 * gliding.FREE

    def p_values(rng, times):
        draws = 2000 * times
        before = rng.random((draws, d)) < odds
        values = slopes / precision + rng.standard_normal((draws, d)) / math.sqrt(precision)
        thetas = np.where(before, values, 0.0)
        for theta in thetas:
            for _ in range(5):
                one = particle(theta, POWER, gram, SLAB, math.inf)
                done = eliminate(theta, d, one.precision, slopes, *upright(theta))
                gliding.glide(one, done, numbers(log_odds, 0, np.zeros(d)), eager, rng.random(d))
        strays, variances = (thetas != 0.0).mean(axis=0) - odds, odds * (1.0 - odds)
        in_all = strays.sum() / math.sqrt(variances.sum())
        return two_sided(math.sqrt(draws) * np.append(strays / np.sqrt(variances), in_all))

    assert_plausible(p_values)


def test_nothing_glides_into_a_ball_without_room():
    gram, theta = whole(np.eye(3) + 0.3), np.array([1.0, 0.0, 0.0])
    one = particle(theta, POWER, gram, 0.0, 1.0)
    done = eliminate(theta, 3, one.precision, np.array([1.0, 0.0, 0.0]), *upright(theta))
    plain(gliding.glide)(one, done, numbers(np.full(3, 3.0), 1, np.zeros(3)), True, np.full(3, 0.3))
    assert theta.tolist() == [1.0, 0.0, 0.0]


def test_the_empty_support_can_glide_away():
    gram, theta = whole(np.eye(3)), np.zeros(3)
    one = particle(theta, POWER, gram, SLAB, 3.0)
    done = eliminate(theta, 3, one.precision, np.zeros(3), *upright(theta))
    gliding.glide(one, done, numbers(np.full(3, 50.0), 0, np.zeros(3)), False, np.full(3, 0.3))
    assert theta.all()


def kernel_arguments():
    """One call of every kernel."""
    gram, slopes, _, theta, _ = scene(7)
    active, uniforms = np.flatnonzero(theta), np.random.default_rng(8).random(12)
    one = particle(theta, POWER, gram, SLAB, 3.0, 0.3)
    done = eliminate(theta, 3, one.precision, slopes, *upright(theta))
    return {
        "answer": (np.empty(3), done.inverse, done.shadow, 3, 5, -1, 0.0),
        "bounds": (theta, np.array([0.5, -2.0, 1.0]), active, 3, 0.0, 3.0),
        "glide": (one, done, numbers(np.zeros(3), 0, np.zeros(6)), True, uniforms),
        "share_inside": (0.3, True, True),
        "note": (
            done.active,
            done.inverse,
            done.centre,
            3,
            np.empty(3),
            np.empty(3),
            np.empty(6, dtype=np.int64),
        ),
    }


@pytest.mark.parametrize("name", kernel_arguments())
def test_compiled_equals_plain(name):
    kernel, arguments = getattr(gliding, name), kernel_arguments()[name]
    assert_compiled_equals_plain(kernel, *arguments)
