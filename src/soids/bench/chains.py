"""Chains of any sampler, and what groups of four show: R-hat, and time per effective sample.

A group's R-hat is the worst, its effective size the smallest, among the rewards of fifty actions.
Effective samples are independent draws of the true posterior whose mean would be as exact as the
weighted mean of the draws.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats

FOUR = 4  # chains of a group
WATCHED = 50  # actions whose rewards are judged
GOOD = 1.01  # R-hat
BURN_IN = 0.2  # share of every chain that is left out


class Chains(NamedTuple):
    """What is kept of some draws of all chains, four in a row forming a group."""

    rewards: Floats  # (n, 4 * groups, WATCHED)
    log_truth: Floats  # (n, 4 * groups)  true over sampled density
    seconds: Floats  # (groups,)  of CPU time


class Walk(NamedTuple):
    """Chains under way."""

    adaptation: Floats  # (groups,)  CPU seconds before the first draw
    onward: Callable[[int], Chains]  # so many draws more


class Mixing(NamedTuple):
    """What the groups show."""

    draws: int  # per chain
    rhats: list[float]  # of each group
    milliseconds: list[float]  # of each group: CPU time per effective sample, burnt in and adapted
    in_all: list[float]  # the same with the time of burning in and adapting
    of_squares: list[float]  # as milliseconds, per effective sample of squared deviations
    efficiency: float  # of the weights


def settle(walk: Walk, draws: int, patience: int) -> Mixing:
    """Let chains grow until all groups agree, or are ``patience`` times as long as at first."""
    longest = patience * draws
    chains = walk.onward(draws)
    while max(rhats := [worst_rhat(four) for four in groups_of(chains.rewards)]) >= GOOD and (
        draws < longest
    ):
        more = walk.onward(draws)
        chains = Chains(
            np.concatenate([chains.rewards, more.rewards]),
            np.concatenate([chains.log_truth, more.log_truth]),
            chains.seconds + more.seconds,
        )
        draws *= 2
    weights = [weights_of(four) for four in groups_of(chains.log_truth)]
    sizes = [
        least_sizes(four, own) for four, own in zip(groups_of(chains.rewards), weights, strict=True)
    ]
    samples, spread = np.transpose(sizes)
    spent = 1000.0 * (1.0 - BURN_IN) * chains.seconds
    in_all = 1000.0 * (walk.adaptation + chains.seconds) / samples
    return Mixing(
        draws, rhats, (spent / samples).tolist(), in_all.tolist(), (spent / spread).tolist(),
        float(np.mean([1.0 / (own**2).mean() for own in weights])),
    )  # fmt: skip


def groups_of(draws: Floats) -> list[Floats]:  # (n, 4, ...) each
    """The draws of each group, without the beginning."""
    return np.split(draws[int(BURN_IN * len(draws)) :], draws.shape[1] // FOUR, axis=1)


def weights_of(log_truth: Floats) -> Floats:  # (n, 4)
    """What makes draws exact; one on average."""
    weights = np.exp(log_truth - log_truth.max())
    normed: Floats = weights / weights.mean()
    return normed


def worst_rhat(rewards: Floats) -> float:
    """The worst among the rewards (n, 4, WATCHED), rank-normalised, of the draws as they are."""
    rhat = statistic("rhat")
    return max(float(rhat(each.T)) for each in np.moveaxis(rewards, 2, 0))


def least_sizes(rewards: Floats, weights: Floats) -> tuple[float, float]:
    """The smallest effective sizes of means, and of squared deviations, among the rewards.

    Errors of means may cancel from draw to draw; those of squares tell what the draws are worth.
    """
    means = np.einsum("nc,ncj->j", weights, rewards) / weights.size
    some = [effective_size(each, weights) for each in np.moveaxis(rewards, 2, 0)]
    squares = np.moveaxis((rewards - means) ** 2, 2, 0)
    return min(some), min(effective_size(each, weights) for each in squares)


def effective_size(values: Floats, weights: Floats) -> float:
    """How many independent draws would have a mean as exact as the weighted one of (n, 4) draws.

    The error of a ratio of sums is, to first order, that of the mean of ``weights * deviations``.
    To multiply the size of the plain draws by the efficiency of the weights would not do: plain
    errors may cancel from draw to draw, where weights differ they do not.
    """
    deviations = values - (weights * values).mean()
    errors = weights * deviations
    spread = float((weights * deviations**2).mean())
    size = float(statistic("ess")(errors.T, method="mean"))
    return size * spread / float(errors.var())


def statistic(name: str) -> Callable[..., float]:
    """One of those of arviz-stats, of an array (chains, n)."""
    from arviz_stats.base.array import array_stats

    found: Callable[..., float] = getattr(array_stats, name)
    return found
