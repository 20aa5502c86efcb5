"""The log density of the relaxed posterior, summed over labels, for samplers of other libraries."""

from typing import Any

import numpy as np

from soids.posteriors.target import Target


def relaxed_log_density(theta: Any, target: Target, gram: Any, numpy: Any = np) -> Any:
    """Log density at ``theta`` (d,) up to a constant, in NumPy or a module with its functions.

    This is the exact target with the best reward itself. Our moves use a log-sum-exp in its place
    and need weights; the other samplers do not. ``gram`` is the target's as an array (d, d). The
    prior must know noise and sparsity.
    """
    prior = target.prior
    slab = prior.log_odds[0] - 0.5 * prior.values.slab_precision * theta**2
    spike = -numpy.abs(theta) / prior.values.spike_scale
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
