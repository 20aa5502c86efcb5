"""Bandits whose actions change every round, as in the literature on sparse contextual bandits.

The seed of a family determines the parameter, and the random generator of a trial draws the actions
of each round. Most settings are those of the authors' programs, which draw one parameter for all
repetitions; here each seed has its own.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr, ndtri

from soids.arrays import Floats, as_count, as_generator, as_number, as_positive, as_table
from soids.bandits import draws
from soids.bandits.bandit import Offer, as_theta, truth_of
from soids.features import disjoint
from soids.spelling import check_choice

Contexts = Callable[[np.random.Generator], Floats]  # one round's actions (K, d)


@dataclass(frozen=True, eq=False)
class ContextualBandit:
    """Rewards ``<theta, action>`` plus Gaussian noise, with new random actions every round.

    >>> bandit = ContextualBandit(lambda rng: rng.uniform(-1, 1, (4, 2)), [1.0, 0.0], noise=0.1)
    >>> [offer.actions.shape for offer in bandit.rounds(2, np.random.default_rng(0))]
    [(4, 2), (4, 2)]
    """

    draw: Contexts
    theta: Floats  # (d,)
    noise: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.draw):
            raise ValueError(f"draw must be a function of an rng to actions, got {self.draw!r}")
        object.__setattr__(self, "theta", as_theta(self.theta))
        object.__setattr__(self, "noise", as_number(self.noise, "noise", 0.0))

    def __repr__(self) -> str:
        return f"ContextualBandit({self.dimension} features, noise {self.noise})"

    @property
    def dimension(self) -> int:
        return len(self.theta)

    @property
    def truth(self) -> dict[str, Any]:
        """The settings without ``reward_bound``, as actions may have any size."""
        return truth_of(self.theta, self.noise)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        for _ in range(horizon):
            table = as_table(self.draw(rng), self.dimension)
            actions: Floats = table.toarray() if issparse(table) else np.asarray(table)
            yield Offer(actions, actions @ self.theta, self.noise * rng.standard_normal())


def kim_paik(
    seed: int, *, dimension: int = 100, sparsity: int = 5, actions: int = 100,
    correlation: float = 0.7, noise: float = 0.05,
) -> ContextualBandit:  # fmt: skip
    """Kim & Paik (2019), who also use 20 actions: features correlated between actions."""
    theta = draws.uniform_entries(dimension, sparsity, 0.0, 1.0, draws.generator(seed))
    return ContextualBandit(equicorrelated(actions, dimension, correlation), theta, noise)


def oh(
    seed: int, *, dimension: int = 100, sparsity: int = 5, actions: int = 20,
    contexts: str = "gaussian", correlation: float = 0.3, noise: float = 0.5,
) -> ContextualBandit:  # fmt: skip
    """Oh, Iyengar & Zeevi (2021); ``contexts`` are "gaussian", "uniform" or "elliptical".

    Uniform contexts fill ``[-1, 1]^d``. Elliptical ones lie in a subspace of half the dimension,
    which is random in every round. ``correlation`` (also 0.7) is that of any two Gaussian actions.
    """
    theta = draws.uniform_entries(dimension, sparsity, 0.0, 1.0, draws.generator(seed))
    kinds: dict[str, Contexts] = {
        "gaussian": equicorrelated(actions, dimension, correlation),
        "uniform": lambda rng: rng.uniform(-1.0, 1.0, (actions, dimension)),
        "elliptical": lambda rng: elliptical(actions, dimension, rng),
    }
    check_choice(contexts, "contexts", kinds)
    return ContextualBandit(kinds[contexts], theta, noise)


def ariu(
    seed: int, *, dimension: int = 1000, sparsity: int = 20, actions: int = 2,
    correlation: float = 0.7, length: float = 10.0, noise: float = 1.0,
) -> ContextualBandit:  # fmt: skip
    """Ariu, Abe & Proutiere (2022): actions longer than ``length`` are shrunk to it."""
    theta = draws.uniform_entries(dimension, sparsity, 1.0, 2.0, draws.generator(seed))
    gaussian = equicorrelated(actions, dimension, correlation)
    as_positive(length, "length")

    def draw(rng: np.random.Generator) -> Floats:
        contexts = gaussian(rng)
        norms = np.linalg.norm(contexts, axis=1, keepdims=True)
        return np.asarray(contexts * (length / np.maximum(norms, length)))

    return ContextualBandit(draw, theta, noise)


def chakraborty(
    seed: int, *, dimension: int = 1000, sparsity: int = 5, actions: int = 10,
    design: str = "equicorrelated", correlation: float = 0.3, signal: str = "ones",
    noise: float = 1.0,
) -> ContextualBandit:  # fmt: skip
    """Chakraborty, Roy & Tewari (2023): features that are correlated with each other.

    In the ``design`` "equicorrelated" any two features have the same correlation; in
    "autoregressive" that of features i and j is ``correlation ** |i - j|``. The ``signal`` is
    "ones", "uniform" (on 0.3..1) or "gaussian"; the last two are scaled to l2 norm 1.
    """
    rng = draws.generator(seed)
    signals: dict[str, Callable[[int], Floats]] = {
        "ones": np.ones,
        "uniform": lambda count: unit(rng.uniform(0.3, 1.0, count)),
        "gaussian": lambda count: unit(rng.standard_normal(count)),
    }
    check_choice(signal, "signal", signals)
    theta = draws.entries(dimension, sparsity, signals[signal], rng)
    designs: dict[str, Contexts] = {
        "equicorrelated": equicorrelated(actions, dimension, correlation, axis=1),
        "autoregressive": partial(draws.autoregressive, (actions, dimension), correlation),
    }
    check_choice(design, "design", designs)
    return ContextualBandit(designs[design], theta, noise)


def bastani(
    seed: int, *, arms: int = 2, covariates: int = 100, sparsity: int = 5, largest: float = 1.0,
    noise: float = 0.05,
) -> ContextualBandit:  # fmt: skip
    """Bastani & Bayati (2020): one context for all arms, and a sparse parameter for each arm.

    The context is Gaussian, truncated to entries of size at most ``largest``. Every arm has the
    context in a block of its own, so the dimension is ``arms`` times ``covariates``; ``sparsity``
    coefficients of each block are uniform on 0..1. Their program is not public.

    >>> bandit = bastani(0, arms=3, covariates=10, sparsity=2)
    >>> bandit.dimension, bandit.truth["sparsity"]
    (30, 6)
    """
    rng, width = draws.generator(seed), as_count(covariates, "covariates")
    count = as_count(arms, "arms")
    blocks = [draws.uniform_entries(width, sparsity, 0.0, 1.0, rng) for _ in range(count)]
    tail = ndtr(-as_positive(largest, "largest"))

    def draw(rng: np.random.Generator) -> Floats:
        return disjoint(ndtri(rng.uniform(tail, 1.0 - tail, width)), arms)

    return ContextualBandit(draw, np.concatenate(blocks), noise)


def equicorrelated(actions: int, dimension: int, correlation: float, axis: int = 0) -> Contexts:
    """Standard normal actions; entries along the axis have the same correlation, others none."""
    rho, shape = draws.as_correlation(correlation), (as_count(actions, "actions"), dimension)
    common_shape = (1, dimension) if axis == 0 else (actions, 1)

    def draw(rng: np.random.Generator) -> Floats:
        own, common = rng.standard_normal(shape), rng.standard_normal(common_shape)
        return math.sqrt(1.0 - rho) * own + math.sqrt(rho) * common

    return draw


def elliptical(actions: int, dimension: int, rng: np.random.Generator) -> Floats:  # (K, d)
    """Actions of random length in a random subspace of half the dimension."""
    rank = max(1, dimension // 2)
    lengths = rng.standard_normal((actions, 1))
    return lengths * draws.unit_rows(actions, rank, rng) @ rng.random((rank, dimension))


def unit(vector: Floats) -> Floats:
    """A vector scaled to l2 norm 1."""
    return np.asarray(vector / np.linalg.norm(vector))
