"""Surrogate regret, surrogate information gain, and distributions that minimise their ratio.

Notation, as in the paper
    regret  (K,)  surrogate regret of each action, under the optimistic posterior
    gain    (K,)  surrogate information gain of each action
    power         exponent of the regret: 2 when data are rich, 3 when they are poor
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from soids.arrays import Floats, Ints
from soids.kernels.hull import best_edge, frontiers
from soids.kernels.regret_gain import regret_and_gain, regrets_and_gains, winners
from soids.particles import Particles

BLOCK = 20_000  # actions whose covariances are held at once


class Mixture(Protocol):
    """A distribution over actions."""

    def probability(self, index: int) -> float: ...
    def probabilities(self, count: int) -> Floats: ...  # (K,)  of all actions
    def draw(self, uniform: float) -> int: ...
    def mean(self, values: Floats) -> float: ...


class Spread(NamedTuple):
    """A distribution over actions with a mass for each of them."""

    masses: Floats  # (K,)  non-negative, sum to one

    def probability(self, index: int) -> float:
        return float(self.masses[index])

    def probabilities(self, count: int) -> Floats:  # (K,)
        return self.masses.copy()

    def draw(self, uniform: float) -> int:
        steps = self.masses.cumsum()
        return int(np.searchsorted(steps / steps[-1], uniform, side="right"))

    def mean(self, values: Floats) -> float:
        return float(self.masses @ values)


class Even(NamedTuple):
    """The uniform distribution over some actions."""

    size: int

    def probability(self, index: int) -> float:
        return 1.0 / self.size

    def probabilities(self, count: int) -> Floats:  # (K,)
        return np.full(self.size, 1.0 / self.size)

    def draw(self, uniform: float) -> int:
        return min(int(uniform * self.size), self.size - 1)  # rounding may give the size

    def mean(self, values: Floats) -> float:
        return float(self.probabilities(self.size) @ values)


class TwoPoint(NamedTuple):
    """A distribution over actions with mass on at most two of them."""

    first: int
    second: int
    share: float  # mass of the second
    ratio: float  # its information ratio, regret**power / gain

    def probability(self, index: int) -> float:
        return (1.0 - self.share) * (index == self.first) + self.share * (index == self.second)

    def probabilities(self, count: int) -> Floats:  # (K,)
        masses = np.zeros(count)
        masses[self.first] = 1.0 - self.share
        masses[self.second] += self.share
        return masses

    def draw(self, uniform: float) -> int:
        return self.second if uniform < self.share else self.first

    def mean(self, values: Floats) -> float:
        return float((1.0 - self.share) * values[self.first] + self.share * values[self.second])


def surrogate_regret(particles: Particles, actions: Floats) -> Floats:
    """Expected shortfall of each action's reward from the best, the paper's equation (SR).

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


def shortfall(rewards: Floats, weights: Floats) -> Floats:
    """Surrogate regret (K,) from the rewards (M, K) of weighted parameters."""
    regret: Floats = weights @ (rewards.max(axis=1, keepdims=True) - rewards)
    return regret


def half_variance(rewards: Floats, weights: Floats) -> Floats:
    """Surrogate gain (K,) from the rewards (M, K) of weighted parameters."""
    gain: Floats = 0.5 * (weights @ (rewards - weights @ rewards) ** 2)
    return gain


def appraise(rewards: Floats, weights: Floats, starts: Ints | None = None) -> tuple[Floats, Floats]:
    """``shortfall`` and ``half_variance`` at once; ``starts`` (B + 1,) separates several sets."""
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
    """The information that a noisy reward can give about its mean, whose half variance is ``gain``.

    It is Shannon's capacity, ``log(1 + variance / noise**2) / 2`` nats, in the units of the gain.
    A small gain is hardly reduced; a gain of many times the noise is reduced by much.

    >>> through_noise(np.array([0.0, 0.01, 4.0]), 1.0).round(4).tolist()
    [0.0, 0.0099, 1.0986]
    """
    unit = noise**2
    capacity: Floats = 0.5 * unit * np.log1p(2.0 * gain / unit)
    return capacity


def resolved_directions(weights: Floats, awaited: Floats, variances: Floats) -> Floats:  # (P, M)
    """Orthogonal directions in the space of particles, which pending rewards will resolve.

    ``awaited`` (M, P) are the mean rewards of the pending decisions under each particle; their
    noise has ``variances`` (P,). The square of a direction's product with an action's rewards (M,)
    is the variance of that action that the direction resolves, as if all were Gaussian.
    """
    centred = awaited - weights @ awaited
    weighted = weights[:, None] * centred
    known = centred.T @ weighted
    known.flat[:: len(known) + 1] += variances + 1e-10 * known.max()  # more than rounding takes
    directions: Floats = solve_triangular(np.linalg.cholesky(known), weighted.T, lower=True)
    return directions


def next_direction(directions: Floats, weights: Floats, awaited: Floats, variance: float) -> Floats:
    """The direction (M,) that one more pending reward (M,) resolves, beside those (P, M) before."""
    centred = awaited - weights @ awaited
    shares = directions @ centred
    weighted = weights * centred
    whole = float(centred @ weighted)
    left = max(0.0, whole - float(shares @ shares)) + variance + 1e-10 * whole
    direction: Floats = (weighted - shares @ directions) / math.sqrt(max(left, 1e-300))
    return direction


def resolved_variance(directions: Floats, rewards: Floats) -> Floats:  # (K,)
    """The variance of each action's mean reward (M, K) that directions (P, M) resolve."""
    blocks = np.array_split(rewards, -(-rewards.shape[1] // BLOCK), axis=1)
    return np.concatenate([((directions @ block) ** 2).sum(axis=0) for block in blocks])


def share_left(resolved: Floats, half_variances: Floats) -> Floats:  # (K,)
    """The share of each action's variance that stays unresolved.

    >>> rewards, weights = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.5, 0.5])
    >>> found = resolved_directions(weights, rewards[:, :1], np.array([0.25]))
    >>> gain = half_variance(rewards, weights)
    >>> share_left(resolved_variance(found, rewards), gain).round(6).tolist()
    [0.5, 1.0]
    """
    whole = 2.0 * half_variances
    left: Floats = np.clip(1.0 - resolved / np.where(whole > 0.0, whole, 1.0), 0.0, 1.0)
    return left


def information_ratio(regret: float, gain: float, power: float = 2.0) -> float:
    """``regret**power / gain``: zero without regret, infinite for regret without gain."""
    if regret == 0.0:
        return 0.0
    return regret**power / gain if gain > 0.0 else math.inf


def minimise_ratio(regret: Floats, gain: Floats, power: float = 2.0) -> TwoPoint:
    """The distribution over actions with the smallest ``regret**power / gain``, power >= 2.

    The ratio is convex in (regret, gain), falls with gain and rises with regret. So the minimiser
    lies on an edge of the upper hull of the points, where it has a closed form. If no action has a
    gain, the action of least regret is chosen.

    >>> float(minimise_ratio(np.array([1.0, 2.0]), np.array([0.0, 1.0])).ratio)
    4.0
    """
    if power < 2.0:
        raise ValueError(f"power must be at least 2, got {power}")
    first, second = best_edge(regret, gain, power)
    more_regret, more_gain = regret[second] - regret[first], gain[second] - gain[first]
    share = 0.0
    if first != second:
        # power * more_regret * gain(share) = more_gain * regret(share), solved for the share
        share = (regret[first] / more_regret - power * gain[first] / more_gain) / (power - 1.0)
        share = min(max(float(share), 0.0), 1.0)
    total, information = regret[first] + share * more_regret, gain[first] + share * more_gain
    ratio = information_ratio(float(total), float(information), power)
    return TwoPoint(int(first), int(second), share, ratio)


def minimise_contextual_ratio(regrets: Sequence[Floats], gains: Sequence[Floats]) -> TwoPoint:
    """The distribution in the last of several contexts under contextual IDS.

    Contextual IDS (Hao, Lattimore, Qin 2022) minimises ``mean regret**2 / mean gain`` over maps
    from contexts, each with its own regret and gain (K,), to distributions. By duality, at the
    optimal multiplier l every context minimises ``2 l regret - l**2 gain`` on its own. Bisection
    finds l; all contexts mix their solutions just below and just above it in the same shares.

    >>> low, high = np.array([1.0, 1.1]), np.array([1.0, 9.0])
    >>> minimise_contextual_ratio([high, low], [np.array([0.0, 1.0])] * 2).probability(1)
    1.0
    """
    # The arrays of an action set that occurs again are the same objects, and are used once.
    sets = {
        (id(regret), id(gain)): (regret, gain) for regret, gain in zip(regrets, gains, strict=True)
    }
    regret, gain = (np.concatenate(parts) for parts in zip(*sets.values(), strict=True))
    starts = np.cumsum([0, *(len(one) for one, _ in sets.values())])
    least = np.minimum.reduceat(regret, starts[:-1])
    if least.max() == 0.0 or gain.max() < 1e-300:
        safest = int(np.argmin(regrets[-1]))
        return TwoPoint(safest, safest, 0.0, information_ratio(float(regrets[-1][safest]), 0.0))

    kept, begins = frontiers(regret, gain, starts)
    sizes = np.diff(begins)
    filled = np.arange(sizes.max()) < sizes[:, None]
    cost, information = np.full(filled.shape, np.inf), np.zeros(filled.shape)
    cost[filled], information[filled] = regret[kept], gain[kept]
    places = dict(zip(sets, range(len(sets)), strict=True))
    met = [places[id(one), id(other)] for one, other in zip(regrets, gains, strict=True)]
    count, rows, cost, information = len(met), np.arange(len(met)), cost[met], information[met]

    def solutions(multiplier: float) -> tuple[float, float, int]:
        """Total regret and gain of the contexts' solutions, and the action of the last."""
        best = (2.0 * cost - multiplier * information).argmin(axis=1)
        return float(cost[rows, best].sum()), float(information[rows, best].sum()), int(best[-1])

    top = np.where(cost < np.inf, information, -np.inf).argmax(axis=1)
    low, high = 0.0, float(2.0 * cost[rows, top].sum() / information[rows, top].sum())
    below, above = solutions(low), solutions(high)
    while low < (middle := 0.5 * (low + high)) < high:
        found = solutions(middle)
        if found[0] > middle * found[1]:
            low, below = middle, found
        else:
            high, above = middle, found
    excess, deficit = below[0] - low * below[1], above[0] - low * above[1]
    share = min(max(excess / (excess - deficit), 0.0), 1.0) if excess > deficit else 0.0
    mean_regret, mean_gain = (
        ((1.0 - share) * one + share * other) / count
        for one, other in zip(below[:2], above[:2], strict=True)
    )
    last = kept[begins[met[-1]] :] - starts[met[-1]]
    ratio = information_ratio(mean_regret, mean_gain)
    return TwoPoint(int(last[below[2]]), int(last[above[2]]), share, ratio)


def greedy(values: Floats) -> Spread:
    """All mass on the largest value, shared between ties."""
    best = values == values.max()
    return Spread(best / best.sum())


def probability_matching(rewards: Floats, weights: Floats, actions: Floats) -> Floats:
    """The distribution (K,) of the best action of a sampled parameter: Thompson sampling, FGTS.

    Ties go to the action with the fewest non-zero features, as the paper's appendix requires.
    """
    best = winners(rewards, actions)
    masses: Floats = np.bincount(best, weights, len(actions)).astype(np.float64)
    masses /= masses.sum()
    return masses
