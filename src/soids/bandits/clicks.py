"""Bandits whose rewards are 0 or 1, such as clicks: a sparse parameter acts on the log odds."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from soids.arrays import Floats, as_actions, as_count, as_generator, as_number
from soids.bandits import draws
from soids.bandits.bandit import Offer, as_theta
from soids.spelling import check_choice

SHARE = 0.3  # of the products that have a property


@dataclass(frozen=True, eq=False)
class ClickBandit:
    """Products (N, d) with log odds ``level + <theta, product>`` of a click.

    ``shown`` of them are on offer in each round, chosen at random; all of them if it is None.
    """

    products: Floats  # (N, d)
    theta: Floats  # (d,)
    level: float
    shown: int | None = None

    def __post_init__(self) -> None:
        theta = as_theta(self.theta)
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "products", as_actions(self.products, theta.size))
        object.__setattr__(self, "level", as_number(self.level, "level"))
        if self.shown is not None:
            as_count(self.shown, "shown", 1, len(self.products))

    def __repr__(self) -> str:
        return f"ClickBandit({len(self.products)} products, {self.dimension} features)"

    @property
    def dimension(self) -> int:
        return len(self.theta)

    @cached_property
    def rates(self) -> Floats:  # (N,)
        """The probability of a click on each product."""
        return np.asarray(expit(self.level + self.products @ self.theta))

    @property
    def truth(self) -> dict[str, Any]:
        """What a policy may be given; radius and noise of a linear model do not exist here."""
        support = np.flatnonzero(self.theta).tolist()
        return {"sparsity": len(support), "support": support, "reward_bound": 1.0}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        horizon, rng, rates = as_count(horizon, "horizon"), as_generator(rng), self.rates
        products = self.products
        for _ in range(horizon):
            if self.shown is not None:
                on_offer = rng.choice(len(self.products), self.shown, replace=False)
                products, rates = self.products[on_offer], self.rates[on_offer]
            # Rounding does no harm: rate + (1 - rate) is exactly one.
            yield Offer(products, rates, (rng.random() < rates) - rates)


def clicks(
    seed: int, *, dimension: int = 30, sparsity: int = 4, actions: int = 50, rate: float = 0.03,
    smallest: float = 0.5, largest: float = 1.5, features: str = "uniform",
    catalogue: int | None = None,
) -> ClickBandit:  # fmt: skip
    """A shop: each visitor is shown one product, and clicks or not.

    A product without any of the features is clicked with probability ``rate``. On the log odds,
    ``sparsity`` features have effects of random sign, of sizes uniform between ``smallest`` and
    ``largest``. Features are "uniform" on -1..1, "gaussian", or "indicator": 1 for three products
    in ten, else 0. With a ``catalogue`` that many products exist, and ``actions`` of them are on
    offer in each round.
    """
    rng = draws.generator(seed)
    count = as_count(actions, "actions")
    count = count if catalogue is None else as_count(catalogue, "catalogue", count)
    if not 0.0 < as_number(rate, "rate") < 1.0:
        raise ValueError(f"rate must lie between 0 and 1, got {rate:g}")
    shape = count, as_count(dimension, "dimension")
    kinds: dict[str, Callable[[], Floats]] = {
        "uniform": lambda: rng.uniform(-1.0, 1.0, shape),
        "gaussian": lambda: rng.standard_normal(shape),
        "indicator": lambda: (rng.random(shape) < SHARE).astype(np.float64),
    }
    check_choice(features, "features", kinds)
    products = kinds[features]()
    theta = draws.uniform_entries(dimension, sparsity, smallest, largest, rng)
    theta *= rng.choice([-1.0, 1.0], dimension)
    level = math.log(rate / (1.0 - rate))
    return ClickBandit(products, theta, level, None if catalogue is None else actions)
