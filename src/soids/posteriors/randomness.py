"""The random numbers of one sweep of sparse particles, as many as its pace needs."""

from collections.abc import Callable

import numpy as np

from soids.arrays import Bools, Floats
from soids.kernels.moves import sweep
from soids.kernels.moves.exchange import EXCHANGED
from soids.kernels.moves.rearm import ANGLES
from soids.posteriors.target import Target


def random_numbers(
    thetas: Floats, target: Target, pace: sweep.Pace, rng: np.random.Generator
) -> sweep.RandomNumbers:
    """The random numbers of one sweep at some pace."""
    size, dimension = thetas.shape
    flips = rng.random((size, pace.glides * dimension))
    arms = rng.random((size, len(target.tilts)))
    exchanges: Bools = np.ones(size, dtype=np.bool_)
    if pace.exchanged < 1.0:
        exchanges = np.less(rng.random(size), pace.exchanged)
    exchange_normals = drawn(rng.standard_normal, exchanges, len(target.prior.log_odds))
    coins = rng.random((size, 3))
    redraws = coins[:, 1] < pace.redrawn
    active = int(np.count_nonzero(thetas, axis=1).max())
    leaning = np.zeros((size, active + sweep.LEANING))
    if target.prior.values.lean > 0.0:
        leaning = rng.random(leaning.shape)
    return sweep.RandomNumbers(
        coins=coins,
        arms=arms,
        redraws=redraws,
        rearms=redraws & (coins[:, 2] < pace.rearmed),
        values=drawn(rng.random, redraws, sweep.TURNING + ANGLES + 1),
        normals=drawn(rng.standard_normal, redraws, 3, active),
        flips=flips,
        exchanges=exchanges,
        supports=drawn(rng.random, exchanges, 2 * EXCHANGED + 2),
        exchange_normals=exchange_normals,
        # A view of one row is contiguous, of several it is not: the sweep would be compiled twice.
        sides=np.ascontiguousarray(leaning[:, :active]),
        entrants=np.ascontiguousarray(leaning[:, active:]),
    )


def drawn(draw: Callable[..., Floats], rows: Bools, *shape: int) -> Floats:  # (M, *shape)
    """Random numbers for some rows, zeros for those that need none."""
    count = np.count_nonzero(rows)
    if count == len(rows):
        return draw((count, *shape))
    numbers = np.zeros((len(rows), *shape))
    numbers[rows] = draw((count, *shape))
    return numbers
