"""Trading regret for information: surrogate quantities and the ratio between them.

Notation, as in the paper
    regret  (K,)  surrogate regret of each action, under the optimistic posterior
    gain    (K,)  surrogate information gain of each action
    power         exponent of the regret: 2 when data are rich, 3 when they are poor
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from soids.arrays import Floats, Ints
from soids.kernels.appraisal import regret_and_gain, regrets_and_gains, winners
from soids.kernels.edge import best_edge, frontiers
from soids.particles import Particles

BLOCK = 20_000  # actions whose covariances are held at once


class Mixture(Protocol):
    """A distribution over actions."""

    def probability(self, index: int) -> float: ...

    def draw(self, uniform: float) -> int: ...

    def mean(self, values: Floats) -> float: ...


class Spread(NamedTuple):
    """A distribution over actions that may put mass on all of them."""

    masses: Floats  # (K,)  non-negative, sum to one

    def probability(self, index: int) -> float:
        """The mass of one action."""
        return float(self.masses[index])

    def draw(self, uniform: float) -> int:
        """The action that a uniform number falls on."""
        steps = self.masses.cumsum()
        return int(np.searchsorted(steps / steps[-1], uniform, side="right"))

    def mean(self, values: Floats) -> float:
        """The expectation of a quantity given for each action."""
        return float(self.masses @ values)


class TwoPoint(NamedTuple):
    """A distribution over actions that puts mass on two of them at most."""

    first: int
    second: int
    share: float  # mass of the second
    ratio: float  # what it pays: regret**power / gain

    def probability(self, index: int) -> float:
        """The mass of one action."""
        return (1.0 - self.share) * (index == self.first) + self.share * (index == self.second)

    def draw(self, uniform: float) -> int:
        """The action that a uniform number falls on."""
        return self.second if uniform < self.share else self.first

    def mean(self, values: Floats) -> float:
        """The expectation of a quantity given for each action."""
        return float((1.0 - self.share) * values[self.first] + self.share * values[self.second])


def surrogate_regret(particles: Particles, actions: Floats) -> Floats:
    """Expected shortfall of each action against the best one, equation (SR) of the paper.

    >>> two = Particles(np.eye(2), np.eye(2) == 1, np.array([0.5, 0.5]))
    >>> surrogate_regret(two, np.eye(2)).tolist()
    [0.5, 0.5]
    """
    return shortfall(particles.thetas @ actions.T, particles.weights)


def surrogate_gain(particles: Particles, actions: Floats) -> Floats:
    """Half the variance of each action's mean reward, equation (SIG) of the paper.

    >>> two = Particles(np.eye(2), np.eye(2) == 1, np.array([0.5, 0.5]))
    >>> surrogate_gain(two, np.eye(2)).tolist()
    [0.125, 0.125]
    """
    return half_variance(particles.thetas @ actions.T, particles.weights)


def conditional_gain(particles: Particles, actions: Floats) -> Floats:
    """Half the variance of each mean reward *explained by which action is best* (Hao et al.)."""
    return half_explained_variance(particles.thetas @ actions.T, particles.weights)


def shortfall(rewards: Floats, weights: Floats) -> Floats:
    """Surrogate regret (K,) from the rewards (M, K) of weighted parameters."""
    regret: Floats = weights @ (rewards.max(axis=1, keepdims=True) - rewards)
    return regret


def half_variance(rewards: Floats, weights: Floats) -> Floats:
    """Surrogate gain (K,) from the rewards (M, K) of weighted parameters."""
    gain: Floats = 0.5 * (weights @ (rewards - weights @ rewards) ** 2)
    return gain


def appraise(rewards: Floats, weights: Floats, starts: Ints | None = None) -> tuple[Floats, Floats]:
    """``shortfall`` and ``half_variance`` at once; menu by menu where several lie side by side, one
    from each of ``starts`` (B + 1,) to the next.
    """
    if starts is None:
        return regret_and_gain(rewards, weights)
    return regrets_and_gains(rewards, starts, weights)


def half_explained_variance(rewards: Floats, weights: Floats) -> Floats:
    """Hao et al.'s gain (K,): half the variance between groups that share a best action."""
    groups, group = np.unique(rewards.argmax(axis=1), return_inverse=True)
    masses = np.bincount(group, weights, len(groups)).astype(np.float64)
    sums = np.zeros((len(groups), rewards.shape[1]))
    np.add.at(sums, group, weights[:, None] * rewards)
    alive = masses > 0.0
    return half_variance(sums[alive] / masses[alive, None], masses[alive])


def through_noise(gain: Floats, noise: float) -> Floats:
    """The most that a reward can tell whose mean has a half variance of ``gain``, beside its noise.

    Shannon's capacity, ``log(1 + variance / noise**2) / 2`` in nats, in the units of the gain: next
    to nothing is lost where there is little to learn, most of it where the mean varies by many
    times the noise.

    >>> through_noise(np.array([0.0, 0.01, 4.0]), 1.0).round(4).tolist()
    [0.0, 0.0099, 1.0986]
    """
    unit = noise**2
    told: Floats = 0.5 * unit * np.log1p(2.0 * gain / unit)
    return told


def left_to_learn(
    rewards: Floats, weights: Floats, awaited: Floats, variances: Floats
) -> Floats:  # (K,)
    """The share of each action's variance that rewards under way will not take away.

    Of weighted parameters, ``rewards`` (M, K) are those of the actions and ``awaited`` (M, P) of
    what was chosen and not yet answered, each with the variance (P,) of its noise. As if all were
    Gaussian.

    >>> two = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> left_to_learn(two, np.array([0.5, 0.5]), two[:, :1], np.array([0.25])).round(6).tolist()
    [0.5, 1.0]
    """
    centred = awaited - weights @ awaited
    weighted = weights[:, None] * centred
    known = centred.T @ weighted
    known.flat[:: len(known) + 1] += variances + 1e-10 * known.max()  # more than rounding takes
    reach = solve_triangular(np.linalg.cholesky(known), weighted.T, lower=True)
    blocks = np.array_split(rewards, -(-rewards.shape[1] // BLOCK), axis=1)
    taken = np.concatenate([((reach @ block) ** 2).sum(axis=0) for block in blocks])
    whole = 2.0 * regret_and_gain(rewards, weights)[1]
    left: Floats = np.clip(1.0 - taken / np.where(whole > 0.0, whole, 1.0), 0.0, 1.0)
    return left


def information_ratio(regret: float, gain: float, power: float = 2.0) -> float:
    """``regret**power / gain``: zero without regret, infinite if regret buys no information."""
    if regret == 0.0:
        return 0.0
    return regret**power / gain if gain > 0.0 else float("inf")


def minimise_ratio(regret: Floats, gain: Floats, power: float = 2.0) -> TwoPoint:
    """The distribution over actions with the smallest ``regret**power / gain``, power >= 2.

    The ratio is convex in (regret, gain), falls with gain and rises with regret, so the minimiser
    sits on an edge of the upper hull of the points, where the optimum is closed form. No gain
    anywhere: the least regret.

    >>> float(minimise_ratio(np.array([1.0, 2.0]), np.array([0.0, 1.0])).ratio)
    4.0
    """
    if power < 2.0:
        raise ValueError(f"power must be at least 2, got {power}")
    first, second = best_edge(regret, gain, power)
    dearer, richer = regret[second] - regret[first], gain[second] - gain[first]
    share = 0.0
    if first != second:
        # power * dearer * gain(share) = richer * regret(share), solved for the share of the second
        # action
        share = (regret[first] / dearer - power * gain[first] / richer) / (power - 1.0)
        share = min(max(float(share), 0.0), 1.0)
    paid, learned = regret[first] + share * dearer, gain[first] + share * richer
    ratio = information_ratio(float(paid), float(learned), power)
    return TwoPoint(int(first), int(second), share, ratio)


def dual_ratio(regret: Floats, gain: Floats) -> tuple[float, float]:
    """The smallest ``regret**2 / gain`` as ``max_l min_k 2 l regret_k - l**2 gain_k``.

    Returns the maximising price ``l`` of information and the maximum, which equals the primal
    minimum. The function is concave in ``l``, so its maximum is found by bisection on the sign of
    its slope.

    >>> price, ratio = dual_ratio(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    >>> round(price, 9), round(ratio, 9)
    (2.0, 4.0)
    """
    if regret.min() == 0.0:
        return 0.0, 0.0
    if gain.max() == 0.0:
        return float("inf"), float("inf")
    low, high = 0.0, float(2.0 * regret.max() / gain.max())
    while True:
        middle = 0.5 * (low + high)
        values = middle * (2.0 * regret - middle * gain)
        active = int(np.argmin(values))
        if not low < middle < high:
            return middle, float(values[active])
        if regret[active] > middle * gain[active]:
            low = middle
        else:
            high = middle


def minimise_contextual_ratio(regrets: Sequence[Floats], gains: Sequence[Floats]) -> TwoPoint:
    """What to do in the last of several contexts, for the smallest ratio of their averages.

    Contextual IDS (Hao, Lattimore, Qin 2022): the smallest ``mean regret**2 / mean gain`` over maps
    from contexts, each with its own regret and gain (K,), to distributions. By the dual, at the
    right price of information every context minimises ``2 price regret - price**2 gain`` on its
    own. Just below the price and just above it they pay too much and too little; all mix alike.

    >>> cheap, dear = np.array([1.0, 1.1]), np.array([1.0, 9.0])
    >>> minimise_contextual_ratio([dear, cheap], [np.array([0.0, 1.0])] * 2).probability(1)
    1.0
    """
    # A menu that comes back is the same object, and looked at once.
    menus = {
        (id(regret), id(gain)): (regret, gain) for regret, gain in zip(regrets, gains, strict=True)
    }
    regret, gain = (np.concatenate(parts) for parts in zip(*menus.values(), strict=True))
    starts = np.cumsum([0, *(len(one) for one, _ in menus.values())])
    least = np.minimum.reduceat(regret, starts[:-1])
    if least.max() == 0.0 or gain.max() < 1e-300:
        safest = int(np.argmin(regrets[-1]))
        return TwoPoint(safest, safest, 0.0, information_ratio(float(regrets[-1][safest]), 0.0))

    kept, begins = frontiers(regret, gain, starts)
    sizes = np.diff(begins)
    filled = np.arange(sizes.max()) < sizes[:, None]
    cost, lesson = np.full(filled.shape, np.inf), np.zeros(filled.shape)
    cost[filled], lesson[filled] = regret[kept], gain[kept]
    places = dict(zip(menus, range(len(menus)), strict=True))
    met = [places[id(one), id(other)] for one, other in zip(regrets, gains, strict=True)]
    count, rows, cost, lesson = len(met), np.arange(len(met)), cost[met], lesson[met]

    def answers(price: float) -> tuple[float, float, int]:
        """Regret and gain of all contexts together at a price, and the action of the last."""
        best = (2.0 * cost - price * lesson).argmin(axis=1)
        return float(cost[rows, best].sum()), float(lesson[rows, best].sum()), int(best[-1])

    richest = np.where(cost < np.inf, lesson, -np.inf).argmax(axis=1)
    low, high = 0.0, float(2.0 * cost[rows, richest].sum() / lesson[rows, richest].sum())
    below, above = answers(low), answers(high)
    while low < (middle := 0.5 * (low + high)) < high:
        found = answers(middle)
        if found[0] > middle * found[1]:
            low, below = middle, found
        else:
            high, above = middle, found
    dear, cheap = below[0] - low * below[1], above[0] - low * above[1]
    share = min(max(dear / (dear - cheap), 0.0), 1.0) if dear > cheap else 0.0
    paid = (1.0 - share) * below[0] + share * above[0]
    learned = (1.0 - share) * below[1] + share * above[1]
    ratio = information_ratio(paid / count, learned / count)
    last = kept[begins[met[-1]] :] - starts[met[-1]]
    return TwoPoint(int(last[below[2]]), int(last[above[2]]), share, ratio)


def greedy(values: Floats) -> Spread:
    """All mass on the largest value, shared between ties."""
    best = values == values.max()
    return Spread(best / best.sum())


def obedient(rewards: Floats, weights: Floats, actions: Floats) -> Floats:
    """The law (K,) of the best action of a sampled parameter: Thompson sampling, or FGTS.

    Ties go to the action with the fewest non-zero features, as the paper's appendix asks.
    """
    chosen = winners(rewards, actions)
    law: Floats = np.bincount(chosen, weights, len(actions)).astype(np.float64)
    law /= law.sum()
    return law


def exploring(obedience: Floats, design: Floats, regret: Floats) -> Floats:
    """The paper's mixture of FGTS and exploratory design; its 3-ratio is <= ``27 s / C_min``."""
    own, explored = float(obedience @ regret), float(design @ regret)
    if explored <= own:
        return design
    share = min(1.0, own / (2.0 * (explored - own)))
    return (1.0 - share) * obedience + share * design
