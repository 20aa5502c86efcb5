"""Bandits whose rewards have a base level, of all products or of each arm of a clinical trial."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from soids.arrays import Floats, as_count, as_flag, as_generator, as_number, as_positive
from soids.bandits import draws
from soids.bandits.bandit import Offer, SparseLinearBandit, truth_of
from soids.features import disjoint
from soids.spelling import check_choice

LAYOUTS = ("arms", "disjoint", "hybrid")
# Means and standard deviations of eight measurements: age, weight, a score, two counts of cells
# twice, days of treatment. Then how common eight conditions are.
MEANS = np.array([35.0, 75.0, 95.0, 350.0, 985.0, 380.0, 370.0, 935.0])
DEVIATIONS = np.array([8.7, 13.0, 6.0, 118.0, 480.0, 470.0, 145.0, 445.0])
SHARES = np.array([0.08, 0.65, 0.13, 0.55, 0.7, 0.28, 0.82, 0.6])
ALIKE = 0.36  # correlation of any two measurements


@dataclass(frozen=True, eq=False)
class RaisedBandit:
    """A bandit whose rewards are all raised by a base."""

    bandit: SparseLinearBandit
    base: float

    @property
    def dimension(self) -> int:
        return self.bandit.dimension

    @property
    def truth(self) -> dict[str, Any]:
        return truth_of(self.bandit.theta, self.bandit.noise)

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        for offer in self.bandit.rounds(horizon, rng):
            yield offer._replace(means=offer.means + self.base)


def products(
    seed: int, *, dimension: int = 30, sparsity: int = 4, actions: int = 50, effect: float = 0.6,
    base: float = 0.0, centred: bool = False, noise: float = 1.0,
) -> RaisedBandit:  # fmt: skip
    """Products with Gaussian features, a few of which have an effect; all sell by a base level.

    If ``centred``, the mean reward of all products is the base exactly.
    """
    rng = draws.generator(seed)
    table = rng.standard_normal((as_count(actions, "actions"), as_count(dimension, "dimension")))
    theta = draws.scattered(dimension, sparsity, sparsity * as_positive(effect, "effect"), rng)
    bandit = SparseLinearBandit(table, theta, noise)
    middle = float(bandit.means.mean()) if as_flag(centred, "centred") else 0.0
    return RaisedBandit(bandit, as_number(base, "base") - middle)


@dataclass(frozen=True, eq=False)
class ClinicalTrial:
    """Patients who come one by one, and arms of treatment."""

    layout: str  # of the features: one of LAYOUTS
    standardised: bool
    levels: Floats  # (K,)  of the arms
    common: Floats  # (16,)  effects of the covariates, whatever the arm
    own: Floats  # (K, 16)  and their effects under each arm
    noise: float

    @property
    def dimension(self) -> int:
        count, width = len(self.levels), 1 + len(self.common)
        own = count if self.layout == "arms" else count * width
        return own + (width - 1 if self.layout == "hybrid" else 0)

    @property
    def truth(self) -> dict[str, Any]:
        return {"noise": self.noise}

    def rounds(self, horizon: int, rng: np.random.Generator) -> Iterator[Offer]:
        horizon, rng = as_count(horizon, "horizon"), as_generator(rng)
        count, deviations = len(self.levels), np.sqrt(SHARES * (1.0 - SHARES))
        for _ in range(horizon):
            normal = np.sqrt(1.0 - ALIKE) * rng.standard_normal(len(MEANS))
            normal += np.sqrt(ALIKE) * rng.standard_normal()
            has = (rng.random(len(SHARES)) < SHARES).astype(np.float64)
            standard = np.concatenate([normal, (has - SHARES) / deviations])
            raw = np.concatenate([MEANS + DEVIATIONS * normal, has])
            covariates = standard if self.standardised else raw
            means = self.levels + self.common @ standard + self.own @ standard
            context = np.concatenate([[1.0], covariates])
            if self.layout == "arms":
                actions = np.eye(count)
            elif self.layout == "disjoint":
                actions = disjoint(context, count)
            else:
                actions = np.hstack([np.tile(covariates, (count, 1)), disjoint(context, count)])
            yield Offer(actions, means, self.noise * rng.standard_normal())


def clinic(
    seed: int, *, arms: int = 4, layout: str = "disjoint", standardised: bool = True,
    spread: float = 0.3, common: int = 4, own: int = 0, effect: float = 0.3, noise: float = 1.0,
) -> ClinicalTrial:  # fmt: skip
    """A clinical trial with 16 covariates: eight correlated measurements and eight conditions.

    Levels of the arms are Gaussian with deviation ``spread``. As many covariates as ``common`` says
    have an ``effect`` on all arms alike, ``own`` of them on one arm alone, per standard deviation.
    Actions show the arm only (layout "arms"), a block for each arm with a one and the covariates
    ("disjoint"), or also the covariates beside ("hybrid"). The patients are the same in each.
    """
    check_choice(layout, "layout", LAYOUTS)
    rng, width = draws.generator(seed), len(MEANS) + len(SHARES)
    levels = as_number(spread, "spread", 0.0) * rng.standard_normal(as_count(arms, "arms"))
    for_all, alone = np.zeros(width), np.zeros((arms, width))
    signs = rng.choice([-1.0, 1.0], (2, width))
    order = rng.permuted(np.tile(np.arange(width), (2, 1)), axis=1)
    size = as_positive(effect, "effect")
    for_all[order[0, : as_count(common, "common", 0, width)]] = size
    chosen = order[1, : as_count(own, "own", 0, width)]
    alone[rng.integers(arms, size=width)[: len(chosen)], chosen] = size
    return ClinicalTrial(
        layout, as_flag(standardised, "standardised"), levels, signs[0] * for_all,
        signs[1] * alone, as_number(noise, "noise", 0.0),
    )  # fmt: skip
