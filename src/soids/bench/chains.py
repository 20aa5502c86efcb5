"""Chains of any sampler, and what groups of four show: R-hat, and time per effective sample.

A group's R-hat is the worst, its effective size the smallest, among the rewards of fifty actions.
Effective samples count the weights that make the draws exact.
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
    while max(rhats := each_group("rhat", chains, max)) >= GOOD and draws < longest:
        more = walk.onward(draws)
        chains = Chains(
            np.concatenate([chains.rewards, more.rewards]),
            np.concatenate([chains.log_truth, more.log_truth]),
            chains.seconds + more.seconds,
        )
        draws *= 2
    efficiencies = np.array(
        [efficiency(four) for four in in_fours(after_burn_in(chains.log_truth))]
    )
    # Errors of means may cancel from draw to draw; those of squares tell what the draws are worth.
    means = chains.rewards.mean(axis=(0, 1))
    squares = chains._replace(rewards=(chains.rewards - means) ** 2)
    samples, spread = (
        np.array(each_group("ess", some, min)) * efficiencies for some in (chains, squares)
    )
    spent = 1000.0 * (1.0 - BURN_IN) * chains.seconds
    in_all = 1000.0 * (walk.adaptation + chains.seconds) / samples
    return Mixing(
        draws, rhats, (spent / samples).tolist(), in_all.tolist(), (spent / spread).tolist(),
        float(efficiencies.mean()),
    )  # fmt: skip


def each_group(name: str, chains: Chains, worst: Callable[[list[float]], float]) -> list[float]:
    """The worst value of a statistic of arviz-stats among the rewards watched, group by group."""
    from arviz_stats.base.array import array_stats

    statistic = getattr(array_stats, name)
    return [
        worst([float(statistic(four[:, :, j].T)) for j in range(four.shape[2])])
        for four in in_fours(after_burn_in(chains.rewards))
    ]


def after_burn_in(draws: Floats) -> Floats:
    """All but the beginning."""
    return draws[int(BURN_IN * len(draws)) :]


def in_fours(draws: Floats) -> list[Floats]:  # (n, 4, ...) each
    """The draws of each group."""
    return np.split(draws, draws.shape[1] // FOUR, axis=1)


def efficiency(log_weights: Floats) -> float:
    """The effective number of weights over their number."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum() / weights.size)
