"""Draws of parameter and rewards under a tilted prior, for each kind of posterior."""

import numpy as np

from soids.arrays import Bools, Floats
from soids.evidence import Menu
from soids.posteriors import Relaxed, SpikeSlab, Subset

# Neither scale is one: a standard deviation taken for a variance would show.
DIMENSION = 5
SPARSITY = 2
SHARE = SPARSITY / DIMENSION
RADIUS = 1.5
NOISE = 0.5
SLAB = 0.5  # standard deviation
SPIKE = 0.1  # scale of the Laplace density
MENUS = [
    Menu(actions)
    for actions in np.split(np.random.default_rng(0).uniform(-1.0, 1.0, (7, DIMENSION)), [4])
]
PLAYED = [(0, 1), (0, 0), (1, 2), (0, 3), (1, 1), (0, 1)]  # (menu, arm), round by round
ACTIONS = np.array([MENUS[menu].actions[arm] for menu, arm in PLAYED])  # (t, d)
POSTERIORS = {
    "subset": Subset(DIMENSION, sparsity=SPARSITY, radius=RADIUS, noise=NOISE),
    "spike_slab": SpikeSlab(
        DIMENSION, sparsity=SPARSITY, radius=RADIUS, noise=NOISE, slab_variance=SLAB**2
    ),
    "relaxed": Relaxed(
        DIMENSION, sparsity=SPARSITY, noise=NOISE, slab_variance=SLAB**2, spike_scale=SPIKE
    ),
}
Rng = np.random.Generator
Draws = tuple[Floats, Bools]  # parameters and what they include, (M, d) each


def subset_draws(radii: Floats, largest: int, rng: Rng, last: float = 1.0) -> Draws:
    """Sizes with odds 2^-k, times ``last`` for the largest; uniform supports, uniform points of
    their balls by rejection.
    """
    sizes = np.arange(1, largest + 1)
    odds = np.where(sizes == largest, last, 1.0) * 0.5**sizes
    size = rng.choice(sizes, len(radii), p=odds / odds.sum())
    ranks = rng.random((len(radii), DIMENSION)).argsort(axis=1).argsort(axis=1)
    included = ranks < size[:, None]
    points = np.full(included.shape, np.inf)
    while (outside := np.abs(points).sum(axis=1) > 1.0).any():
        cube = rng.uniform(-1.0, 1.0, (outside.sum(), DIMENSION))
        points[outside] = np.where(included[outside], cube, 0.0)
    return radii[:, None] * points, included


def spike_slab_draws(count: int, rng: Rng, *, share: float | None = SHARE) -> Draws:
    """Independent spikes and slabs, all drawn again if outside the ball; no share: any share."""
    thetas = np.full((count, DIMENSION), np.inf)
    while (outside := np.abs(thetas).sum(axis=1) > RADIUS).any():
        shape = (outside.sum(), DIMENSION)
        shares = rng.random((outside.sum(), 1)) if share is None else share
        slabs = SLAB * rng.standard_normal(shape)
        thetas[outside] = np.where(rng.random(shape) < shares, slabs, 0.0)
    return thetas, thetas != 0.0


def relaxed_draws(
    count: int, rng: Rng, *, share: float | None = SHARE, spike: float = SPIKE
) -> Draws:
    """Independent Laplace spikes and unbounded slabs; no share: any share."""
    shares = rng.random((count, 1)) if share is None else share
    included = rng.random((count, DIMENSION)) < shares
    slabs = SLAB * rng.standard_normal(included.shape)
    return np.where(included, slabs, rng.laplace(0.0, spike, included.shape)), included
