"""Weights from logarithms, against SciPy."""

import numpy as np
import pytest
from scipy.special import softmax

from compiled import plain
from soids.kernels import weights


@pytest.mark.parametrize("shift", [0.0, 1e4, -1e4])
def test_weights_are_the_softmax_of_their_logarithms(shift):
    logs = np.random.default_rng(0).standard_normal(50) + shift
    np.testing.assert_allclose(weights.normalised(logs), softmax(logs), rtol=1e-11)


def test_the_dead_have_no_weight():
    assert weights.normalised(np.array([-np.inf, 3.0, -np.inf])).tolist() == [0.0, 1.0, 0.0]


def test_the_effective_share_is_that_of_the_weights():
    logs = 2.0 * np.random.default_rng(1).standard_normal(40)
    expected = 1.0 / (softmax(logs) ** 2).sum() / 40
    assert weights.effective_share(logs) == pytest.approx(expected, rel=1e-12)


def test_all_share_alike_one_alone_or_nobody_is_left():
    assert weights.effective_share(np.full(8, -700.0)) == 1.0
    assert weights.effective_share(np.array([0.0, -np.inf, -np.inf, -np.inf])) == 0.25
    assert weights.effective_share(np.full(4, -np.inf)) == 0.0


def test_sizes_count_what_is_included():
    included = np.random.default_rng(2).random((7, 30)) < 0.3
    assert weights.sizes(included).tolist() == included.sum(axis=1).tolist()


@pytest.mark.parametrize("name", ["normalised", "effective_share", "sizes"])
def test_compiled_equals_plain(name):
    given = np.random.default_rng(3).standard_normal(30)
    given = given.reshape(5, 6) > 0.0 if name == "sizes" else given
    kernel = getattr(weights, name)
    np.testing.assert_allclose(kernel(given), plain(kernel)(given), rtol=1e-13)
