"""The growing and shrinking factor against linear algebra."""

import numpy as np
import pytest

from soids.kernels import cholesky
from soids.kernels.cholesky import Precision
from soids.kernels.gram_rows import whole

POWER, SLAB, LEAN = 2.0, 0.4, 0.3


def scene(seed):
    """The precision of six features, their gram and slopes."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((9, 6))
    gram = rows.T @ rows
    return POWER * gram + SLAB * np.eye(6), whole(gram), rng.standard_normal(6)


def check(done, precision, slopes, support):
    """Everything in use is what its definition says."""
    slopes = slopes + done.leans
    n, free = len(support), np.setdiff1d(np.arange(len(slopes)), support)
    inner, cross = precision[np.ix_(support, support)], precision[np.ix_(support, free)]
    factor = np.linalg.cholesky(inner)
    np.testing.assert_array_equal(done.active[:n], support)
    np.testing.assert_allclose(np.tril(done.factor[:n, :n]), factor, rtol=1e-10)
    np.testing.assert_allclose(np.tril(done.inverse[:n, :n]) @ factor, np.eye(n), atol=1e-9)
    np.testing.assert_allclose(done.shadow[:n, free], np.linalg.solve(factor, cross), rtol=1e-9)
    np.testing.assert_allclose(done.centre[:n], np.linalg.solve(factor, slopes[support]), rtol=1e-9)
    left = np.diag(precision)[free] - np.diag(cross.T @ np.linalg.solve(inner, cross))
    np.testing.assert_allclose(done.precisions[free], left, rtol=1e-9)
    rest = slopes[free] - cross.T @ np.linalg.solve(inner, slopes[support])
    np.testing.assert_allclose(done.slopes[free], rest, rtol=1e-9)


def eliminated(seed):
    precision, gram, slopes = scene(seed)
    theta = np.array([0.0, 0.4, 0.0, -0.2, 0.7, 0.0])
    leans = LEAN * np.sign(theta)
    done = cholesky.eliminate(theta, 5, Precision(POWER, gram, SLAB), slopes, leans, LEAN)
    return precision, gram, slopes, done, 3


def test_the_active_features_are_eliminated():
    precision, _, slopes, done, _ = eliminated(0)
    check(done, precision, slopes, [1, 3, 4])


@pytest.mark.parametrize(("place", "left"), [(0, [3, 4, 0]), (1, [1, 4, 0]), (3, [1, 3, 4])])
def test_features_join_and_drop(place, left):
    precision, gram, slopes, done, n = eliminated(1)
    cholesky.join(done, n, 0, -LEAN, Precision(POWER, gram, SLAB))
    check(done, precision, slopes, [1, 3, 4, 0])
    leant = cholesky.drop(done, n + 1, place)
    assert leant == [LEAN, -LEAN, LEAN, -LEAN][place]
    check(done, precision, slopes, left)
    assert np.flatnonzero(done.leans).tolist() == sorted(left)


def test_a_hundred_changes_leave_no_trace():
    precision, gram, slopes, done, n = eliminated(2)
    cholesky.join(done, n, 2, LEAN, Precision(POWER, gram, SLAB))
    for j in range(100):  # each feature goes around all places
        cholesky.drop(done, n + 1, j % 3)
        left = [i for i in (1, 2, 3, 4) if i not in done.active[:n]]
        cholesky.join(done, n, left[0], -LEAN, Precision(POWER, gram, SLAB))
    check(done, precision, slopes, done.active[: n + 1].tolist())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_left_without_a_feature_is_what_is_left_once_it_is_dropped(place):
    _, _, _, done, n = eliminated(2)
    left = cholesky.without(done, n, place)
    cholesky.drop(done, n, place)
    np.testing.assert_array_equal(left.active[: n - 1], done.active[: n - 1])
    free = np.setdiff1d(np.arange(6), done.active[: n - 1])
    np.testing.assert_allclose(left.precisions[free], done.precisions[free], rtol=1e-10)
    np.testing.assert_allclose(left.slopes[free], done.slopes[free], rtol=1e-9, atol=1e-12)


def test_what_joins_and_drops_at_the_end_leaves_no_trace():
    precision, gram, slopes, done, n = eliminated(2)
    for j in range(100):
        cholesky.join(done, n, (0, 2, 5)[j % 3], LEAN, Precision(POWER, gram, SLAB))
        cholesky.drop(done, n + 1, n)
    check(done, precision, slopes, [1, 3, 4])


def test_no_feature_at_all_leaves_everything_as_it_was():
    precision, gram, slopes = scene(3)
    done = cholesky.eliminate(
        np.zeros(6), 2, Precision(POWER, gram, SLAB), slopes, np.zeros(6), LEAN
    )
    check(done, precision, slopes, [])


@pytest.mark.parametrize("gram", [np.ones((2, 2)), np.diag([1.0, 0.0]), np.zeros((2, 2))])
def test_values_that_the_data_do_not_pin_have_no_factor(gram):
    assert not cholesky.is_pinned(np.ones(2), Precision(POWER, whole(gram), 0.0))


def test_the_factor_is_that_of_numpy():
    precision, gram, _ = scene(6)
    factor, pinned = cholesky.precision_factor(np.arange(6), Precision(POWER, gram, SLAB))
    assert pinned
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(precision), rtol=1e-11)


def test_rounding_does_not_pin_what_the_data_do_not():
    """Two rows never pin three features, however alike two of them are."""
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        rows = rng.standard_normal((2, 3))
        rows[:, 1] = rows[:, 0] + 10.0 ** rng.uniform(-9, 0) * rows[:, 1]
        assert not cholesky.is_pinned(np.ones(3), Precision(POWER, whole(rows.T @ rows), 0.0))


def test_what_is_surely_pinned_is_pinned_in_every_order():
    """Pairs of nearly equal features, from far above to far below what is pinned."""
    rng, sure = np.random.default_rng(7), 0
    for _ in range(2_000):
        rows = rng.standard_normal((9, 4))
        rows[:, 1] = rows[:, 0] + 10.0 ** rng.uniform(-5, 0) * rows[:, 1]
        rows[:, 3] = rows[:, 2] + 10.0 ** rng.uniform(-3, 0) * rows[:, 3]
        order = rng.permutation(4)
        gram = whole(rows[:, order].T @ rows[:, order])
        if not cholesky.is_pinned(np.ones(4), Precision(POWER, gram, 0.0)):
            continue
        done = cholesky.eliminate(
            np.ones(4), 4, Precision(POWER, gram, 0.0), np.zeros(4), np.zeros(4), 0.0
        )
        means, variances = np.empty((2, 4))
        cholesky.write_marginals(done.inverse, done.centre, 4, means, variances)
        if cholesky.surely_pinned(done.active, done.diagonal, 4, variances):
            sure += 1
            for other in ([3, 2, 1, 0], [1, 3, 0, 2]):
                again = whole(gram.rows[np.ix_(other, other)])
                assert cholesky.is_pinned(np.ones(4), Precision(POWER, again, 0.0))
    assert 500 < sure < 1_950


def test_the_inverse_of_the_factor_has_means_and_variances():
    precision, _, slopes, done, n = eliminated(4)
    support, slopes = [1, 3, 4], slopes + done.leans
    covariance = np.linalg.inv(precision[np.ix_(support, support)])
    means, variances = np.empty((2, n))
    cholesky.write_marginals(done.inverse, done.centre, n, means, variances)
    np.testing.assert_allclose(means, covariance @ slopes[support], rtol=1e-9)
    np.testing.assert_allclose(variances, np.diag(covariance), rtol=1e-9)
    for place in range(n):
        assert cholesky.marginal(done, n, place) == pytest.approx((means[place], variances[place]))
