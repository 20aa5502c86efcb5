"""The random numbers of a sweep."""

import numpy as np
import pytest

from judging import scene, target_of
from soids.kernels.moves.sweep import PARTICLES
from soids.posteriors import SpikeSlab, Subset
from soids.posteriors.randomness import random_numbers

POSTERIORS = pytest.mark.parametrize("posterior", [
    Subset(5, sparsity=2, radius=2.0, noise=1.0),
    SpikeSlab(5, sparsity=2, radius=2.0, noise=1.0, spread=0.25),
], ids=["subset", "two_bumps"])  # fmt: skip


@POSTERIORS
@pytest.mark.parametrize("active", [0, 2])
def test_any_number_of_particles_has_numbers_of_one_type(posterior, active):
    # Kernels are compiled anew for another layout, which would halt a decision for many seconds.
    target = target_of(posterior, scene(5, 6), 0.5, 0.3)
    for size in (1, 7):
        thetas = np.zeros((size, 5))
        thetas[:, :active] = 0.5
        numbers = random_numbers(thetas, target, PARTICLES, np.random.default_rng(0))
        assert all(array.flags.c_contiguous for array in numbers)
        assert {len(array) for array in numbers} == {size}
