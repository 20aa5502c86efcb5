"""Exponential weights over sparse parameters, as an online regressor."""

from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, as_count, as_features, as_generator, as_number
from soids.evidence import Evidence
from soids.posteriors import Belief, Tuning, as_posterior


class Foresight(NamedTuple):
    """What a forecaster has seen, and what it makes of it."""

    evidence: Evidence
    cloud: Belief | None = None
    believed: Evidence | None = None  # the evidence that the cloud stands for


class Forecaster:
    """Predicts each answer before it is seen, almost as well as the best sparse parameter.

    The prediction is the mean of the prior times the likelihood to the power ``eta``, averaged over
    particles. With the default, the subset prior, this is the sparse exponential-weights forecaster
    of Gerchinovitz (2013) and Alquier & Lounici (2011). ``posterior`` is the name of another prior,
    with settings in brackets if need be, or an object with an ``update`` method. Sparsity, radius
    and noise are learned if they are not given; an object has its own.

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
        posterior: str | Any = "subset",
        eta: float = 1.0,
        particles: int = 100,
        sweeps: int = 2,
    ) -> None:
        self.dimension = as_count(dimension, "dimension")
        self.model = as_posterior(
            posterior, self.dimension, sparsity=sparsity, radius=radius, noise=noise
        )
        self.tuning = Tuning(
            as_number(eta, "eta", 0.0), 0.0, as_count(particles, "particles", 2),
            as_count(sweeps, "sweeps"),
        )  # fmt: skip
        self.memory = Foresight(Evidence.empty(self.dimension))

    def predict(self, features: object) -> float:
        """The expected answer for features (d,)."""
        return float(as_features(features, self.dimension) @ self.mean())

    def learn(self, features: object, answer: float, rng: np.random.Generator) -> None:
        """Learn from one answer."""
        row = as_features(features, self.dimension)
        number = as_number(answer, "answer")
        self.note(row, number)
        self.think(as_generator(rng))

    def mean(self) -> Floats:  # (d,)
        """The parameter that predictions are made with."""
        if self.memory.cloud is None:
            return np.zeros(self.dimension)  # the priors are symmetric
        return self.memory.cloud.particles().mean()

    def log_evidence(self) -> float:
        """Log of the average over the prior of ``exp(-eta |y - X theta|^2 / (2 noise^2))``.

        The posterior must be sampled by sequential Monte Carlo ("gaussian" and "langevin" are not),
        which gives an estimate. Radius and noise must be given: a prior that is fitted to the
        answers has no evidence.
        """
        cloud = self.memory.cloud
        if cloud is None:
            return 0.0
        estimate = getattr(cloud, "log_evidence", None)
        if estimate is None:
            raise ValueError(
                f"posterior must estimate its evidence, as 'subset' and 'relaxed' do, got "
                f"{self.model!r}"
            )
        return float(estimate())

    def note(self, row: Floats, answer: float) -> None:
        """Record an answer, from which ``think`` will learn."""
        self.memory = self.memory._replace(evidence=self.memory.evidence.note(row, answer))

    def think(self, rng: np.random.Generator) -> None:
        """Update the cloud to all answers that were recorded."""
        evidence, cloud, believed = self.memory
        if believed is not evidence and evidence.rounds > 0:
            cloud = self.model.update(cloud, evidence, self.tuning, rng)
            self.memory = Foresight(evidence, cloud, evidence)
