"""Draws from discrete distributions, against the softmax."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chisquare

from compiled import plain
from soids.kernels import categorical

STARTS, TILTS = np.array([0, 4, 6, 9]), np.array([1.5, 0.0, 0.9])


def drawn_arms(columns, rewards, uniforms):
    """The arms of three action sets, the second of them without tilt, and their pull."""
    arms, pull = np.full(3, -1), np.full(len(columns), np.nan)
    categorical.draw_arms(rewards, STARTS, TILTS, columns, uniforms, arms, pull)
    return arms, pull


def test_indices_follow_the_softmax_of_their_scores():
    rng = np.random.default_rng(0)
    scores = 1.7 * rng.standard_normal(9)
    counts = np.bincount(
        [categorical.draw_index(scores, u) for u in rng.random(20_000)], minlength=9
    )
    # Right draws fail with probability 1e-4; scores a tenth too steep have chi-square 100, not 8.
    assert chisquare(counts, 20_000 * softmax(scores)).pvalue > 1e-4


def test_an_index_without_mass_is_never_drawn():
    scores = np.array([-np.inf, 0.0, -np.inf, -800.0, -np.inf])
    for u in [1e-300, 0.5, 1.0 - 2.0**-53]:
        assert categorical.draw_index(scores, u) == 1


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100, 203])
def test_picks_are_where_the_masses_add_up_to_the_uniform(count):
    rng = np.random.default_rng(4)
    masses = rng.random(count) * (rng.random(count) < 0.7)
    masses[rng.integers(count)] = 0.4
    ladder = np.cumsum(masses) / masses.sum()
    for u in rng.random(300):
        assert categorical.pick(masses, u) == np.searchsorted(ladder, u, side="right")


def test_a_uniform_near_one_picks_nothing_without_mass():
    rng = np.random.default_rng(5)
    for _ in range(300):  # of which some add up to less one by one than all together
        masses = np.append(rng.random(90), np.zeros(10))
        assert categorical.pick(masses, 1.0 - 2.0**-53) < 90


@pytest.mark.parametrize("menu", [0, 2])
def test_arms_follow_the_softmax_of_their_sets_tilted_rewards(menu):
    rng = np.random.default_rng(1)
    columns, rewards = rng.standard_normal((2, 9)), rng.standard_normal(9)
    grid = (np.arange(2_000) + 0.5) / 2_000
    first, last = STARTS[menu : menu + 2]
    arms = [drawn_arms(columns, rewards, np.full(3, u))[0][menu] for u in grid]
    shares = np.bincount(arms, minlength=9)[first:last] / 2_000
    np.testing.assert_allclose(shares, softmax(TILTS[menu] * rewards[first:last]), atol=1e-3)


def test_sets_pull_together_and_one_without_tilt_does_not():
    columns, rewards = np.random.default_rng(2).standard_normal((6, 9)), np.zeros(9)
    rewards[[2, 5, 7]] = 1e4  # the arm of each set is certain
    arms, pull = drawn_arms(columns, rewards, np.full(3, 0.5))
    assert arms.tolist() == [2, -1, 7]
    np.testing.assert_allclose(pull, 1.5 * columns[:, 2] + 0.9 * columns[:, 7])


def test_extreme_uniforms_draw_the_ends_of_a_set():
    columns = np.ones((1, 9))
    assert drawn_arms(columns, np.zeros(9), np.zeros(3))[0].tolist() == [0, -1, 6]
    assert drawn_arms(columns, np.zeros(9), np.full(3, 1.0 - 2.0**-53))[0].tolist() == [3, -1, 8]


def test_compiled_equals_plain(monkeypatch):
    rng = np.random.default_rng(3)
    columns, rewards, uniforms = rng.random((2, 9)), rng.random(9), rng.random(3)
    compiled = categorical.draw_index(rewards, 0.4), *drawn_arms(columns, rewards, uniforms)
    for name in ("draw_index", "draw_arms"):
        monkeypatch.setattr(categorical, name, plain(getattr(categorical, name)))
    interpreted = categorical.draw_index(rewards, 0.4), *drawn_arms(columns, rewards, uniforms)
    for ours, theirs in zip(compiled, interpreted, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_shares_are_exponentials_to_twelve_digits_and_nothing_where_they_are_negligible():
    scores = np.concatenate([np.linspace(-49.9, 0.0, 2000), [-51.0, -1e9, -np.inf]])
    shares = np.empty(len(scores))
    categorical.write_shares(scores / 2.0 + 3.0, 2.0, 3.0, shares)
    np.testing.assert_allclose(shares[:2000], np.exp(scores[:2000]), rtol=1e-12)
    assert not shares[2000:].any()


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9])
def test_the_highest_score_is_found_wherever_it_is(count):
    for place in range(count):
        values = -1.0 - np.arange(count, dtype=float)
        values[place] = -0.5
        assert categorical.highest(values) == -0.5
