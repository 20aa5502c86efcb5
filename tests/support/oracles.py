"""Slow and obvious versions of what the package computes fast."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax

from soids.arrays import Floats
from soids.posteriors.unknowns import Noise


class Past(NamedTuple):
    """What was offered, played and earned, round by round."""

    menus: tuple[Floats, ...]  # (K, d) each
    offered: tuple[int, ...]  # (t,)  which menu
    played: Floats  # (t, d)
    rewards: Floats  # (t,)
    intercept: bool = False  # of any size, all sizes alike, integrated out
    contexts: Floats | None = None  # (t, p)  with normal effects on rewards, integrated out
    ridge: Floats | None = None  # (p,)  their precisions, in units of eta / noise^2


class Exact(NamedTuple):
    """What is known of a posterior without drawing from it."""

    log_evidence: float
    supports: dict[tuple[int, ...], float]  # their probabilities
    mean: Floats  # (d,)
    second: Floats  # (d, d)  mean of theta theta'
    best: float  # mean of the best reward on the first menu


def log_optimistic(thetas: Floats, past: Past, eta: float, rate: float, noise: float) -> Floats:
    """The powered log likelihood of parameters (n, d), and their optimism, by definition."""
    best = [(thetas @ menu.T).max(axis=1) for menu in past.menus]
    total = np.zeros(len(thetas))
    for menu, action, reward in zip(past.offered, past.played, past.rewards, strict=True):
        earned = thetas @ action
        total += eta * (-0.5 * ((reward - earned) / noise) ** 2 - math.log(noise))
        total += rate * (best[menu] - earned)
    if past.contexts is not None:
        # As covariance of residuals: I + Z L^-1 Z', in place of I.
        residuals = past.rewards - thetas @ past.played.T
        covariance = past.contexts / past.ridge @ past.contexts.T + np.eye(len(past.rewards))
        whole = np.einsum("nt,nt->n", residuals, np.linalg.solve(covariance, residuals.T).T)
        total += 0.5 * eta / noise**2 * ((residuals**2).sum(axis=1) - whole)
    if past.intercept and eta > 0.0:
        # The integral of exp(-p (b^2 t / 2 - b sum of residuals)) over b, with p = eta / noise^2.
        power, t = eta / noise**2, len(past.rewards)
        residuals = (past.rewards - thetas @ past.played.T).sum(axis=1)
        total += 0.5 * power * residuals**2 / t + 0.5 * math.log(2.0 * math.pi / (power * t))
    return total


def ball_nodes(size: int, radius: float, resolution: int) -> tuple[Floats, Floats]:
    """Nodes (n, size) and weights (n,) of an integral over the l1 ball.

    Each coordinate takes a share of what those before it have left; Gauss-Legendre in the shares,
    one orthant after the other, so neither the rim nor the axes fall between nodes.
    """
    shares, weights = np.polynomial.legendre.leggauss(resolution)
    shares, weights = 0.5 * (shares + 1.0), 0.5 * weights
    nodes, volumes = np.zeros((1, 0)), np.ones(1)
    left = np.full(1, radius)
    for _ in range(size):
        nodes = beside(nodes, np.outer(left, shares))
        volumes = np.outer(volumes * left, weights).ravel()
        left = np.outer(left, 1.0 - shares).ravel()
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=size)))
    return np.concatenate([nodes * sign for sign in signs]), np.tile(volumes, len(signs))


def beside(nodes: Floats, values: Floats) -> Floats:  # (n * v, size + 1)
    """Each node (n, size) followed by each of its own values (n, v) for one more coordinate."""
    return np.hstack([np.repeat(nodes, values.shape[1], axis=0), values.reshape(-1, 1)])


def line_nodes(finest: float, reach: float) -> tuple[Floats, Floats]:
    """Nodes and weights (n,) of an integral over the line, dense towards a kink at zero."""
    x, weights = np.polynomial.legendre.leggauss(4)
    edges = np.concatenate([[0.0], np.geomspace(finest, reach, 24)])
    edges = np.unique(np.concatenate([-edges, edges, np.linspace(-reach, reach, 81)]))
    half = 0.5 * np.diff(edges)
    middle = edges[:-1] + half
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * weights).ravel()


def on_nodes(support: tuple[int, ...], thetas: Floats, log_masses: Floats, menu: Floats) -> Exact:
    """The moments of unnormalised masses on parameters (n, d) with one support."""
    log_evidence = float(logsumexp(log_masses))
    masses = np.exp(log_masses - log_evidence)
    best = (thetas @ menu.T).max(axis=1)
    second = (thetas * masses[:, None]).T @ thetas
    return Exact(log_evidence, {support: 1.0}, masses @ thetas, second, float(masses @ best))


def mixed(parts: list[Exact], log_priors: Floats) -> Exact:
    """The mixture of posteriors that each hold given something with its own prior."""
    logs = np.array([part.log_evidence for part in parts]) + log_priors
    log_evidence = float(logsumexp(logs))
    shares = np.exp(logs - log_evidence)
    supports: dict[tuple[int, ...], float] = {}
    for part, share in zip(parts, shares, strict=True):
        for support, probability in part.supports.items():
            supports[support] = supports.get(support, 0.0) + share * probability
    return Exact(
        log_evidence,
        supports,
        sum(share * part.mean for part, share in zip(parts, shares, strict=True)),
        sum(share * part.second for part, share in zip(parts, shares, strict=True)),
        sum(share * part.best for part, share in zip(parts, shares, strict=True)),
    )


def log_nodes(low: float, high: float, count: int = 40) -> tuple[Floats, Floats]:
    """Values between two positive ones, and the log weights of an integral over their logarithm."""
    x, weights = np.polynomial.legendre.leggauss(count)
    span = math.log(high / low)
    return low * np.exp(0.5 * (x + 1.0) * span), np.log(0.5 * weights * span)


def noise_nodes(noise: Noise) -> tuple[Floats, Floats]:
    """Noise variances, and their log prior masses: an inverse gamma integrated over logarithms."""
    shape, scale = noise
    if noise.known:
        return np.array([scale]), np.zeros(1)
    variances, log_weights = log_nodes(0.02 * scale, 1000.0 * scale)
    log_density = shape * np.log(scale / variances) - scale / variances - math.lgamma(shape)
    return variances, log_weights + log_density


def mean_of(values: Floats, given: list[Exact], log_priors: Floats) -> float:
    """The posterior mean of what the parts of a mixture were given."""
    return float(softmax(log_priors + [part.log_evidence for part in given]) @ values)


def embedded(nodes: Floats, support: tuple[int, ...], dimension: int) -> Floats:
    """Parameters (n, d) with the nodes (n, size) on their support and zeros elsewhere."""
    thetas = np.zeros((len(nodes), dimension))
    thetas[:, list(support)] = nodes
    return thetas


def enumerate_subset_posterior(
    past: Past, *, sparsity: int, radius: float, eta: float, rate: float, noise: float = 1.0,
    resolution: int | None = None, weigh: Callable[[int], float] = lambda size: 0.5**size,
    smallest: int = 1, own_odds: Floats | None = None,
) -> Exact:  # fmt: skip
    """All supports of size 1..s, or 0..s, with prior ``w(k) / C(d, k)`` times the features' own
    odds, the l1 ball integrated on each.
    """
    dimension = past.played.shape[1]
    own_odds = np.zeros(dimension) if own_odds is None else own_odds
    parts, log_priors = [], []
    for size in range(smallest, sparsity + 1):
        nodes, volumes = ball_nodes(size, radius, resolution or {0: 1, 1: 400, 2: 50, 3: 16}[size])
        log_uniform = math.log(math.factorial(size)) - size * math.log(2.0 * radius)
        for support in itertools.combinations(range(dimension), size):
            thetas = embedded(nodes, support, dimension)
            log_masses = np.log(volumes) + log_uniform
            log_masses += log_optimistic(thetas, past, eta, rate, noise)
            parts.append(on_nodes(support, thetas, log_masses, past.menus[0]))
            log_prior = math.log(weigh(size) / math.comb(dimension, size))
            log_priors.append(log_prior + own_odds[list(support)].sum())
    return mixed(parts, np.array(log_priors) - logsumexp(log_priors))


def binomial_sizes(dimension: int, share: float) -> Floats:  # (d + 1,)
    """The prior probability of one support of each size if each feature is in it with the same
    share.
    """
    sizes = np.arange(dimension + 1)
    return share**sizes * (1.0 - share) ** (dimension - sizes)


def enumerate_spike_slab(
    past: Past, *, sizes: Floats, slab_variance: float, slab_centre: float = 0.0,
    radius: float = math.inf, eta: float, rate: float, noise: float = 1.0,
) -> Exact:  # fmt: skip
    """All supports, each with its size's prior probability: conjugate where it is, else on nodes.

    Conjugate parts (no ball, no optimism) leave the best reward out, as not a number. Slabs cut to
    a ball are not normalised on each support: the product prior is, and the ball cuts it once. Half
    of a slab lies about its centre, half about the negative of that.
    """
    dimension = past.played.shape[1]
    parts, log_priors = [], []
    for size in range(dimension + 1):
        for support in itertools.combinations(range(dimension), size):
            log_priors.append(math.log(sizes[size]))
            if radius == math.inf and rate == 0.0 and dimension > 2:
                parts.append(conjugate(support, past, slab_variance, eta, noise))
                continue
            if radius < math.inf:
                nodes, volumes = ball_nodes(size, radius, {0: 1, 1: 400, 2: 50, 3: 16}[size])
            else:
                nodes, volumes = box_nodes(size, 0.1, 12.0 * math.sqrt(slab_variance))
            thetas = embedded(nodes, support, dimension)
            halves = (
                log_gaussians(nodes + side, slab_variance) for side in (-slab_centre, slab_centre)
            )
            log_masses = np.log(volumes) + (np.logaddexp(*halves) - math.log(2.0)).sum(axis=1)
            log_masses += log_optimistic(thetas, past, eta, rate, noise)
            parts.append(on_nodes(support, thetas, log_masses, past.menus[0]))
    return mixed(parts, np.array(log_priors))


def conjugate(
    support: tuple[int, ...], past: Past, slab_variance: float, eta: float, noise: float
) -> Exact:
    """The Gaussian posterior on one support, without optimism."""
    dimension = past.played.shape[1]
    seen = past.played[:, list(support)]
    power = eta / noise**2
    precision = power * seen.T @ seen + np.eye(len(support)) / slab_variance
    slope = power * seen.T @ past.rewards
    centre = np.linalg.solve(precision, slope)
    log_evidence = 0.5 * (slope @ centre - power * past.rewards @ past.rewards)
    log_evidence -= 0.5 * (np.linalg.slogdet(precision)[1] + len(support) * math.log(slab_variance))
    log_evidence -= eta * len(past.rewards) * math.log(noise)
    mean = embedded(centre[None], support, dimension)[0]
    second = np.outer(mean, mean)
    second[np.ix_(support, support)] += np.linalg.inv(precision)
    return Exact(float(log_evidence), {support: 1.0}, mean, second, math.nan)


def box_nodes(size: int, finest: float, reach: float) -> tuple[Floats, Floats]:
    """Nodes (n, size) and weights (n,) of an integral over the whole space, of one or two
    dimensions.
    """
    line, weights = line_nodes(finest, reach)
    nodes, volumes = np.zeros((1, 0)), np.ones(1)
    for _ in range(size):
        nodes = beside(nodes, np.tile(line, (len(nodes), 1)))
        volumes = np.outer(volumes, weights).ravel()
    return nodes, volumes


def log_gaussians(points: Floats, variance: float) -> Floats:
    """The log density of N(0, variance) at each point."""
    return -0.5 * (points**2 / variance + math.log(2.0 * math.pi * variance))


def log_laplace(points: Floats, scale: float) -> Floats:
    """The log density of independent Laplace(scale) coordinates (n, size)."""
    return -(np.abs(points) / scale + math.log(2.0 * scale)).sum(axis=1)


def relaxed_grid(
    past: Past, *, sizes: Floats, slab_variance: float, spike_scale: float, eta: float, rate: float,
    noise: float = 1.0,
) -> Exact:  # fmt: skip
    """All labellings into slab and Laplace spike, in one or two dimensions, integrated on nodes."""
    dimension = past.played.shape[1]
    thetas, volumes = box_nodes(dimension, 0.2 * spike_scale, 12.0 * math.sqrt(slab_variance))
    log_seen = np.log(volumes) + log_optimistic(thetas, past, eta, rate, noise)
    parts, log_priors = [], []
    for size in range(dimension + 1):
        for support in itertools.combinations(range(dimension), size):
            others = [j for j in range(dimension) if j not in support]
            log_masses = log_seen + log_gaussians(thetas[:, list(support)], slab_variance).sum(
                axis=1
            )
            log_masses += log_laplace(thetas[:, others], spike_scale)
            parts.append(on_nodes(support, thetas, log_masses, past.menus[0]))
            log_priors.append(math.log(sizes[size]))
    return mixed(parts, np.array(log_priors))


def least_pair_ratio(regret: Floats, gain: Floats, power: float) -> float:
    """The least ``regret**power / gain`` over mixtures of two actions, every pair tried.

    On the segment between two actions the ratio has its stationary point where
    ``power * slope of regret * gain = slope of gain * regret``.
    """
    least = math.inf
    for i, j in itertools.product(range(len(regret)), repeat=2):
        dearer, richer = regret[j] - regret[i], gain[j] - gain[i]
        shares = [0.0]
        if dearer * richer != 0.0:
            root = (regret[i] / dearer - power * gain[i] / richer) / (power - 1.0)
            shares += [root] if 0.0 < root < 1.0 else []
        for share in shares:
            paid, learned = regret[i] + share * dearer, gain[i] + share * richer
            if paid == 0.0:
                return 0.0
            if learned > 0.0:
                least = min(least, paid**power / learned)
    return least


def simplex_grid(size: int, steps: int) -> Floats:  # (n, size)
    """Every distribution over ``size`` actions whose masses are multiples of ``1 / steps``."""
    bars = itertools.combinations(range(steps + size - 1), size - 1)
    edges = np.array([(-1, *bar, steps + size - 1) for bar in bars])
    return (np.diff(edges, axis=1) - 1) / steps


def dual_ratio(regret: Floats, gain: Floats) -> tuple[float, float]:
    """The smallest ``regret**2 / gain`` as ``max_l min_k 2 l regret_k - l**2 gain_k``.

    Returns the maximising multiplier ``l`` and the maximum, which equals the primal minimum. The
    function is concave in ``l``, so bisection on the sign of its slope finds the maximum.
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


def exploration_mixture(sampled: Floats, design: Floats, regret: Floats) -> Floats:
    """The paper's mixture of FGTS and exploratory design; its 3-ratio is <= ``27 s / C_min``."""
    own, explored = float(sampled @ regret), float(design @ regret)
    if explored <= own:
        return design
    share = min(1.0, own / (2.0 * (explored - own)))
    return (1.0 - share) * sampled + share * design
