"""Exponential weights over sparse parameters, as an online regressor."""

from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_count, as_features, as_generator, as_number
from soids.evidence import Evidence
from soids.posteriors import Belief, Tuning, as_posterior
from soids.records import check_dimension


class Foresight(NamedTuple):
    """The state of a forecaster."""

    evidence: Evidence
    belief: Belief | None = None
    believed: Evidence | None = None  # the evidence that it includes

    def validate(self) -> None:
        if (self.belief is None) != (self.believed is None):
            raise ValueError("a belief must have its evidence")

    def mean(self) -> Floats:  # (d,)
        """The posterior mean."""
        if self.belief is None:
            return np.zeros(len(self.evidence.moment))  # the priors are symmetric
        return self.belief.particles().mean()

    def noted(self, row: Floats, answer: float) -> "Foresight":
        """The state with one more reward, which the posterior does not include yet."""
        return self._replace(evidence=self.evidence.note(row, answer))


class Forecaster:
    """Predicts each reward before it is observed, almost as well as the best sparse parameter.

    The prediction is the mean under the prior times the likelihood to the power ``eta``. With the
    subset prior this is the sparse exponential-weights forecaster of Gerchinovitz (2013) and
    Alquier & Lounici (2011). ``posterior`` names another prior, with settings in brackets if
    needed, or is an object with an ``update`` method, whose own settings then count. Sparsity,
    radius and noise are estimated unless they are given.

    >>> forecaster, rng = Forecaster(50), np.random.default_rng(0)
    >>> for _ in range(40):
    ...     features = rng.uniform(-1, 1, 50)
    ...     forecaster.learn(features, 3.0 * features[7], rng)
    >>> round(forecaster.predict(np.eye(50)[7]), 1)
    3.0
    """

    def __init__(
        self, dimension: int, *, sparsity: int | None = None, radius: float | None = None,
        noise: float | None = None, posterior: str | Any = "subset", eta: float = 1.0,
        particles: int = 100, sweeps: int = 2,
    ) -> None:  # fmt: skip
        self.dimension = as_count(dimension, "dimension")
        known = {"sparsity": sparsity, "radius": radius, "noise": noise}
        self.model = as_posterior(posterior, self.dimension, **known)
        eta, particles = as_number(eta, "eta", 0.0), as_count(particles, "particles", 2)
        self.tuning = Tuning(eta, 0.0, particles, as_count(sweeps, "sweeps"))
        self.memory = Foresight(Evidence.empty(self.dimension))

    def predict(self, features: object) -> float:
        """The expected reward for features (d,)."""
        return float(as_features(features, self.dimension) @ self.mean())

    def learn(self, features: object, answer: float, rng: np.random.Generator) -> None:
        """Learn from one reward."""
        row = as_features(features, self.dimension)
        noted = self.memory.noted(row, as_number(answer, "answer"))
        self.memory = self.updated(noted, as_generator(rng))

    def mean(self) -> Floats:  # (d,)
        """The parameter that predictions are made with: the posterior mean."""
        return self.memory.mean()

    def log_evidence(self) -> float:
        """Estimates the log of the prior average of ``exp(-eta |y - X theta|^2 / (2 noise^2))``.

        Radius and noise must be given, because a prior fitted to the rewards has no evidence.
        """
        return self.log_evidence_of(self.memory)

    def log_evidence_of(self, foresight: Foresight) -> float:
        """The estimate of `log_evidence` for a state."""
        if foresight.belief is None:
            return 0.0
        if estimate := getattr(foresight.belief, "log_evidence", None):
            return float(estimate())
        raise ValueError(
            f"posterior must estimate its evidence, as 'subset' and 'relaxed' do, got {self.model}"
        )

    def check_foresight(self, foresight: Foresight) -> None:
        """Refuse a state from a file that this forecaster cannot have."""
        if foresight.believed is not None:
            check_dimension(self.dimension, believed=[len(foresight.believed.moment)])
            self.model.check_belief(foresight.belief, foresight.believed, self.tuning)

    def updated(self, foresight: Foresight, rng: np.random.Generator) -> Foresight:
        """The state with a posterior that includes all rewards."""
        evidence, belief, believed = foresight
        if believed is evidence or evidence.rounds == 0:
            return foresight
        belief = self.model.update(belief, evidence, self.tuning, rng)
        return Foresight(evidence, belief, evidence)
