"""The moves on exact zeros, one kernel at a time: each against the formula it stands for.

That together they draw from the right law is the business of test_geweke.
"""

import math
from copy import deepcopy

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from scipy.stats import chisquare

from soids.kernels import sparse
from soids.kernels.normal import invert_mass, log_mass
from soids.posteriors import smc
from soids.posteriors.prior import Noise, Prior, Span
from soids.posteriors.target import Target


def staged(rng, dimension=6, rounds=8, slab_precision=0.0):
    """Two menus on offer, another with no weight, and a first feature that no action has shown."""
    played = rng.uniform(-1.0, 1.0, (rounds, dimension))
    played[:, 0] = 0.0
    rewards = played.sum(axis=1) + rng.standard_normal(rounds)
    prior = Prior(
        np.log(rng.random(4)), 4, Span(3.0, 3.0), Noise(math.inf, 1.0),
        smallest=0 if slab_precision else 1, slab_precision=slab_precision,
    )  # fmt: skip
    return Target(
        prior, 1.0, 0.3, played.T @ played, played.T @ rewards, rewards @ rewards, rounds,
        drift=0.3 * played.sum(axis=0), tilts=np.array([1.5, 0.0, 0.9]),
        columns=rng.uniform(-1.0, 1.0, (dimension, 9)), starts=np.array([0, 4, 6, 9]),
    )  # fmt: skip


def sparse_thetas(rng, particles=30, dimension=6, radius=3.0):  # (M, d)
    """Parameters with one to three active features, inside the ball."""
    sizes = rng.integers(1, 4, particles)
    thetas = rng.standard_normal((particles, dimension))
    thetas[rng.random((particles, dimension)).argsort(axis=1).argsort(axis=1) >= sizes[:, None]] = 0
    reach = radius * rng.random(particles)
    return thetas * (reach / np.abs(thetas).sum(axis=1))[:, None]


def staged_cloud(rng, slab_precision):
    """Thirty particles with noises of their own, ready for a sweep."""
    thetas, radii, variances = sparse_thetas(rng), np.full(30, 3.0), rng.uniform(0.5, 2.0, 30)
    target = staged(rng, slab_precision=slab_precision)
    return smc.placed(target, thetas, thetas != 0.0, radii, variances)


def field_of(stage, theta, power):
    return sparse.fields(theta, power, stage.gram, stage.moment, stage.drift, np.zeros(theta.size))


def outcome(kernel, *arguments):
    """All that a kernel returns and writes, in one row."""
    arguments = deepcopy(arguments)
    returned = kernel(*arguments)
    parts = [*(returned if isinstance(returned, tuple) else [returned]), *arguments]
    return np.concatenate([np.ravel(part).astype(float) for part in parts if part is not None])


def drawn_pull(stage, rewards, uniforms):
    pull = np.full(len(stage.moment), np.nan)  # what was there before must not matter
    sparse.draw_arms(rewards, stage.starts, stage.tilts, stage.columns, uniforms, pull)
    return pull


def half_logs(precisions):
    return 0.5 * np.log(2.0 * np.pi / np.maximum(precisions, 1e-300))


def test_arms_follow_the_softmax_of_their_tilted_rewards():
    rng = np.random.default_rng(0)
    stage = staged(rng, dimension=2)._replace(starts=np.array([0, 9]), tilts=np.array([1.7]))
    rewards = rng.standard_normal(9)
    counts = np.zeros(9)
    for u in rng.random(20_000):
        pull = drawn_pull(stage, rewards, np.array([u])) / 1.7
        counts[np.abs(stage.columns.T - pull).sum(axis=1).argmin()] += 1
    # Right draws fail with probability 1e-4; a tenth more tilt has chi-square 107 and not 8.
    assert chisquare(counts, 20_000 * softmax(1.7 * rewards)).pvalue > 1e-4


def test_menus_pull_together_and_one_without_tilt_does_not():
    rng = np.random.default_rng(1)
    stage = staged(rng)
    rewards = np.zeros(9)
    rewards[[2, 5, 7]] = 1e4  # the arm of each menu is certain
    pull = drawn_pull(stage, rewards, rng.random(3))
    np.testing.assert_allclose(pull, 1.5 * stage.columns[:, 2] + 0.9 * stage.columns[:, 7])


@pytest.mark.parametrize("u", [0.0, 1.0 - 2.0**-53])
def test_an_extreme_uniform_draws_an_end_of_the_menu(u):
    stage = staged(np.random.default_rng(2))
    pull = drawn_pull(stage, np.zeros(9), np.full(3, u))
    first, last = (3, 8) if u else (0, 6)
    np.testing.assert_allclose(pull, 1.5 * stage.columns[:, first] + 0.9 * stage.columns[:, last])


@given(
    st.floats(-1e4, 1e4),
    st.just(0.0) | st.floats(1e-9, 1e6),
    st.floats(1e-6, 1e3) | st.just(math.inf),
)
def test_the_bound_is_never_below_the_mass(slope, precision, slack):
    if precision == 0.0 and slack == math.inf:
        return
    bound = sparse.bump_bound(slope, precision, half_logs(precision), slack)
    mass = log_mass(slope, precision, -slack, slack)
    assert bound >= mass - 1e-13 * (1.0 + abs(mass))


def flipped(theta, linear, power, radius, volume, gram, slab_precision, log_odds, floor, uniforms):
    """The flips by their definition: no bound saves any work, every slope is computed afresh."""
    theta = theta.copy()
    for j, u in enumerate(uniforms):
        others = theta.copy()
        others[j] = 0.0
        size, slack = np.count_nonzero(others), radius - np.abs(others).sum()
        if size == log_odds.size:
            continue
        slope = linear[j] - power * gram[j] @ others
        precision = power * gram[j, j] + slab_precision
        odds = log_odds[size] - volume + log_mass(slope, precision, -slack, slack)
        share = expit(odds) if size >= floor else 1.0
        inside = u < share
        theta[j] = invert_mass(slope, precision, -slack, slack, u / share) if inside else 0.0
    return theta


@pytest.mark.parametrize(("slab_precision", "radius"), [(0.0, 3.0), (0.4, 3.0), (0.4, math.inf)])
@pytest.mark.parametrize("price", [-1.0, -4.0])
@pytest.mark.parametrize("laxity", [1.0, 0.3])
def test_the_squeeze_changes_no_flip(slab_precision, radius, price, laxity):
    rng = np.random.default_rng(3)
    floor, log_odds = 0 if slab_precision else 1, np.full(4, price)
    for theta in sparse_thetas(rng, particles=150):
        stage, power = staged(rng), rng.choice([1.0, 5.0])
        # The table may stem from another particle, with a lower power than this one's.
        table = half_logs(laxity * power * np.diag(stage.gram) + slab_precision)
        uniforms = rng.random(6) ** rng.choice([1, 4])  # small ones, too: those settle less
        expected = flipped(
            theta, power * stage.moment - stage.drift, power, radius, 1.8, stage.gram,
            slab_precision, log_odds, floor, uniforms,
        )  # fmt: skip
        sparse.flip(
            theta, field_of(stage, theta, power), power, radius, 1.8, stage.gram,
            slab_precision, table, log_odds, floor, uniforms,
        )  # fmt: skip
        np.testing.assert_array_equal(theta != 0.0, expected != 0.0)
        np.testing.assert_allclose(theta, expected, rtol=1e-9, atol=1e-12)


def flip_once(theta, field, gram, slab_precision, table, rng):
    sparse.flip(
        theta, field, 2.0, 3.0, math.log(6.0), gram, slab_precision, table, np.full(4, 0.5), 1,
        rng.random(6),
    )  # fmt: skip


def swap_once(theta, field, gram, slab_precision, table, rng):
    sparse.swap(theta, field, 2.0, 3.0, gram, slab_precision, table, rng.random(4))


def block_once(theta, field, gram, slab_precision, table, rng):
    active, normals = np.flatnonzero(theta), rng.standard_normal(4)
    sparse.block(theta, field, 2.0, 3.0, gram, slab_precision, active, normals)


@pytest.mark.parametrize("move", [flip_once, swap_once, block_once])
@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_a_move_keeps_to_the_ball_and_the_field_up_to_date(move, slab_precision):
    rng = np.random.default_rng(4)
    for theta in sparse_thetas(rng, particles=200):
        stage = staged(rng)
        field = field_of(stage, theta, 2.0)
        sizes = range(1, 5) if move is flip_once else [np.count_nonzero(theta)]
        move(theta, field, stage.gram, slab_precision, half_logs(2.0 * np.diag(stage.gram)), rng)
        assert np.count_nonzero(theta) in sizes
        assert np.abs(theta).sum() <= 3.0 * (1 + 1e-15)
        np.testing.assert_allclose(field, field_of(stage, theta, 2.0), atol=1e-11)


def test_the_empty_support_has_nothing_to_swap_or_redraw():
    stage, theta, field = staged(np.random.default_rng(5)), np.zeros(6), np.ones(6)
    sparse.swap(theta, field, 1.0, 3.0, stage.gram, 0.4, np.zeros(6), np.full(4, 0.5))
    sparse.block(theta, field, 1.0, 3.0, stage.gram, 0.4, np.flatnonzero(theta), np.ones(4))
    assert not theta.any()
    np.testing.assert_array_equal(field, 1.0)


def test_a_swap_out_of_a_certain_feature_comes_back_to_it():
    gram, moment = np.eye(3), np.array([0.0, 60.0, 0.0])
    for u in [0.01, 0.5, 0.99]:
        theta = np.array([0.0, 55.0, 0.0])
        field, table = moment - theta, half_logs(np.ones(3))
        sparse.swap(theta, field, 1.0, 1e3, gram, 0.0, table, np.array([0.5, u, 0.5, 0.5]))
        np.testing.assert_allclose(theta, [0.0, 60.0, 0.0], atol=1e-9)  # and redraws its median


def test_cholesky_agrees_with_numpy():
    root = np.random.default_rng(6).standard_normal((5, 5))
    matrix = root @ root.T
    factor = matrix.copy()
    assert sparse.cholesky(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=1e-11)


def test_cholesky_refuses_a_matrix_that_is_not_positive_definite():
    assert not sparse.cholesky(np.ones((2, 2)))
    assert not sparse.cholesky(np.zeros((1, 1)))
    assert not sparse.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


def joint_law(stage, support):
    """Precision, mean and log mass of the values on a support, by linear algebra."""
    precision = 2.0 * stage.gram[np.ix_(support, support)] + 0.4 * np.eye(len(support))
    slope = (2.0 * stage.moment - stage.drift)[support]
    mean = np.linalg.solve(precision, slope)
    return precision, mean, 0.5 * (slope @ mean - np.linalg.slogdet(precision)[1])


def coloured(precision, normals):
    return np.linalg.solve(np.linalg.cholesky(precision).T, normals)


def blocked(stage, theta, radius, normals):
    theta, active = theta.copy(), np.flatnonzero(theta)
    field = field_of(stage, theta, 2.0)
    sparse.block(theta, field, 2.0, radius, stage.gram, 0.4, active, normals)
    return theta


def exchanged(stage, theta, radius, uniforms, normals):
    theta, slopes = theta.copy(), 2.0 * stage.moment - stage.drift
    sparse.exchange(theta, 2.0, radius, stage.gram, 0.4, slopes, uniforms, normals)
    return theta


def test_a_block_redraws_all_values_from_their_joint_law():
    rng = np.random.default_rng(7)
    stage, theta, normals = staged(rng), np.array([0.0, 0.4, 0.0, -0.2, 0.7, 0.0]), rng.random(4)
    precision, mean, _ = joint_law(stage, [1, 3, 4])
    expected = mean + coloured(precision, normals[:3])
    length = np.abs(expected).sum()
    new = blocked(stage, theta, 1.01 * length, normals)
    np.testing.assert_allclose(new[[1, 3, 4]], expected, rtol=1e-11)
    assert not new[[0, 2, 5]].any()
    # It keeps the old ones if it would leave the ball, or has too few normals.
    np.testing.assert_array_equal(blocked(stage, theta, 0.99 * length, normals), theta)
    np.testing.assert_array_equal(blocked(stage, theta, 1e3, normals[:2]), theta)


def test_an_exchange_redraws_all_values_from_their_joint_law():
    rng = np.random.default_rng(16)
    stage, theta, normals = staged(rng), np.array([0.0, 0.4, 0.0, -0.2, 0.7, 0.0]), rng.random(4)
    uniforms = np.array([0.5, 0.7])  # the second of three goes
    support = np.flatnonzero(exchanged(stage, theta, 1e3, uniforms, normals))
    support = [1, 4, *np.setdiff1d(support, [1, 4])]
    precision, mean, _ = joint_law(stage, support)
    expected = mean + coloured(precision, normals[:3])
    length = np.abs(expected).sum()
    new = exchanged(stage, theta, 1.01 * length, uniforms, normals)
    np.testing.assert_allclose(new[support], expected, rtol=1e-11)
    assert np.count_nonzero(new) == 3
    # It keeps the old ones if it would leave the ball.
    np.testing.assert_array_equal(exchanged(stage, theta, 0.99 * length, uniforms, normals), theta)


def test_an_exchange_weighs_each_support_by_its_mass():
    stage, theta = staged(np.random.default_rng(8)), np.array([0.0, 0.4, 0.0, -0.2, 0.0, 0.0])
    candidates = [0, 1, 2, 4, 5]  # the first active feature goes, the other one stays
    counts = np.zeros(6)
    for u in (np.arange(2_000) + 0.5) / 2_000:
        support = np.flatnonzero(exchanged(stage, theta, 1e3, np.array([0.0, u]), np.ones(4)))
        counts[support] += 1
    masses = softmax([joint_law(stage, [3, i])[2] for i in candidates])
    np.testing.assert_allclose(counts[candidates] / 2_000, masses, atol=1e-3)


def test_fields_are_the_gradient_of_the_log_density():
    rng = np.random.default_rng(9)
    stage, theta, pull = staged(rng), sparse_thetas(rng)[0], rng.standard_normal(6)

    def log_density(x):
        fit = x @ stage.gram @ x - 2.0 * stage.moment @ x
        return -0.5 * 1.7 * fit + (pull - stage.drift) @ x

    # Central differences of a quadratic have no error but rounding, whatever their step.
    slopes = [log_density(theta + e / 2) - log_density(theta - e / 2) for e in np.eye(6)]
    field = sparse.fields(theta, 1.7, stage.gram, stage.moment, stage.drift, pull)
    np.testing.assert_allclose(field, slopes, atol=1e-12)


def test_all_rewards_are_parameters_times_actions():
    rng = np.random.default_rng(10)
    columns, thetas = staged(rng).columns, sparse_thetas(rng)
    np.testing.assert_allclose(sparse.all_rewards(thetas, columns), thetas @ columns, atol=1e-14)


@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_a_sweep_returns_the_rewards_of_the_parameters_it_returns(slab_precision):
    rng = np.random.default_rng(11)
    before = staged_cloud(rng, slab_precision)
    after = smc.moved(before, rng)
    assert (after.thetas != before.thetas).any(axis=1).all()
    np.testing.assert_allclose(after.rewards, after.thetas @ after.target.columns, atol=1e-13)


@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_a_sweep_modifies_nothing_it_was_given(slab_precision):
    rng = np.random.default_rng(12)
    cloud = staged_cloud(rng, slab_precision)
    before = deepcopy(cloud)
    smc.moved(cloud, rng)
    for now, then in zip((*cloud.target, *cloud), (*before.target, *before), strict=True):
        if isinstance(now, np.ndarray):
            np.testing.assert_array_equal(now, then)


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_the_number_of_threads_changes_no_bit(slab_precision):
    cloud = staged_cloud(np.random.default_rng(13), slab_precision)
    before = numba.get_num_threads()
    thetas = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        thetas.append(smc.moved(cloud, np.random.default_rng(0)).thetas)
    numba.set_num_threads(before)
    np.testing.assert_array_equal(*thetas)


@pytest.mark.parametrize("slab_precision", [0.0, 0.4])
def test_a_compiled_sweep_equals_the_plain_one(slab_precision, monkeypatch):
    cloud = staged_cloud(np.random.default_rng(14), slab_precision)
    compiled = smc.moved(cloud, np.random.default_rng(0)).thetas
    monkeypatch.setattr(sparse, "sweep", getattr(sparse.sweep, "py_func", sparse.sweep))
    plain = smc.moved(cloud, np.random.default_rng(0)).thetas
    np.testing.assert_allclose(compiled, plain, rtol=1e-11)


def kernel_arguments():
    """One call of every kernel."""
    rng = np.random.default_rng(15)
    stage = staged(rng)
    theta, field, table = sparse_thetas(rng)[0], rng.standard_normal(6), np.zeros(6)
    gram, columns = stage.gram, stage.columns
    return {
        "draw_index": (theta, 0.6),
        "draw_arms": (
            theta @ columns, stage.starts, stage.tilts, columns, rng.random(3), np.zeros(6),
        ),
        "bump_bound": (1.3, 0.7, 0.2, 2.0),
        "flip": (
            theta, field, 1.5, 3.0, 0.3, gram, 0.4, table, np.zeros(4), 0, rng.random(6),
        ),
        "swap": (theta, field, 1.5, 3.0, gram, 0.4, table, rng.random(4)),
        "cholesky": (gram[1:, 1:],),
        "exchange": (theta, 1.5, 9.0, gram, 0.4, field, rng.random(2), np.ones(4)),
        "block": (theta, field, 1.5, 9.0, gram, 0.4, np.flatnonzero(theta), np.ones(4)),
        "fields": (theta, 1.5, gram, stage.moment, stage.drift, field),
        "rate_actions": (theta, columns, np.zeros(9)),
        "all_rewards": (sparse_thetas(rng), columns),
    }  # fmt: skip


@pytest.mark.parametrize("name", kernel_arguments())
def test_compiled_equals_plain(name):
    kernel, arguments = getattr(sparse, name), kernel_arguments()[name]
    plain = getattr(kernel, "py_func", kernel)
    np.testing.assert_allclose(outcome(kernel, *arguments), outcome(plain, *arguments), rtol=1e-11)
