"""Evidence to measure on: rewards of random actions, or of actions that SOIDS chose."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from soids.bandits import SparseLinearBandit, paper_instance
from soids.evidence import Evidence, Menu
from soids.policies.soids import SOIDS
from soids.posteriors import Langevin, Relaxed, SpikeSlab, Subset
from soids.posteriors.target import Target
from soids.rates import Progress, Rate, balanced, experiment
from soids.simulation.play import play

RADIUS = 10.0
NOISE = 1.0
FAMILIES = {"subset": Subset, "spike_slab": SpikeSlab, "relaxed": Relaxed}


class Settings(NamedTuple):
    """Likelihood power and learning rate of the optimistic posterior."""

    eta: float
    rate: Rate


SETTINGS = {"default": Settings(1.0, balanced), "paper": Settings(0.5, experiment)}


class Problem(NamedTuple):
    """Evidence on the paper's instance, and the settings of the optimistic posterior."""

    dimension: int
    rounds: int
    data: str  # a key of DATA
    settings: str  # a key of SETTINGS
    evidence: Evidence

    @property
    def sparsity(self) -> int:
        return self.dimension // 10

    def target(self, prior: str) -> Target:
        """The optimistic posterior under one of the FAMILIES of priors."""
        posterior = FAMILIES[prior](
            self.dimension, sparsity=self.sparsity, radius=RADIUS, noise=NOISE
        )
        eta, schedule = SETTINGS[self.settings]
        rate = schedule(Progress(self.rounds, self.dimension, self.sparsity))
        if isinstance(posterior, Relaxed):
            rate = posterior.proper_rate(self.evidence, rate)
        return Target.of(self.evidence, posterior.prior(self.evidence), eta, rate)


def random_evidence(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of random actions."""
    rng = np.random.default_rng(seed)
    evidence, menu = Evidence.empty(bandit.theta.size), Menu(bandit.actions)
    for index in rng.integers(len(bandit.actions), size=rounds):
        reward = float(bandit.means[index] + bandit.noise * rng.standard_normal())
        evidence = evidence.add(menu, bandit.actions[index], reward)
    return evidence


def chosen_evidence(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of actions that SOIDS chose by its default settings."""
    dimension = bandit.theta.size
    policy = SOIDS(dimension, sparsity=dimension // 10, radius=RADIUS, noise=NOISE)
    play(bandit, policy, rounds, seed)
    return policy.evidence


def evidence_of_the_paper(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of actions that SOIDS chose by the paper's settings, which explore more.

    The default settings leave many directions unexplored. There the relaxed posterior diverges
    (docs/sampler.md, section 8), whichever sampler is used.
    """
    dimension = bandit.theta.size
    eta, rate = SETTINGS["paper"]
    posterior = Langevin(dimension, sparsity=dimension // 10, noise=NOISE)
    policy = SOIDS(dimension, posterior=posterior, rate=rate, eta=eta)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*relaxed posterior", RuntimeWarning)
        play(bandit, policy, rounds, seed)
    return policy.evidence


DATA: dict[str, Callable[[SparseLinearBandit, int, int], Evidence]] = {
    "random": random_evidence,
    "chosen": chosen_evidence,
    "paper": evidence_of_the_paper,
}


def pose(dimension: int, rounds: int, data: str, settings: str, seed: int) -> Problem:
    """The problem with these settings."""
    evidence = DATA[data](paper_instance(dimension, seed), rounds, seed)
    return Problem(dimension, rounds, data, settings, evidence)
