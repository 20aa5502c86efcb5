"""Bandits from the proofs of lower bounds, and the examples of PopArt's paper.

A lower bound holds for the worst instance of a class; the seed determines one member. Its
coefficients are ``strength`` times those of the proof, which are small, and so hard to find within
the horizon. In simulations a strength of a few is hardest.
"""

import itertools
import math

import numpy as np
from scipy.linalg import hadamard

from soids.arrays import Floats, as_count, as_number, as_positive
from soids.bandits.bandit import SparseLinearBandit
from soids.bandits.draws import entries, generator, unit_rows

MOST = 10_000  # maximum number of actions of an instance


def lattimore(
    dimension: int, seed: int, *, horizon: int, sparsity: int = 2, strength: float = 1.0,
    noise: float = 1.0,
) -> SparseLinearBandit:  # fmt: skip
    """Several bandits played at once, whose rewards are observed only as a sum.

    Lattimore & Szepesvari (2020), Theorem 24.3, with regret of order ``sqrt(s d T)``. The columns
    form s blocks; an action takes one column of each, and one column of each block has the
    coefficient ``noise sqrt(d / (s T))``, the largest that the theorem allows. For s above 1 the
    actions do not span the space, so C_min is 0.

    >>> bandit = lattimore(dimension=6, sparsity=2, horizon=300, seed=0)
    >>> bandit.actions.shape, bandit.truth["radius"]
    ((9, 6), 0.2)
    """
    d, s = as_count(dimension, "dimension", 2), as_count(sparsity, "sparsity", 1, dimension // 2)
    if d % s != 0:
        raise ValueError(f"dimension must be a multiple of the sparsity {s}, got {d}")
    arms = d // s
    refuse_many(arms**s, d, s)
    noise, blocks = as_number(noise, "noise", 0.0), np.eye(arms)
    size = noise * math.sqrt(d / (s * as_count(horizon, "horizon")))
    actions = [np.concatenate(rows) for rows in itertools.product(blocks, repeat=s)]
    best = generator(seed).integers(0, arms, s)
    theta = as_positive(strength, "strength") * size * blocks[best].ravel()
    return SparseLinearBandit(np.array(actions), theta, noise)


def hao(
    dimension: int, seed: int, *, horizon: int, sparsity: int = 2, strength: float = 1.0,
    kappa: float = 1.0, price: float = 1.0, noise: float = 1.0,
) -> SparseLinearBandit:  # fmt: skip
    """Cheap actions give little information, and costly actions give much.

    This follows Hao, Lattimore & Wang (2020), Theorem 3.3, with regret of order
    ``min(s^(1/3) T^(2/3), sqrt(d T))``. Columns 0 to d - 2 hold s - 1 coefficients of size
    ``noise (kappa s)^(-2/3) T^(-1/3)`` and random sign; that of the last column is ``-price``.
    Cheap actions have s - 1 entries of 1 or -1, none in the last column. Costly ones have entries
    ``kappa`` or ``-kappa``, and 1 in the last column. The original has all ``2^(d-1)`` of these;
    here they are the rows of a Hadamard matrix, which are as informative: their covariance is
    ``kappa^2`` times the identity.

    >>> bandit = hao(dimension=8, sparsity=2, horizon=1000, seed=0)
    >>> bandit.actions.shape  # 2 times 7 cheap ones, 8 costly ones
    (22, 8)
    """
    s, kappa = as_count(sparsity, "sparsity", 2), as_positive(kappa, "kappa")
    size = (kappa * s) ** (-2 / 3) * as_count(horizon, "horizon") ** (-1 / 3)
    size *= as_positive(strength, "strength") * as_number(noise, "noise", 0.0)
    return cheap_or_costly(dimension, seed, s, s - 1, size, kappa, price, noise)


def jang(
    dimension: int, seed: int, *, horizon: int, sparsity: int = 2, strength: float = 1.0,
    kappa: float = 1.0, price: float = 1.0, noise: float = 1.0,
) -> SparseLinearBandit:  # fmt: skip
    """Like ``hao``, but cheap actions have twice as many entries, and give even less information.

    This follows Jang, Zhang & Jun (2022), Theorem 5, with regret of order ``s^(2/3) T^(2/3)`` and
    coefficients ``noise kappa^(-2/3) (s T)^(-1/3)``. The 2 (s - 1) entries of cheap actions are our
    reconstruction from the bound and the remark that optimal actions are 2s-sparse.

    >>> jang(dimension=8, sparsity=2, horizon=1000, seed=0).actions.shape  # 4 times 21, and 8
    (92, 8)
    """
    s, kappa = as_count(sparsity, "sparsity", 2), as_positive(kappa, "kappa")
    size = kappa ** (-2 / 3) * (s * as_count(horizon, "horizon")) ** (-1 / 3)
    size *= as_positive(strength, "strength") * as_number(noise, "noise", 0.0)
    return cheap_or_costly(dimension, seed, s, 2 * (s - 1), size, kappa, price, noise)


def popart_hard(dimension: int = 30, seed: int = 0, *, noise: float = 0.1) -> SparseLinearBandit:
    """Case 1 of Jang, Zhang & Jun (2022), as in their program: H_*^2 is far below 1 / C_min.

    Actions are ``e_1 / sqrt(d)`` and ``e_1 + e_i / sqrt(d)`` for the other columns i. The first
    column and another random one have coefficient 1.
    """
    d = as_count(dimension, "dimension", 2)
    actions = np.eye(d) / math.sqrt(d)
    actions[1:, 0] = 1.0
    theta = np.zeros(d)
    theta[0] = theta[generator(seed).integers(1, d)] = 1.0
    return SparseLinearBandit(actions, theta, noise)


def popart_sphere(
    dimension: int = 30, seed: int = 0, *, sparsity: int = 2, actions: int = 90, noise: float = 0.1
) -> SparseLinearBandit:
    """Case 2 of Jang, Zhang & Jun (2022): actions on the unit sphere, coefficients of 1.

    Their program draws the actions once for all repetitions; here each seed has its own.
    """
    rng = generator(seed)
    theta = entries(dimension, sparsity, np.ones, rng)
    rows = unit_rows(as_count(actions, "actions"), dimension, rng)
    return SparseLinearBandit(rows, theta, noise)


def cheap_or_costly(
    dimension: int, seed: int, sparsity: int, ones: int, size: float, kappa: float, price: float,
    noise: float,
) -> SparseLinearBandit:  # fmt: skip
    """The instances of ``hao`` and ``jang``: cheap actions have ``ones`` entries of 1 or -1."""
    columns = as_count(dimension, "dimension", ones + 1) - 1
    rows = 2 ** math.ceil(math.log2(dimension))
    refuse_many(math.comb(columns, ones) * 2**ones + rows, dimension, sparsity)
    rng = generator(seed)
    hidden = rng.choice(columns, sparsity - 1, replace=False)
    theta = np.zeros(dimension)
    theta[hidden] = size * rng.choice([-1.0, 1.0], sparsity - 1)
    theta[-1] = -as_positive(price, "price")
    costly = np.ones((rows, dimension))
    costly[:, :-1] = kappa * hadamard(rows)[:, 1:dimension]
    cheap = np.pad(signed(columns, ones), [(0, 0), (0, 1)])
    return SparseLinearBandit(np.vstack([cheap, costly]), theta, noise)


def signed(columns: int, ones: int) -> Floats:  # (n, columns)
    """Every vector with ``ones`` entries of 1 or -1 and zeros elsewhere."""
    places = np.array(list(itertools.combinations(range(columns), ones)))
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=ones)))
    rows = np.zeros((len(places), len(signs), columns))
    np.put_along_axis(rows, places[:, None, :], signs[None], axis=2)
    return rows.reshape(-1, columns)


def refuse_many(count: int, dimension: int, sparsity: int) -> None:
    """Refuse action sets that would fill the memory."""
    if count > MOST:
        raise ValueError(
            f"dimension {dimension} and sparsity {sparsity} make {count:,} actions, "
            f"more than the {MOST:,} that are feasible: lower them"
        )
