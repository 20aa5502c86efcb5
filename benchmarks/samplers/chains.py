"""Chains of any sampler, and the diagnostics of groups of four: R-hat, time per effective sample.

The R-hat of a group is the largest, and its effective size the smallest, among the rewards of fifty
actions. An effective size is the number of independent draws of the exact posterior whose mean
would have the same error as the weighted mean of the draws.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats

FOUR = 4  # chains of a group
WATCHED = 50  # actions whose rewards are diagnosed
GOOD = 1.01  # R-hat
BURN_IN = 0.2  # share of every chain that is left out


class Chains(NamedTuple):
    """The recorded numbers of some draws of all chains; four chains in a row form a group."""

    rewards: Floats  # (n, 4 * groups, WATCHED)
    log_weights: Floats  # (n, 4 * groups)  log of exact over sampled density
    seconds: Floats  # (groups,)  of CPU time


class Walk(NamedTuple):
    """Chains that can be continued."""

    adaptation: Floats  # (groups,)  CPU seconds before the first draw
    more: Callable[[int], Chains]  # the next n draws


class Mixing(NamedTuple):
    """The diagnostics of all groups."""

    draws: int  # of each chain
    rhats: list[float]  # of each group
    milliseconds: list[float]  # of each group: CPU time per effective sample after burn-in
    in_all: list[float]  # the same with the time of adaptation and burn-in
    of_squares: list[float]  # as milliseconds, per effective sample of squared deviations
    efficiency: float  # of the weights


def mixing_of(walk: Walk, draws: int, patience: int) -> Mixing:
    """Double the chains until all groups agree, at most to ``patience`` times ``draws``."""
    longest = patience * draws
    chains = walk.more(draws)
    while max(rhats := [worst_rhat(four) for four in groups_of(chains.rewards)]) >= GOOD and (
        draws < longest
    ):
        more = walk.more(draws)
        chains = Chains(
            np.concatenate([chains.rewards, more.rewards]),
            np.concatenate([chains.log_weights, more.log_weights]),
            chains.seconds + more.seconds,
        )
        draws *= 2
    weights = [weights_of(four) for four in groups_of(chains.log_weights)]
    sizes = [
        least_sizes(four, own) for four, own in zip(groups_of(chains.rewards), weights, strict=True)
    ]
    of_means, of_squares = np.transpose(sizes)
    spent = 1000.0 * (1.0 - BURN_IN) * chains.seconds
    in_all = 1000.0 * (walk.adaptation + chains.seconds) / of_means
    return Mixing(
        draws, rhats, (spent / of_means).tolist(), in_all.tolist(), (spent / of_squares).tolist(),
        float(np.mean([1.0 / (own**2).mean() for own in weights])),
    )  # fmt: skip


def groups_of(draws: Floats) -> list[Floats]:  # (n, 4, ...) each
    """The draws of each group after burn-in."""
    return np.split(draws[int(BURN_IN * len(draws)) :], draws.shape[1] // FOUR, axis=1)


def weights_of(log_weights: Floats) -> Floats:  # (n, 4)
    """The weights that make draws exact; their mean is one."""
    weights = np.exp(log_weights - log_weights.max())
    normed: Floats = weights / weights.mean()
    return normed


def worst_rhat(rewards: Floats) -> float:
    """The largest rank-normalised R-hat of the unweighted rewards (n, 4, WATCHED)."""
    rhat = statistic("rhat")
    return max(float(rhat(each.T)) for each in np.moveaxis(rewards, 2, 0))


def least_sizes(rewards: Floats, weights: Floats) -> tuple[float, float]:
    """The smallest effective sizes, among the rewards, of means and of squared deviations.

    Errors of means may cancel from draw to draw; errors of squares do not.
    """
    means = np.einsum("nc,ncj->j", weights, rewards) / weights.size
    of_means = [effective_size(each, weights) for each in np.moveaxis(rewards, 2, 0)]
    squares = np.moveaxis((rewards - means) ** 2, 2, 0)
    return min(of_means), min(effective_size(each, weights) for each in squares)


def effective_size(values: Floats, weights: Floats) -> float:
    """The number of independent draws whose mean is as exact as the weighted one of (n, 4) draws.

    The error of a ratio of sums is, to first order, that of the mean of ``weights * deviations``.
    The size of the unweighted draws times the efficiency of the weights would be wrong: errors of
    unweighted draws may cancel from draw to draw, and different weights prevent that.
    """
    deviations = values - (weights * values).mean()
    errors = weights * deviations
    variance = float((weights * deviations**2).mean())
    size = float(statistic("ess")(errors.T, method="mean"))
    return size * variance / float(errors.var())


def statistic(name: str) -> Callable[..., float]:
    """A statistic of arviz-stats, as a function of an array (chains, n)."""
    from arviz_stats.base.array import array_stats

    found: Callable[..., float] = getattr(array_stats, name)
    return found
