"""Weighted particles of one target, with all that reweighting them for the next target needs."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from soids.arrays import Bools, Floats, Ints
from soids.evidence import Menu
from soids.kernels.rewards import all_rewards
from soids.kernels.vectors import largest
from soids.kernels.weights import effective_share, normalised
from soids.particles import Particles
from soids.posteriors.arms import Arms
from soids.posteriors.target import Target
from soids.records import GREATEST, LEAST, check_arrays, check_numbers

BATCH = 0.5  # share of the particles that must be due before any is moved


class ParticleSystem(NamedTuple):
    """Weighted particles, their target, and their densities under it."""

    target: Target
    arms: Arms
    thetas: Floats  # (M, d)
    included: Bools  # (M, d)
    variances: Floats  # (M,)  of the noise
    rewards: Floats  # (M, N)  of every action of every set
    log_density: Floats  # (M,)  of the relaxed target, up to a constant of the prior
    log_correction: Floats  # (M,)  true over relaxed target; at most zero if all actions are arms
    log_weights: Floats  # (M,)  with respect to the relaxed target
    log_mass: float = 0.0  # of the target over that of the prior, up to the last resampling
    fresh: float = 1.0  # effective share under the true target, after the last sweep
    owed: int = 0  # moves of single particles that are due
    turn: int = 0  # index of the particle that moves next

    def validate(self) -> None:
        """Refuse particles that the moves cannot start from."""
        d, n = self.target.columns.shape
        weights = "log_density log_correction log_weights"
        sizes = check_arrays(
            self, {"d": d, "N": n}, unbounded=weights, thetas="M d", included="M d", variances="M",
            rewards="M N", **dict.fromkeys(weights.split(), "M"),
        )  # fmt: skip
        prior, features = self.target.prior, self.included.sum(axis=1)
        for array in (self.thetas, self.included, self.rewards):
            if not array.flags.c_contiguous:
                raise ValueError("particles must be stored row by row")
        if sizes["M"] < 1 or not self.log_weights.max() > -GREATEST:
            raise ValueError("some particle must have a weight")
        if not (prior.smallest <= features.min() <= features.max() <= len(prior.log_odds)):
            raise ValueError("supports must be of sizes that the prior knows")
        if prior.values.spike_scale == 0.0 and ((self.thetas != 0.0) != self.included).any():
            raise ValueError("included must be the features that are not zero")
        check_numbers(self, "variances", LEAST)
        check_numbers(self, weights, -math.inf, math.inf)
        check_numbers(self, "log_mass", -GREATEST)
        check_numbers(self, "fresh", LEAST, 1.0 + 1e-9)
        check_numbers(self, "turn", 0, sizes["M"] - 1)
        check_numbers(self, "owed", 0)
        self.arms.check_among(self.target)

    def noise(self) -> float:
        """The estimated standard deviation of the noise."""
        if self.target.prior.noise.known:
            return math.sqrt(self.target.prior.noise.scale)
        return float(np.sqrt(self.particles().weights @ self.variances))

    def rewards_on(self, menu: Menu) -> Floats:  # (M, K)
        """The rewards of an action set under every particle."""
        same = menu.columns is self.target.columns
        return self.rewards if same else all_rewards(self.thetas, menu.columns)

    def particles(self) -> Particles:
        """The particles with their weights under the true target."""
        log_weights = self.log_weights + self.log_correction
        if not math.isfinite(largest(log_weights)):  # every support is one too large
            log_weights = self.log_weights
        return Particles(self.thetas, self.included, normalised(log_weights))

    def effective_size(self) -> float:
        """The number of different, equally weighted particles that would be as good."""
        masses: dict[bytes, float] = {}  # np.unique by rows would take longer than a budget of 5 ms
        for theta, weight in zip(self.thetas, self.particles().weights.tolist(), strict=True):
            bits = theta.tobytes()
            masses[bits] = masses.get(bits, 0.0) + weight
        return 1.0 / sum(mass**2 for mass in masses.values())

    def behind(self) -> float:
        """How many sweeps are due that there was no time for."""
        size = len(self.thetas)
        return self.owed / size if self.owed >= BATCH * size else 0.0

    def alive(self) -> float:
        """The effective share under the relaxed target or, if that is less, under the true target,
        relative to the share after the last moves.
        """
        share = effective_share(self.log_weights)
        true = effective_share(self.log_weights + self.log_correction)
        return min(share, true / self.fresh) if true > 0.0 else 0.0

    def log_evidence(self) -> float:
        """Log of the prior mean of exp(-eta / (2 noise) |y - X theta|^2), tilted by the optimism,
        consistent in the number of particles if radius and noise are given.
        """
        total = float(logsumexp(self.log_weights + self.log_correction))
        correction = total - math.log(len(self.thetas))
        return self.log_mass + correction - self.target.prior.log_lawful(self.thetas.shape[1])


PER_PARTICLE = tuple(
    name for name, kind in ParticleSystem.__annotations__.items() if kind in (Floats, Bools)
)


def some(particles: ParticleSystem, rows: Ints | slice) -> ParticleSystem:
    """Some of the particles, possibly several times."""
    return particles._replace(**{name: getattr(particles, name)[rows] for name in PER_PARTICLE})


def copied(particles: ParticleSystem) -> ParticleSystem:
    """The same particles in arrays of their own."""
    return particles._replace(**{name: getattr(particles, name).copy() for name in PER_PARTICLE})
