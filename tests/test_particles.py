"""Averages over weighted particles."""

import numpy as np
import pytest

from soids.particles import Particles

THETAS = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
CLOUD = Particles(THETAS, THETAS != 0.0, np.array([0.5, 0.3, 0.2]))


def test_mean_and_inclusion_are_weighted_averages():
    assert CLOUD.mean() == pytest.approx([1.1, 1.4])
    assert CLOUD.inclusion() == pytest.approx([0.7, 0.5])


def test_the_effective_size_of_equal_weights_and_of_a_single_one():
    even, alone = np.full(3, 1 / 3), np.array([0.0, 1.0, 0.0])
    assert CLOUD._replace(weights=even).effective_size() == pytest.approx(3.0)
    assert CLOUD._replace(weights=alone).effective_size() == 1.0
    assert CLOUD.effective_size() == pytest.approx(1 / 0.38)
