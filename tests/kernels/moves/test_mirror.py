"""The mirror image of values that the ball presses against its face."""

import math

import numpy as np
import pytest

from compiled import plain
from p_values import assert_plausible, of_zero_means
from soids.kernels.moves.mirror import mirror

PRECISION = np.array([[9.0, 3.0, -2.0], [3.0, 7.0, 1.0], [-2.0, 1.0, 11.0]])
FACTOR = np.linalg.cholesky(PRECISION)
DRAWS = 40_000
CASES = {  # centre of the Gaussian, and radius of the ball
    "beyond the face": (np.array([1.2, -1.0, 0.9]), 2.4),
    "on the face": (np.array([1.0, -0.7, 0.7]), 2.4),
    "well inside": (np.array([1.0, -0.7, 0.7]), 6.0),
    "near a corner, signs open": (np.array([1.5, 0.1, -0.1]), 1.6),
    "no ball": (np.array([1.0, -0.7, 0.7]), math.inf),
}


def cut_gaussian(centre, radius, count=DRAWS, factor=FACTOR, rng=None):
    """Exact draws, by rejection."""
    rng = np.random.default_rng(0) if rng is None else rng
    draws = centre + np.linalg.solve(factor.T, rng.standard_normal((3, 40 * count))).T
    return draws[np.abs(draws).sum(axis=1) <= radius][:count]


def images(draws, centre, radius, factor=FACTOR):
    reflected = draws.copy()
    for values in reflected:
        mirror(values, centre, factor, radius)
    return reflected


@pytest.mark.parametrize("case", CASES)
def test_a_cut_gaussian_is_its_own_mirror_image(case):
    centre, radius = CASES[case]
    pairs = [(a, b) for a in range(3) for b in range(a + 1)]

    def moments(x):
        length = np.abs(x).sum(axis=1)
        assert length.max() <= radius
        return np.column_stack([x, length, length**2, *(x[:, a] * x[:, b] for a, b in pairs), x**3])

    def p_values(rng, times):
        before = cut_gaussian(centre, radius, times * DRAWS, rng=rng)
        assert len(before) == times * DRAWS
        return of_zero_means(moments(images(before, centre, radius)) - moments(before))

    assert_plausible(p_values)


@pytest.mark.parametrize("case", CASES)
def test_the_image_of_the_image_is_where_it_began(case):
    centre, radius = CASES[case]
    draws = cut_gaussian(centre, radius, 2000)
    once = images(draws, centre, radius)
    np.testing.assert_allclose(images(once, centre, radius), draws, atol=1e-8)
    assert (np.sign(once) == np.sign(draws)).all()


def test_noise_may_be_ten_million_times_smaller():
    """Masses differ by the last digits of numbers of 1e14 then."""
    centre, radius = CASES["on the face"]
    factor = 1e7 * FACTOR

    def p_values(rng, times):
        draws = cut_gaussian(centre, radius, times * DRAWS, factor, rng)
        slack = radius - np.abs(draws).sum(axis=1)
        seen = radius - np.abs(images(draws, centre, radius, factor)).sum(axis=1)
        return of_zero_means(np.column_stack([seen - slack, seen**2 - slack**2]))

    assert_plausible(p_values)


def test_images_average_to_the_mean_where_no_sign_is_open():
    # What a chain gains by it: the mean of values and image is far nearer to the mean of all.
    centre, radius = CASES["on the face"]
    draws = cut_gaussian(centre, radius, factor=5.0 * FACTOR)
    together = 0.5 * (draws + images(draws, centre, radius, 5.0 * FACTOR))
    assert (together.std(axis=0) < 0.25 * draws.std(axis=0)).all()


def test_values_on_the_rim_itself_stay_in_the_ball():
    centre, radius = CASES["on the face"]
    values = np.array([1.0, -0.7, 0.7])
    mirror(values, centre, FACTOR, radius)
    assert np.isfinite(values).all()
    assert np.abs(values).sum() <= radius


def test_compiled_and_plain_give_the_same_images():
    centre, radius = CASES["beyond the face"]
    draws = cut_gaussian(centre, radius, 200)
    interpreted = draws.copy()
    for values in interpreted:
        plain(mirror)(values, centre, FACTOR, radius)
    np.testing.assert_allclose(images(draws, centre, radius), interpreted, rtol=1e-9)


def test_values_in_a_hopeless_tail_are_kept():
    values = np.array([0.01, -0.01, 0.01])
    mirror(values, np.array([1.0, -0.7, 0.7]), 50.0 * FACTOR, 2.4)
    np.testing.assert_array_equal(values, [0.01, -0.01, 0.01])
