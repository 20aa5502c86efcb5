"""The paper's own sampler: Langevin chains on the relaxed prior, never corrected."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from soids.arrays import SMALLEST, Bools, Floats, as_count, as_flag, as_number
from soids.evidence import Evidence, Menu
from soids.kernels.density import fits
from soids.kernels.moves.langevin import Learning, Pace, Slope, State, walk
from soids.kernels.rewards import all_rewards
from soids.particles import Particles
from soids.posteriors.posterior import Posterior
from soids.posteriors.relaxed import Relaxed
from soids.posteriors.target import Target, Tuning
from soids.posteriors.unknowns import draw_variances

BURN_IN = 40  # sweeps of chains that start with evidence
JUMP = 2.0  # chains start again if the prior's scale changes by this factor


class Chains(NamedTuple):
    """Langevin chains, each with what it has learned on its way."""

    thetas: Floats  # (M, d)
    included: Bools  # (M, d)  drawn by their probabilities
    inclusion: Floats  # (M, d)  those probabilities, running averages if the sampler adapts
    smoothed: Floats  # (M, d)  their running average
    shares: Floats  # (M,)  prior probability of inclusion
    variances: Floats  # (M,)  of the noise
    spike_scale: float  # of the prior they moved under
    rate: float  # of the optimism they moved under

    def noise(self) -> float:
        """The standard deviation of the noise, as believed."""
        return float(np.sqrt(self.variances.mean()))

    def rewards_on(self, menu: Menu) -> Floats:  # (M, K)
        """The rewards of a menu's actions under every chain."""
        rewards: Floats = all_rewards(self.thetas, menu.columns)
        return rewards

    def particles(self) -> Particles:
        """The chains, all equally likely."""
        count = len(self.thetas)
        return Particles(self.thetas, self.included, np.full(count, 1.0 / count))

    def are_far_from(self, target: Target) -> bool:
        """Whether the prior's scale jumped or optimism fell: small steps would follow too late."""
        ratio = target.prior.values.spike_scale / self.spike_scale
        return not 1.0 / JUMP < ratio < JUMP or self.rate > JUMP * target.rate


@dataclass(frozen=True)
class Langevin(Posterior):
    """The posterior of ``Relaxed`` as seen by Langevin chains, which are biased and slow to mix.

    They start from the prior and go on from round to round, neither corrected nor weighted. A step
    is ``step`` over the largest curvature, so it never diverges; the variance in the direction of
    that curvature comes out too large by a factor up to ``1 / (1 - step / 2)``.

    With ``adapts``, inclusion (and sparsity and noise, if not given) are running averages with the
    given ``weight``, as in SGLD-SA (Deng et al. 2019; Hao et al. 2021): another distribution, even
    for small steps. Without it, sparsity and noise are drawn given the chain, once a sweep. A
    radius has no effect.
    """

    slab_variance: float | None = None  # ten times the noise variance, as in the paper
    spike_scale: float | None = None  # a tenth of the noise, as in the paper
    adapts: bool = False
    weight: float = 0.1  # of the present state in the running averages
    steps: int = 25  # a sweep
    step: float = 0.5
    preconditioned: bool = False  # each direction has steps of its own, by its own curvature

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
        return Relaxed(
            self.dimension, self.sparsity, self.radius, self.noise, self.slab_variance,
            self.spike_scale,
        )  # fmt: skip

    def update(
        self, chains: Chains | None, evidence: Evidence, tuning: Tuning, rng: np.random.Generator
    ) -> Chains:
        """The chains, moved on under the optimistic posterior."""
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

    def start(self, target: Target, count: int, rng: np.random.Generator) -> Chains:
        """Chains drawn from the prior."""
        prior, d = target.prior, self.dimension
        thetas, included = prior.draw(np.full(count, np.inf), d, rng)
        inclusion = included.astype(np.float64)
        share = 0.5 if self.sparsity is None else min(self.sparsity / d, 1.0 - 0.5 / d)
        variances = draw_variances(prior.noise, np.zeros(count), 0.0, rng)
        return Chains(
            thetas, included, inclusion, inclusion, np.full(count, share), variances,
            prior.values.spike_scale, target.rate,
        )  # fmt: skip

    def swept(self, chains: Chains, target: Target, pace: Pace, rng: np.random.Generator) -> Chains:
        """The chains after some steps; what is neither given nor averaged is drawn before them."""
        values = target.prior.values
        if not self.adapts:
            chains = self.redrawn(chains, target, rng)
        slope = Slope(
            target.eta, target.gram.dense(), target.moment, target.drift, target.columns,
            target.starts, target.tilts, 1.0 / values.slab_precision, values.spike_scale,
        )  # fmt: skip
        learning = Learning(
            self.weight if self.adapts else 1.0, self.adapts and self.sparsity is None,
            self.adapts and self.noise is None, target.energy, float(target.rounds),
            *target.prior.noise,
        )  # fmt: skip
        state = State(
            chains.thetas, chains.inclusion, chains.smoothed, chains.shares, chains.variances
        )
        normals = rng.standard_normal((len(chains.thetas), self.steps, self.dimension))
        moved = walk(state, slope, pace, learning, normals)._asdict()
        return chains._replace(**moved, spike_scale=values.spike_scale, rate=target.rate)

    def redrawn(self, chains: Chains, target: Target, rng: np.random.Generator) -> Chains:
        """The same parameters; sparsity and noise, if not given, drawn given them."""
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
        """How far steps go, by the curvature of the likelihood."""
        if self.preconditioned:
            curvatures, axes = np.linalg.eigh(target.gram.dense())
        else:
            curvatures, axes = np.linalg.eigvalsh(target.gram.dense())[-1:], np.empty((0, 0))
        rows = np.ascontiguousarray(axes.T)
        return Pace(self.step, np.maximum(curvatures, 0.0), np.ascontiguousarray(axes), rows)
