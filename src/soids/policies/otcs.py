"""Online-to-confidence-set conversion: optimism over a set that a sparse forecaster implies."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, as_count, as_number, as_radius, as_share
from soids.evidence import Evidence
from soids.policies.confidence import Bounds
from soids.policies.ledger import Ledger, as_called
from soids.policies.policy import Decision
from soids.regression.conversion import (
    admissible_power,
    aps_width,
    around_predictions,
    clerico_width,
    exp_concave_power,
)
from soids.regression.forecaster import Forecaster, Foresight
from soids.regression.ridge import Ellipsoid
from soids.spelling import meant

Width = Callable[[float, int, int, float, float, float], float]
WIDTHS: dict[str, Width | None] = {
    "aps2012": aps_width,
    "clerico": clerico_width,
    "likelihood_ratio": None,  # comes from the forecaster itself
}


class Converted(NamedTuple):
    """What OTCS holds beyond its ledger."""

    foresight: Foresight
    predictions: Evidence  # each round's prediction in place of its reward


class OTCS:
    """Optimism over the confidence set of an online forecaster (Abbasi-Yadkori et al. 2012).

    ``radius`` bounds the parameter's l1 norm, ``norm`` its l2 norm (the radius, if not told).
    ``width`` says how the set is made: ``"likelihood_ratio"`` from the evidence of the forecaster,
    ``"clerico"`` after Clerico et al. (2025), or ``"aps2012"``, which is sure up to the
    ``horizon``. The latter two need features of at most ``feature_bound`` in size, and an ``eta``,
    the power of the likelihood, of at most what their theory allows, the default; the paper's
    experiments take 1/2.
    """

    def __init__(
        self,
        dimension: int,
        *,
        sparsity: int,
        radius: float,
        noise: float = 1.0,
        norm: float | None = None,
        feature_bound: float = 1.0,
        width: str = "likelihood_ratio",
        eta: float | None = None,
        horizon: int | None = None,
        ridge: float = 1.0,
        delta: float = 0.01,
        particles: int = 100,
        sweeps: int = 2,
    ) -> None:
        self.ledger = Ledger(dimension)
        self.dimension = self.ledger.dimension
        self.sparsity = as_count(sparsity, "sparsity", 1, self.dimension)
        self.radius = as_radius(radius)
        self.noise = as_number(noise, "noise", SMALLEST)
        self.norm = None if norm is None else as_number(norm, "norm", 0.0)
        if norm is not None and norm > self.radius:
            raise ValueError(
                f"norm must be at most the radius of {self.radius:g}, as no l2 norm exceeds the "
                f"l1 norm, got {norm:g}"
            )
        self.feature_bound = as_number(feature_bound, "feature_bound", 0.0, strict=True)
        if not isinstance(width, str) or width not in WIDTHS:
            raise ValueError(f"width must be one of {', '.join(WIDTHS)}{meant(width, WIDTHS)}")
        self.width = width
        self.horizon = None if horizon is None else as_count(horizon, "horizon")
        self.ridge = as_number(ridge, "ridge", SMALLEST)
        self.delta = as_share(delta, "delta")
        self.eta = None if eta is None else as_share(eta, "eta")
        if width == "likelihood_ratio" and eta is not None:
            raise ValueError(f"eta must be left out for a likelihood ratio, which is 1, got {eta}")
        self.particles, self.sweeps = particles, sweeps
        self.forecaster = Forecaster(
            dimension, sparsity=sparsity, radius=radius, noise=noise, eta=self.power(),
            particles=particles, sweeps=sweeps,
        )  # fmt: skip
        self.predictions = Evidence.empty(self.dimension)

    __repr__ = as_called

    @property
    def memory(self) -> Converted:
        """All that was learned beyond the ledger."""
        return Converted(self.forecaster.memory, self.predictions)

    @memory.setter
    def memory(self, memory: Converted) -> None:
        self.forecaster.memory, self.predictions = memory

    def choose(self, actions: object, rng: np.random.Generator) -> Decision:
        """Choose one of the actions (K, d) on offer."""
        menu = self.ledger.offer(actions, rng)
        if self.width != "likelihood_ratio" and menu.largest > self.feature_bound:
            raise ValueError(
                f"actions must have features of at most feature_bound = {self.feature_bound:g} in "
                f"size, got {menu.largest:g}"
            )
        if self.width == "aps2012" and self.ledger.decisions == self.horizon:
            warnings.warn(
                f"the horizon of {self.horizon} rounds is over: from here on the set of aps2012 is "
                "not sure to hold the parameter",
                RuntimeWarning,
                stacklevel=2,
            )
        self.forecaster.think(rng)
        bounds = Bounds.on(self.ellipsoid(), menu)
        index = int(bounds.upper.argmax())
        return self.ledger.enter(menu, index, 1.0, bounds.info(index, self.noise))

    def observe(self, decision: Decision | Sequence[Decision], reward: object) -> None:
        """Learn from the reward of a decision, or of a list of them, in any order, at any time.

        The set is sure to hold the parameter if each reward comes before the next choice.
        """
        for settled, value in self.ledger.settle(decision, reward):
            prediction = self.forecaster.predict(settled.action)
            self.predictions = self.predictions.note(settled.action, prediction)
            self.forecaster.note(settled.action, value)

    def ellipsoid(self) -> Ellipsoid:
        """Where the parameter may be, given all that was chosen and thought of."""
        norm = self.radius if self.norm is None else self.norm
        budget = self.ridge * norm**2
        formula = WIDTHS[self.width]
        if formula is None:
            seen = self.forecaster.memory.believed or Evidence.empty(self.dimension)
            unlikely = math.log(1.0 / self.delta) - self.forecaster.log_evidence()
            return around_predictions(seen, self.ridge, budget + 2.0 * self.noise**2 * unlikely)
        width = formula(
            self.predictions.rounds, self.dimension, self.sparsity, self.reach(), self.power(),
            self.delta,
        )  # fmt: skip
        return around_predictions(self.predictions, self.ridge, budget + self.noise**2 * width)

    def reach(self) -> float:
        """The bound on mean rewards, in units of the noise."""
        return self.radius * self.feature_bound / self.noise

    def power(self) -> float:
        """The power of the likelihood in force."""
        if self.width == "likelihood_ratio":
            return 1.0
        if self.eta is not None:
            return self.eta
        if self.width == "clerico":
            return admissible_power(self.reach())
        if self.horizon is None:
            raise ValueError("horizon must be told for the width aps2012, or eta, got neither")
        return exp_concave_power(self.reach(), self.horizon, self.delta / 3.0)
