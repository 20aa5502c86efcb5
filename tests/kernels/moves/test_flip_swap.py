"""The moves of one coordinate on exact zeros, each against the formula it stands for.

That all moves together draw from the right law is the business of test_geweke.
"""

import math
from copy import deepcopy
from itertools import starmap

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax
from scipy.stats import chisquare

from compiled import assert_compiled_equals_plain, plain
from move_scenes import (
    inside,
    inverted,
    log_masses,
    numbers,
    particle,
    slopes_of,
    sparse_thetas,
    staged,
)
from p_values import assert_plausible, two_sided
from soids.evidence import Menu
from soids.gram import Gram
from soids.kernels.gram_rows import whole
from soids.kernels.moves import candidates, flip, swap, sweep
from soids.kernels.rewards import write_rewards
from soids.kernels.truncated_normal import log_mass
from soids.posteriors import smc
from soids.posteriors.prior import Prior
from soids.posteriors.target import Target
from soids.posteriors.unknowns import Noise, Span
from soids.posteriors.value_laws import UniformInBall
from thread_counts import by_one_and_two_threads, needs_two_threads

# In chains half of the values are drawn anew, so that few particles see it all.
PACES = pytest.mark.parametrize(
    "pace",
    [
        sweep.PARTICLES,
        sweep.CHAIN._replace(redrawn=0.5),
        sweep.PINNED_CHAIN._replace(redrawn=0.5, joint=0.8),
    ],
)
SLABS = pytest.mark.parametrize("slab", [(0.0, 0.0), (0.4, 0.0), (4.0, 0.8)])  # and its centre


def staged_system(rng, slab):
    """Thirty particles with noises of their own, ready for a sweep."""
    thetas, variances = sparse_thetas(rng), rng.uniform(0.5, 2.0, 30)
    target = staged(rng, slab_precision=slab[0], slab_centre=slab[1])
    return smc.placed(target, thetas, thetas != 0.0, variances)


def half_logs(precisions, lean=0.0):
    bumps = 2.0 if lean > 0.0 else 1.0
    return math.log(bumps) + 0.5 * np.log(2.0 * np.pi / np.maximum(precisions, 1e-300))


@given(
    st.floats(-1e4, 1e4),
    st.just(0.0) | st.floats(1e-9, 1e6),
    st.floats(1e-6, 1e3) | st.just(math.inf),
)
def test_the_bound_is_never_below_the_mass(slope, precision, slack):
    assume(precision > 0.0 or slack < math.inf)
    height, width = swap.bump_bound(slope, precision, slack)
    mass = log_mass(slope, precision, -slack, slack)
    assert height + math.log(width) >= mass - 1e-13 * (1.0 + abs(mass))


def flipped(theta, slopes, power, radius, volume, gram, slab, lean, prior, eager, uniforms):
    """The flips by their definition: no bound saves any work, every slope is computed afresh."""
    theta, (log_odds, floor, own_odds) = theta.copy(), prior
    for j, u in enumerate(uniforms):
        others = theta.copy()
        others[j] = 0.0
        size, slack = np.count_nonzero(others), radius - np.abs(others).sum()
        if size == log_odds.size:
            continue
        slope = slopes[j] - power * gram[j] @ others
        bump = slope, lean, power * gram[j, j] + slab, -slack, slack
        odds = log_odds[size] + own_odds[j] - volume + logsumexp(log_masses(*bump))
        share = inside(odds, theta[j] != 0.0, eager) if size >= floor else 1.0
        redrawn = share if theta[j] == 0.0 else flip.REDRAWN * share
        if u < redrawn:
            theta[j], _ = inverted(*bump, u / redrawn)
        elif u >= share:
            theta[j] = 0.0
    return theta


@pytest.mark.parametrize(
    ("slab", "lean", "radius"),
    [(0.0, 0.0, 3.0), (0.4, 0.0, 3.0), (0.4, 0.0, math.inf), (0.4, 0.7, 3.0), (0.4, 5.0, 3.0)],
)
@pytest.mark.parametrize("price", [-1.0, -4.0])
@pytest.mark.parametrize("laxity", [1.0, 0.3])
@pytest.mark.parametrize("eager", [False, True])
def test_the_squeeze_changes_no_flip(slab, lean, radius, price, laxity, eager):
    rng = np.random.default_rng(0)
    floor, log_odds = 0 if slab else 1, np.full(4, price)
    own_odds = np.array([0.0, 1.0, -1.0, 2.0, 0.0, -0.5])
    for theta in sparse_thetas(rng, particles=150):
        stage, power = staged(rng), rng.choice([1.0, 5.0])
        slopes = slopes_of(stage, power)
        # The table may stem from another particle, with a lower power than this one's.
        table = half_logs(laxity * power * stage.gram.diagonal + slab, lean)
        uniforms = rng.random(6) ** rng.choice([1, 4])  # small ones, too: those settle less
        expected = flipped(
            theta, slopes, power, radius, 1.8, stage.gram.dense(), slab, lean,
            (log_odds, floor, own_odds), eager, uniforms,
        )  # fmt: skip
        gram = stage.gram.all_rows()
        flip.flip(
            particle(theta, power, gram, slab, radius, 1.8),
            numbers(log_odds, floor, own_odds, lean),
            flip.fields(theta, power, gram, slopes), table, eager, uniforms,
        )  # fmt: skip
        np.testing.assert_array_equal(theta != 0.0, expected != 0.0)
        np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-12)


def flip_once(theta, field, gram, slab_precision, rng):
    table, log_odds = half_logs(2.0 * gram.diagonal + slab_precision), np.full(4, 0.5)
    one = particle(theta, 2.0, gram, slab_precision, 3.0, 1.8)
    flip.flip(one, numbers(log_odds, 1, np.zeros(6)), field, table, False, rng.random(6))


def swap_once(theta, field, gram, slab_precision, rng):
    swap.swap(particle(theta, 2.0, gram, slab_precision, 3.0), 0.0, field, rng.random(4))


@pytest.mark.parametrize("move", [flip_once, swap_once])
@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_a_move_keeps_to_the_ball_and_to_the_sizes_allowed(move, slab_precision):
    rng = np.random.default_rng(1)
    for theta in sparse_thetas(rng, particles=200):
        stage = staged(rng)
        gram, slopes = stage.gram.all_rows(), slopes_of(stage, 2.0)
        field = flip.fields(theta, 2.0, gram, slopes)
        sizes = range(1, 5) if move is flip_once else [np.count_nonzero(theta)]
        move(theta, field, gram, slab_precision, rng)
        assert np.count_nonzero(theta) in sizes
        assert np.abs(theta).sum() <= 3.0 * (1 + 1e-15)
        if move is flip_once:  # for the swap that follows
            afresh = flip.fields(theta, 2.0, gram, slopes)
            np.testing.assert_allclose(field, afresh, atol=1e-11)


def test_the_empty_support_has_nothing_to_swap():
    stage, theta, field = staged(np.random.default_rng(2)), np.zeros(6), np.ones(6)
    one = particle(theta, 1.0, stage.gram.all_rows(), 0.4, 3.0)
    swap.swap(one, 0.0, field, np.full(4, 0.5))
    np.testing.assert_array_equal(theta, 0.0)
    np.testing.assert_array_equal(field, 1.0)


def test_a_swap_out_of_a_certain_feature_comes_back_to_it():
    gram, moment = whole(np.eye(3)), np.array([0.0, 60.0, 0.0])
    for u in [0.01, 0.5, 0.99]:
        theta = np.array([0.0, 55.0, 0.0])
        one, uniforms = particle(theta, 1.0, gram, 0.0, 1e3), np.array([0.5, u, 0.5, 0.5])
        swap.swap(one, 0.0, moment - theta, uniforms)
        np.testing.assert_allclose(theta, [0.0, 60.0, 0.0], atol=1e-9)  # and redraws its median


@pytest.mark.parametrize("slack", [0.4, 3.0])
@pytest.mark.parametrize("lean", [0.0, 1.0])
def test_swaps_keep_the_masses_of_the_features(slack, lean):
    """The narrow ball cuts all bumps, so that their bounds are loose, each in its way."""
    gram, slopes = whole(np.diag([1.0, 4.0, 2.0, 3.0])), np.array([1.0, -2.0, 1.5, 0.5])
    ends = -slack, slack
    laws = [(slopes[j], lean, gram.diagonal[j], *ends) for j in range(4)]
    own_odds = np.array([0.0, 1.0, -0.5, 0.3])
    masses = softmax([logsumexp(log_masses(*law)) + own_odds[j] for j, law in enumerate(laws)])
    bumps = [(abs(slopes[j]) + lean, gram.diagonal[j], slack) for j in range(4)]
    bounds = [height + math.log(width) for height, width in starmap(swap.bump_bound, bumps)]
    bounds += own_odds
    assert slack > 1.0 or np.abs(softmax(bounds) / masses - 1.0).max() > 0.1

    def p_value(rng, times):
        counts = np.zeros(4)
        for start in rng.choice(4, times * 10_000, p=masses):
            theta = 0.1 * np.eye(4)[start]
            field = flip.fields(theta, 1.0, gram, slopes)
            one = particle(theta, 1.0, gram, 0.0, slack, own_odds=own_odds)
            swap.swap(one, lean, field, rng.random(4))
            counts[np.flatnonzero(theta)] += 1
        return chisquare(counts, times * 10_000 * masses).pvalue

    assert_plausible(p_value)


def test_fields_are_the_gradient_of_the_log_density():
    rng = np.random.default_rng(3)
    stage, theta = staged(rng), sparse_thetas(rng)[0]
    slopes = slopes_of(stage, 1.7)

    def log_density(x):
        return slopes @ x - 0.5 * 1.7 * x @ stage.gram.dense() @ x

    # Central differences of a quadratic have no error but rounding, whatever their step.
    differences = [log_density(theta + e / 2) - log_density(theta - e / 2) for e in np.eye(6)]
    field = flip.fields(theta, 1.7, stage.gram.all_rows(), slopes)
    np.testing.assert_allclose(field, differences, atol=1e-12)


@PACES
@SLABS
def test_a_sweep_returns_the_rewards_of_the_parameters_it_returns(slab, pace):
    rng = np.random.default_rng(5)
    before = staged_system(rng, slab)
    after = smc.moved(before, rng, 8, pace)
    assert (after.thetas != before.thetas).any(axis=1).mean() > 0.9
    np.testing.assert_allclose(after.rewards, after.thetas @ after.target.columns, atol=1e-13)


def test_all_moves_of_a_sweep_follow_the_arm_that_was_drawn_with_the_values():
    """Two opposite actions, equally good: half of the particles change sides, and stay there.

    The arm is drawn with the values in every sweep.
    """
    radius, noise = Span(50.0, 50.0), Noise(math.inf, 1.0)
    prior = Prior(np.zeros(1), 1, 1, UniformInBall(), radius, noise, np.zeros(1))
    target = Target(
        prior, 1.0, 0.3, Gram.of(np.eye(1)), np.zeros(1), 0.0, 10, drift=np.zeros(1),
        tilts=np.full(1, 3.0), menus=(Menu(np.array([[1.0], [-1.0]])),),
        columns=np.array([[1.0, -1.0]]), starts=np.array([0, 2]),
    )  # fmt: skip

    def p_value(rng, times):
        thetas = np.full((400 * times, 1), 3.0)
        system = smc.placed(target, thetas, thetas != 0.0, np.ones(400 * times))
        changed = (smc.moved(system, rng).thetas < 0.0).mean()
        return two_sided((changed - 0.5) / math.sqrt(0.25 / len(thetas)))

    assert_plausible(p_value)


@PACES
@SLABS
def test_a_sweep_modifies_nothing_it_was_given(slab, pace):
    rng = np.random.default_rng(6)
    system = staged_system(rng, slab)
    before = deepcopy(system)
    smc.moved(system, rng, pace=pace)
    for now, then in zip(
        (*system.target, *system, system.target.gram.dense()),
        (*before.target, *before, before.target.gram.dense()),
        strict=True,
    ):
        if isinstance(now, np.ndarray):
            np.testing.assert_array_equal(now, then)


@needs_two_threads
@PACES
@SLABS
def test_the_number_of_threads_changes_no_bit(slab, pace, monkeypatch):
    system = staged_system(np.random.default_rng(7), slab)
    thetas = by_one_and_two_threads(
        lambda: smc.moved(system, np.random.default_rng(0), pace=pace).thetas, monkeypatch
    )
    np.testing.assert_array_equal(*thetas)


@PACES
@SLABS
def test_a_compiled_sweep_equals_the_plain_one(slab, pace, monkeypatch):
    system = staged_system(np.random.default_rng(8), slab)
    compiled = smc.moved(system, np.random.default_rng(0), pace=pace).thetas
    monkeypatch.setattr(sweep, "sweep_rows", plain(sweep.sweep_rows))
    interpreted = smc.moved(system, np.random.default_rng(0), pace=pace).thetas
    np.testing.assert_allclose(compiled, interpreted, rtol=1e-11)


def kernel_calls():
    """One call of every kernel but the sweep, and what it calls to move values."""
    rng = np.random.default_rng(9)
    stage, thetas, field, table = staged(rng), sparse_thetas(rng), rng.random(6), np.zeros(6)
    gram, theta = stage.gram.all_rows(), thetas[0]
    one = particle(theta, 1.5, gram, 0.4, 3.0, 0.3)
    prior = numbers(np.zeros(4), 0, np.zeros(6), 0.2)
    return {
        swap.bump_bound: (1.3, 0.7, 2.0),
        flip.flip: (one, prior, field, table, True, rng.random(6)),
        swap.swap: (one, 0.2, field, rng.random(4)),
        candidates.draw_leans: (theta, np.flatnonzero(theta), 0.2, rng.random(6)),
        flip.fields: (theta, 1.5, gram, field),
        write_rewards: (theta, stage.columns, np.zeros(9)),
    }


@pytest.mark.parametrize("kernel", kernel_calls())
def test_compiled_equals_plain(kernel):
    arguments = kernel_calls()[kernel]
    assert_compiled_equals_plain(kernel, *arguments)
