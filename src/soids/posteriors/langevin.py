"""The paper's own sampler: Langevin chains on the relaxed prior (docs/sampler.md section 10)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from soids.arrays import SMALLEST, Bools, Floats, as_count, as_flag, as_number
from soids.evidence import Evidence, Menu
from soids.kernels.density import fits
from soids.kernels.moves.langevin import Learning, Pace, State, walk
from soids.kernels.rewards import all_rewards
from soids.particles import Particles
from soids.posteriors.posterior import Posterior
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.target import Target, Tuning
from soids.posteriors.unknowns import draw_variances
from soids.records import LEAST, check_arrays, check_numbers

BURN_IN = 40  # additional sweeps of chains that start with evidence
JUMP = 2.0  # factor of change in the prior's scale after which chains restart


class Chains(NamedTuple):
    """Langevin chains, each with its running values."""

    thetas: Floats  # (M, d)
    included: Bools  # (M, d)  drawn by their probabilities
    inclusion: Floats  # (M, d)  these probabilities, running averages if the sampler adapts
    smoothed: Floats  # (M, d)  running average of the probabilities
    shares: Floats  # (M,)  prior probability of inclusion
    variances: Floats  # (M,)  of the noise
    spike_scale: float  # of the prior in the last steps
    rate: float  # of the optimism in the last steps

    def validate(self) -> None:
        sizes = check_arrays(
            self, thetas="M d", included="M d", inclusion="M d", smoothed="M d", shares="M",
            variances="M",
        )  # fmt: skip
        if sizes["M"] < 1:
            raise ValueError("there must be some chain")
        check_numbers(self, "inclusion smoothed", 0.0, 1.0)
        check_numbers(self, "shares", LEAST, 1.0 - 1e-15)
        check_numbers(self, "variances spike_scale", LEAST)
        check_numbers(self, "rate", 0.0)

    def noise(self) -> float:
        """The estimated standard deviation of the noise."""
        return float(np.sqrt(self.variances.mean()))

    def rewards_on(self, menu: Menu) -> Floats:  # (M, K)
        """The rewards of an action set under every chain."""
        return all_rewards(self.thetas, menu.columns)

    def particles(self) -> Particles:
        """The chains, with equal weights."""
        count = len(self.thetas)
        return Particles(self.thetas, self.included, np.full(count, 1.0 / count))

    def are_far_from(self, target: Target) -> bool:
        """Whether scale or optimism changed too much for chains to follow in small steps."""
        ratio = target.prior.values.spike_scale / self.spike_scale
        return not 1.0 / JUMP < ratio < JUMP or self.rate > JUMP * target.rate


@dataclass(frozen=True)
class Langevin(Posterior):
    """The posterior of ``Relaxed`` by Langevin chains, which are biased and mix slowly.

    Chains continue from round to round, without correction or weights. The step size is ``step``
    over the largest curvature, in whose direction the variance is too large by a factor of up to
    ``1 / (1 - step / 2)``. A radius has no effect.

    With ``adapts``, inclusion (and sparsity and noise, if not given) are running averages with the
    given ``weight``, as in SGLD-SA (Deng et al. 2019; Hao et al. 2021): another distribution, even
    for small steps. Without ``adapts``, sparsity and noise are drawn given the chain, once a sweep.
    """

    slab_variance: float | None = None  # ten times the noise variance, as in the paper
    spike_scale: float | None = None  # a tenth of the noise, as in the paper
    adapts: bool = False
    weight: float = 0.1  # of the present state in the running averages
    steps: int = 25  # per sweep
    step: float = 0.5
    preconditioned: bool = False  # whether each direction has its own step, by its curvature

    def __post_init__(self) -> None:
        super().__post_init__()
        as_count(self.steps, "steps")
        as_flag(self.adapts, "adapts")
        as_flag(self.preconditioned, "preconditioned")
        for name in ("weight", "step"):
            if as_number(getattr(self, name), name, SMALLEST) > 1.0:
                raise ValueError(f"{name} must be at most 1, got {getattr(self, name)}")

    @property
    def relaxed(self) -> Relaxed:
        """The posterior that this one approximates."""
        known = self.dimension, self.sparsity, self.radius, self.noise
        return Relaxed(*known, self.slab_variance, self.spike_scale)

    def check_belief(self, belief: Any, evidence: Evidence, tuning: Tuning) -> None:
        if not isinstance(belief, Chains):
            raise ValueError(f"belief must be chains, got {type(belief).__name__}")
        super().check_belief(belief, evidence, tuning)

    def update(
        self, chains: Chains | None, evidence: Evidence, tuning: Tuning, rng: Generator
    ) -> Chains:
        """The chains after some sweeps under the optimistic posterior."""
        relaxed, sweeps = self.relaxed, tuning.sweeps
        relaxed.warn_of_runaway(evidence, tuning.rate)
        rate = relaxed.proper_rate(evidence, tuning.rate)
        target = Target.of(evidence, relaxed.prior(evidence), tuning.eta, rate)
        if chains is None or chains.are_far_from(target):
            count = tuning.particles if chains is None else len(chains.thetas)
            chains = self.start(target, count, rng)
            sweeps += BURN_IN if evidence.rounds > 0 else 0
        pace = self.pace(target)
        for _ in range(sweeps):
            chains = self.swept(chains, target, pace, rng)
        if not np.isfinite(chains.thetas).all():
            raise FloatingPointError("the posterior overflowed: rescale the rewards or the actions")
        return chains._replace(included=rng.random(chains.thetas.shape) < chains.inclusion)

    def start(self, target: Target, count: int, rng: Generator) -> Chains:
        """Chains drawn from the prior."""
        prior, d = target.prior, self.dimension
        thetas, included = prior.draw(np.full(count, np.inf), d, rng)
        inclusion, scale = included.astype(np.float64), prior.values.spike_scale
        share = 0.5 if self.sparsity is None else min(self.sparsity / d, 1.0 - 0.5 / d)
        variances = draw_variances(prior.noise, np.zeros(count), 0.0, rng)
        averages = inclusion, inclusion, np.full(count, share)
        return Chains(thetas, included, *averages, variances, scale, target.rate)

    def swept(self, chains: Chains, target: Target, pace: Pace, rng: Generator) -> Chains:
        """The chains after some steps, before which sparsity and noise may be drawn."""
        values = target.prior.values
        if not self.adapts:
            chains = self.redrawn(chains, target, rng)
        arrays = target.arrays(target.gram.all_rows(), target.columns, target.starts)
        learned = self.adapts and self.sparsity is None, self.adapts and self.noise is None
        weight, sums = self.weight if self.adapts else 1.0, (target.energy, float(target.rounds))
        scales = 1.0 / values.slab_precision, values.spike_scale
        learning = Learning(weight, *learned, *scales, target.eta, *sums, *target.prior.noise)
        state = State(*(getattr(chains, name) for name in State._fields))
        normals = rng.standard_normal((len(chains.thetas), self.steps, self.dimension))
        moved = walk(state, arrays, pace, learning, normals)._asdict()
        return chains._replace(**moved, spike_scale=values.spike_scale, rate=target.rate)

    def redrawn(self, chains: Chains, target: Target, rng: Generator) -> Chains:
        """The same parameters, with sparsity and noise, if not given, drawn given these."""
        shares, variances = chains.shares, chains.variances
        if self.sparsity is None:
            sizes = (rng.random(chains.thetas.shape) < chains.inclusion).sum(axis=1)
            shares = rng.beta(1.0 + sizes, 1.0 + self.dimension - sizes)
            shares = np.clip(shares, SMALLEST, 1.0 - SMALLEST)
        if self.noise is None:
            squares, _ = fits(chains.thetas, target.gram.all_rows(), target.moment, target.drift)
            misfits = target.eta * np.maximum(target.energy + squares, 0.0)
            variances = draw_variances(target.prior.noise, misfits, target.eta * target.rounds, rng)
        return chains._replace(shares=shares, variances=variances)

    def pace(self, target: Target) -> Pace:
        """The size of the steps, by the curvature of the likelihood."""
        if self.preconditioned:
            curvatures, axes = np.linalg.eigh(target.gram.dense())
        else:
            curvatures, axes = np.linalg.eigvalsh(target.gram.dense())[-1:], np.empty((0, 0))
        columns, rows = np.ascontiguousarray(axes), np.ascontiguousarray(axes.T)
        return Pace(self.step, np.maximum(curvatures, 0.0), columns, rows)
