"""The random numbers of one sweep of sparse particles, as many as its pace needs."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from soids.arrays import Bools, Floats
from soids.kernels.moves import sweep
from soids.kernels.moves.exchange import EXCHANGED
from soids.kernels.moves.rearm import ANGLES
from soids.posteriors.target import Target


def random_numbers(
    thetas: Floats, target: Target, pace: sweep.Pace, rng: Generator
) -> sweep.RandomNumbers:
    """The random numbers of one sweep at some pace."""
    size, dimension = thetas.shape
    flips = rng.random((size, pace.glides * dimension))
    arms = rng.random((size, len(target.tilts)))
    uniforms = rng.random(size) if pace.exchanged < 1.0 else np.zeros(size)
    exchanges: Bools = np.less(uniforms, pace.exchanged)
    exchange_normals = drawn(rng.standard_normal, exchanges, len(target.prior.log_odds))
    coins = rng.random((size, 3))
    redraws = coins[:, 1] < pace.redrawn
    active = int(np.count_nonzero(thetas, axis=1).max())
    leaning = np.zeros((size, active + sweep.LEANING))
    if target.prior.values.lean > 0.0:
        leaning = rng.random(leaning.shape)
    values = drawn(rng.random, redraws, sweep.TURNING + ANGLES + 1)
    normals = drawn(rng.standard_normal, redraws, 3, active)
    supports = drawn(rng.random, exchanges, 2 * EXCHANGED + 2)
    # A view of one row is contiguous, of several it is not: the sweep would be compiled twice.
    sides, entrants = map(np.ascontiguousarray, (leaning[:, :active], leaning[:, active:]))
    return sweep.RandomNumbers(
        coins, arms, redraws, redraws & (coins[:, 2] < pace.rearmed), values, normals, flips,
        exchanges, supports, exchange_normals, sides, entrants,
    )  # fmt: skip


def drawn(draw: Callable[..., Floats], rows: Bools, *shape: int) -> Floats:  # (M, *shape)
    """Random numbers for some rows, zeros for the others."""
    some = draw((np.count_nonzero(rows), *shape))
    if len(some) == len(rows):
        return some
    numbers = np.zeros((len(rows), *shape))
    numbers[rows] = some
    return numbers
