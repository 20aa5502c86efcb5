"""The log density of the relaxed posterior, its labels summed out, for samplers of other tools."""

from typing import Any

import numpy as np

from soids.posteriors.target import Target


def relaxed_log_density(theta: Any, target: Target, gram: Any, numpy: Any = np) -> Any:
    """Log density at ``theta`` (d,) up to a constant, in NumPy or what speaks its language.

    This is the true target, with the best reward itself: others need no log-sum-exp in its place,
    and so no weights. The gram is the target's as an array (d, d). Noise and sparsity must be told.
    """
    prior = target.prior
    slab = prior.log_odds[0] - 0.5 * prior.slab_precision * theta**2
    spike = -numpy.abs(theta) / prior.spike_scale
    fit = theta @ (gram @ theta) - 2.0 * (target.moment @ theta)
    rewards = target.columns.T @ theta
    optimism = sum(
        tilt * rewards[target.starts[menu] : target.starts[menu + 1]].max()
        for menu, tilt in enumerate(target.tilts)
    )
    return (
        numpy.logaddexp(slab, spike).sum()
        - 0.5 * target.eta * fit / prior.noise.scale
        + optimism
        - target.drift @ theta
    )
