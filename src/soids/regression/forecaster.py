"""Exponential weights over sparse parameters, as an online regressor."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats, as_count, as_features, as_generator, as_number
from soids.evidence import Evidence
from soids.posteriors.cloud import Cloud
from soids.posteriors.subset import Subset
from soids.posteriors.target import Tuning


class Foresight(NamedTuple):
    """What a forecaster has seen, and what it makes of it."""

    evidence: Evidence
    cloud: Cloud | None = None
    believed: Evidence | None = None  # the evidence that the cloud stands for


class Forecaster:
    """Predicts each answer before it is seen, as well as the best sparse parameter almost.

    The prediction is the mean of the subset prior times the likelihood to the power ``eta``: the
    sparse exponential-weights forecaster of Gerchinovitz (2013) and Alquier & Lounici (2011),
    averaged over particles that exact moves keep up to date. What is not told is learned.

    >>> forecaster, rng = Forecaster(50), np.random.default_rng(0)
    >>> for _ in range(40):
    ...     features = rng.uniform(-1, 1, 50)
    ...     forecaster.learn(features, 3.0 * features[7], rng)
    >>> round(forecaster.predict(np.eye(50)[7]), 1)
    3.0
    """

    def __init__(
        self,
        dimension: int,
        *,
        sparsity: int | None = None,
        radius: float | None = None,
        noise: float | None = None,
        eta: float = 1.0,
        particles: int = 100,
        sweeps: int = 2,
    ) -> None:
        self.model = Subset(dimension, sparsity, radius, noise)
        self.tuning = Tuning(
            as_number(eta, "eta", 0.0), 0.0, as_count(particles, "particles", 2),
            as_count(sweeps, "sweeps"),
        )  # fmt: skip
        self.memory = Foresight(Evidence.empty(dimension))

    def predict(self, features: object) -> float:
        """The expected answer for features (d,)."""
        return float(as_features(features, self.model.dimension) @ self.mean())

    def learn(self, features: object, answer: float, rng: np.random.Generator) -> None:
        """Learn from one answer."""
        row = as_features(features, self.model.dimension)
        number = as_number(answer, "answer")
        self.note(row, number)
        self.think(as_generator(rng))

    def mean(self) -> Floats:  # (d,)
        """The parameter that predictions are made with."""
        if self.memory.cloud is None:
            return np.zeros(self.model.dimension)  # the prior is symmetric
        return self.memory.cloud.particles().mean()

    def log_evidence(self) -> float:
        """Log of the average over the prior of ``exp(-eta |y - X theta|^2 / (2 noise^2))``.

        An estimate by sequential Monte Carlo; radius and noise must be told.
        """
        return 0.0 if self.memory.cloud is None else self.memory.cloud.log_evidence()

    def note(self, row: Floats, answer: float) -> None:
        """Take down an answer, to be thought of later."""
        self.memory = self.memory._replace(evidence=self.memory.evidence.note(row, answer))

    def think(self, rng: np.random.Generator) -> None:
        """Bring the cloud up to all that was taken down."""
        evidence, cloud, believed = self.memory
        if believed is not evidence and evidence.rounds > 0:
            cloud = self.model.update(cloud, evidence, self.tuning, rng)
            self.memory = Foresight(evidence, cloud, evidence)
