"""Bandits whose actions change every round, as in the literature on sparse contextual bandits.

The seed of a family draws the parameter; the world's stream draws the actions of each round. Most
settings were read in the authors' own programs, which draw one parameter for all repetitions;
here each seed draws its own.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri

from soids.arrays import Floats, as_count, as_generator, as_number, as_table
from soids.bandits.bandit import Offer, as_theta, truth_of
from soids.bandits.drawn import generator, unit_rows
from soids.features import disjoint

T = TypeVar("T")
Contexts = Callable[[np.random.Generator], Floats]  # one round's actions (K, d)


@dataclass(frozen=True, eq=False)
class ContextualBandit:
    """Rewards ``<theta, action>`` plus Gaussian noise, over actions drawn anew every round.

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
        """How many features an action has."""
        return len(self.theta)

    @property
    def truth(self) -> dict[str, Any]:
        """What a policy can be told, by the name of its setting; actions may have any size."""
        return truth_of(self.theta, self.noise)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        """Actions, then noise, round by round."""
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        for _ in range(horizon):
            actions: Floats = np.asarray(as_table(self.draw(rng), self.dimension))
            yield Offer(actions, actions @ self.theta, self.noise * rng.standard_normal())


# One parameter for all actions


def kim_paik(
    seed: int,
    *,
    dimension: int = 100,
    sparsity: int = 5,
    actions: int = 100,
    correlation: float = 0.7,
    noise: float = 0.05,
) -> ContextualBandit:
    """Kim & Paik (2019): features that are correlated between actions; also with 20 actions.

    >>> kim_paik(0)
    ContextualBandit(100 features, noise 0.05)
    """
    theta = uniform_entries(dimension, sparsity, 0.0, 1.0, generator(seed))
    return ContextualBandit(alike(actions, dimension, correlation), theta, noise)


def oh(
    seed: int,
    *,
    dimension: int = 100,
    sparsity: int = 5,
    actions: int = 20,
    contexts: str = "gaussian",
    correlation: float = 0.3,
    noise: float = 0.5,
) -> ContextualBandit:
    """Oh, Iyengar & Zeevi (2021); ``contexts`` are "gaussian", "uniform" or "elliptical".

    Uniform ones fill ``[-1, 1]^d``; elliptical ones lie in a random subspace of half the dimension,
    drawn anew every round. The ``correlation`` (also 0.7) is between actions, of Gaussian contexts.
    """
    theta = uniform_entries(dimension, sparsity, 0.0, 1.0, generator(seed))
    draws: dict[str, Contexts] = {
        "gaussian": alike(actions, dimension, correlation),
        "uniform": lambda world: world.uniform(-1.0, 1.0, (actions, dimension)),
        "elliptical": lambda world: elliptical(actions, dimension, world),
    }
    return ContextualBandit(chosen(draws, contexts, "contexts"), theta, noise)


def ariu(
    seed: int,
    *,
    dimension: int = 1000,
    sparsity: int = 20,
    actions: int = 2,
    correlation: float = 0.7,
    length: float = 10.0,
    noise: float = 1.0,
) -> ContextualBandit:
    """Ariu, Abe & Proutiere (2022): actions longer than ``length`` are shrunk to it."""
    theta = uniform_entries(dimension, sparsity, 1.0, 2.0, generator(seed))
    draw = alike(actions, dimension, correlation)
    as_number(length, "length", 0.0, strict=True)
    return ContextualBandit(lambda world: no_longer_than(length, draw(world)), theta, noise)


def chakraborty(
    seed: int,
    *,
    dimension: int = 1000,
    sparsity: int = 5,
    actions: int = 10,
    design: str = "equicorrelated",
    correlation: float = 0.3,
    signal: str = "ones",
    noise: float = 1.0,
) -> ContextualBandit:
    """Chakraborty, Roy & Tewari (2023): features that are correlated with each other.

    In the ``design`` "equicorrelated" any two are, in "autoregressive" neighbours i and j by
    ``correlation ** |i - j|``. The ``signal`` is "ones", "uniform" (on 0.3..1) or "gaussian"; the
    last two are scaled to l2 norm 1.
    """
    rng = generator(seed)
    signals: dict[str, Callable[[int], Floats]] = {
        "ones": np.ones,
        "uniform": lambda count: unit(rng.uniform(0.3, 1.0, count)),
        "gaussian": lambda count: unit(rng.standard_normal(count)),
    }
    theta = entries(dimension, sparsity, chosen(signals, signal, "signal"), rng)
    rho, shape = as_correlation(correlation), (as_count(actions, "actions"), dimension)
    designs: dict[str, Contexts] = {
        "equicorrelated": lambda world: equicorrelated(shape, rho, world),
        "autoregressive": lambda world: autoregressive(shape, rho, world),
    }
    return ContextualBandit(chosen(designs, design, "design"), theta, noise)


# One parameter for each action


def bastani(
    seed: int,
    *,
    arms: int = 2,
    covariates: int = 100,
    sparsity: int = 5,
    largest: float = 1.0,
    noise: float = 0.05,
) -> ContextualBandit:
    """Bastani & Bayati (2020): one context for all arms, and a sparse parameter for each.

    The context is Gaussian, truncated to entries of size at most ``largest``; every arm holds it in
    a block of its own: the dimension is ``arms`` times ``covariates``, and ``sparsity`` entries of
    each block, uniform on 0..1, matter. From memory of the paper; their program is not public.

    >>> bandit = bastani(0, arms=3, covariates=10, sparsity=2)
    >>> bandit.dimension, bandit.truth["sparsity"]
    (30, 6)
    """
    rng, width = generator(seed), as_count(covariates, "covariates")
    blocks = [
        uniform_entries(width, sparsity, 0.0, 1.0, rng) for _ in range(as_count(arms, "arms"))
    ]
    tail = ndtr(-as_number(largest, "largest", 0.0, strict=True))

    def draw(world: np.random.Generator) -> Floats:
        return disjoint(ndtri(world.uniform(tail, 1.0 - tail, width)), arms)

    return ContextualBandit(draw, np.concatenate(blocks), noise)


# Parameters


def entries(
    dimension: int, sparsity: int, draw: Callable[[int], Floats], rng: np.random.Generator
) -> Floats:  # (d,)
    """Zeros, but for so many entries at random places."""
    as_count(sparsity, "sparsity", 1, as_count(dimension, "dimension"))
    theta = np.zeros(dimension)
    theta[rng.choice(dimension, sparsity, replace=False)] = draw(sparsity)
    return theta


def uniform_entries(
    dimension: int, sparsity: int, low: float, high: float, rng: np.random.Generator
) -> Floats:  # (d,)
    """The same with entries that are uniform between two numbers."""
    return entries(dimension, sparsity, lambda count: rng.uniform(low, high, count), rng)


def unit(vector: Floats) -> Floats:
    """A vector scaled to l2 norm 1."""
    scaled: Floats = vector / np.linalg.norm(vector)
    return scaled


# Actions


def alike(actions: int, dimension: int, correlation: float) -> Contexts:
    """Standard normal features, independent but for the correlation of any two actions."""
    rho, count = as_correlation(correlation), as_count(actions, "actions")

    def draw(world: np.random.Generator) -> Floats:
        own, common = world.standard_normal((count, dimension)), world.standard_normal(dimension)
        return math.sqrt(1.0 - rho) * own + math.sqrt(rho) * common

    return draw


def equicorrelated(shape: tuple[int, int], rho: float, world: np.random.Generator) -> Floats:
    """Independent actions; any two features of one have the same correlation."""
    own, common = world.standard_normal(shape), world.standard_normal((shape[0], 1))
    return math.sqrt(1.0 - rho) * own + math.sqrt(rho) * common


def autoregressive(shape: tuple[int, int], rho: float, world: np.random.Generator) -> Floats:
    """Independent actions; features i and j have correlation ``rho ** |i - j|``."""
    fresh = world.standard_normal(shape)
    fresh[:, 1:] *= math.sqrt(1.0 - rho**2)
    features: Floats = lfilter([1.0], [1.0, -rho], fresh, axis=1)
    return features


def elliptical(actions: int, dimension: int, world: np.random.Generator) -> Floats:  # (K, d)
    """Directions of random length in half the dimension, spread over all features."""
    rank = max(1, dimension // 2)
    lengths = world.standard_normal((as_count(actions, "actions"), 1))
    directions = lengths * unit_rows(actions, rank, world)
    return directions @ world.random((rank, dimension))


def no_longer_than(length: float, actions: Floats) -> Floats:  # (K, d)
    """The actions, those beyond an l2 norm shrunk to it."""
    norms = np.linalg.norm(actions, axis=1, keepdims=True)
    shrunk: Floats = actions * (length / np.maximum(norms, length))
    return shrunk


# Settings


def chosen(choices: Mapping[str, T], name: str, setting: str) -> T:
    """What a setting names."""
    if name not in choices:
        raise ValueError(f"{setting} must be one of {', '.join(choices)}, got {name!r}")
    return choices[name]


def as_correlation(value: object) -> float:
    """A correlation that leaves something of its own to everyone."""
    if not 0.0 <= (correlation := as_number(value, "correlation")) < 1.0:
        raise ValueError(f"correlation must lie in [0, 1), got {correlation:g}")
    return correlation
