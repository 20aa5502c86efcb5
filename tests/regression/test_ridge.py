"""Ridge regression against the textbook formula, and what its ellipsoid holds."""

import numpy as np
import pytest

from recorded import recorded
from soids.regression.ridge import Ellipsoid, ridge, self_normalised_radius


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_the_estimate_is_that_of_the_normal_equations(penalty):
    rng = np.random.default_rng(0)
    actions, rewards = rng.standard_normal((7, 4)), rng.standard_normal(7)
    centre, factor = ridge(recorded(actions, rewards), penalty)
    precision = actions.T @ actions + penalty * np.eye(4)
    assert centre == pytest.approx(np.linalg.inv(precision) @ actions.T @ rewards)
    assert factor @ factor.T == pytest.approx(precision)


def test_lengths_are_norms_in_the_inverse_of_the_precision():
    rng = np.random.default_rng(1)
    root = np.tril(rng.standard_normal((3, 3))) + 3.0 * np.eye(3)
    actions = rng.standard_normal((5, 3))
    expected = [np.sqrt(a @ np.linalg.inv(root @ root.T) @ a) for a in actions]
    assert Ellipsoid(np.zeros(3), root, 1.0).lengths(actions) == pytest.approx(expected)


def test_an_ellipsoid_holds_what_lies_within_its_radius():
    ellipsoid = Ellipsoid(np.array([1.0, 0.0]), np.diag([2.0, 1.0]), radius=1.0)
    assert ellipsoid.holds(np.array([1.49, 0.0]))
    assert not ellipsoid.holds(np.array([1.51, 0.0]))
    assert ellipsoid.holds(np.array([1.0, 0.99]))


def test_the_radius_by_hand():
    # V = diag(4, 9), penalty 1: log(det V / det I) / 2 = log 6.
    radius = self_normalised_radius(np.diag([2.0, 3.0]), 1.0, noise=0.5, norm=3.0, delta=0.1)
    assert radius == pytest.approx(0.5 * np.sqrt(2.0 * np.log(60.0)) + 3.0)
    # V = diag(4, 9), penalty 4: log(36 / 16) / 2.
    radius = self_normalised_radius(np.diag([2.0, 3.0]), 4.0, noise=1.0, norm=3.0, delta=0.1)
    assert radius == pytest.approx(np.sqrt(2.0 * np.log(1.5 / 0.1)) + 6.0)
