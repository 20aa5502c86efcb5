"""The independent check of the fast engine: slower moves that need no arms and no weights."""

import numpy as np

from referee import envelope
from soids.arrays import Bools, Floats
from soids.posteriors.target import Target


def refereed(
    target: Target, thetas: Floats, included: Bools, *, sweeps: int, rng: np.random.Generator
) -> tuple[Floats, Bools]:
    """Parameters (M, d) and labels (M, d) after sweeps that leave the true target invariant.

    They may start anywhere in the ball whose support has an allowed size: zeros with labels will
    do.
    """
    prior = target.prior
    if not (prior.noise.known and prior.radius.known):
        raise ValueError("the referee needs a known noise and a known radius: give both")
    if prior.values.lean > 0.0:
        raise ValueError("the referee knows slabs about zero only: leave the spread out")
    if len(target.tilts) != 1:
        raise ValueError(f"the referee knows targets with one action set, got {len(target.tilts)}")
    sizes = np.count_nonzero(included, axis=1)
    if sizes.min() < prior.smallest or sizes.max() > prior.largest:
        raise ValueError(
            f"supports must start with {prior.smallest}..{prior.largest} features, "
            f"got {sizes.min()}..{sizes.max()}"
        )
    count, dimension = thetas.shape
    radii = np.full(count, prior.radius.high)
    powers = np.full(count, target.eta / prior.noise.scale)
    gram = target.gram.all_rows()
    for _ in range(sweeps):
        thetas, included = envelope.sweep(
            thetas, included, radii, powers,
            gram, target.moment, target.drift, target.columns, target.tilts[0],
            prior.log_odds[: prior.largest], prior.smallest,
            prior.values.slab_precision, prior.values.spike_scale, prior.values.uniform_in_ball,
            rng.random((count, dimension)), rng.random((count, 2)),
        )  # fmt: skip
    return thetas, included
