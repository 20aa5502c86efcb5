"""Do the moves mix? R-hat over over-dispersed chains, and CPU time per effective sample.

Chains start in four ways: from the prior, from the largest support with equal shares of the radius,
from a single wrong feature, and from the truth with its sign reversed. Every four chains, one of
each kind, give one R-hat (rank-normalised, the worst of fifty rewards); the table shows the median
and the worst of all fours. Effective samples count the weights that make the draws exact.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from arviz_stats.base import array_stats
from rich.console import Console
from rich.table import Table

from soids import SOIDS, SparseLinearBandit, paper_instance, play
from soids.evidence import Evidence, Menu
from soids.posteriors import SpikeSlab, Subset, smc
from soids.posteriors.target import Target
from soids.rates import Progress, balanced

FOURS = 5
WATCHED = 50  # rewards whose chains are judged


class Mixing(NamedTuple):
    """What a long run of many chains shows."""

    rhat_median: float
    rhat_worst: float
    milliseconds: float  # CPU time per effective sample
    efficiency: float  # of the weights


def random_evidence(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of actions drawn at random."""
    rng = np.random.default_rng(seed)
    evidence, menu = Evidence.empty(bandit.theta.size), Menu(bandit.actions)
    for index in rng.integers(len(bandit.actions), size=rounds):
        reward = float(bandit.means[index] + bandit.noise * rng.standard_normal())
        evidence = evidence.add(menu, bandit.actions[index], reward)
    return evidence


def chosen_evidence(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of actions that SOIDS chose."""
    d = bandit.theta.size
    policy = SOIDS(d, sparsity=d // 10, radius=10.0, noise=1.0)
    play(bandit, policy, rounds, seed)
    return policy.memory.evidence


def overdispersed(
    theta: np.ndarray, size: int, radius: float, rng: np.random.Generator
) -> np.ndarray:
    """Four starting points far apart, all inside the ball."""
    d = theta.size
    from_prior, full, single = np.zeros((3, d))
    from_prior[rng.choice(d)] = rng.uniform(-radius, radius)
    full[rng.choice(d, size, replace=False)] = 0.99 * radius / size * rng.choice([-1, 1], size)
    single[rng.choice(np.flatnonzero(theta == 0.0))] = 0.99 * radius
    return np.stack([from_prior, full, single, -0.99 * theta])


def measure(target: Target, truth: np.ndarray, draws: int, seed: int) -> Mixing:
    """Run four times ``FOURS`` chains side by side."""
    rng = np.random.default_rng(seed)
    size = min(target.prior.largest, max(1, truth.size // 10))
    starts = [overdispersed(truth, size, 10.0, rng) for _ in range(FOURS)]
    thetas = np.concatenate(starts)
    count = len(thetas)
    variances = np.ones(count)
    cloud = smc.placed(target, thetas, thetas != 0.0, np.full(count, 10.0), variances)
    for _ in range(draws // 4):
        cloud = smc.moved(cloud, rng)
    rewards = np.empty((draws, count, WATCHED))
    log_truth = np.empty((draws, count))
    began = time.process_time()
    for n in range(draws):
        cloud = smc.moved(cloud, rng)
        rewards[n], log_truth[n] = cloud.rewards[:, :WATCHED], cloud.log_truth
    spent = time.process_time() - began
    fours = rewards.transpose(2, 1, 0).reshape(WATCHED, FOURS, 4, draws)
    rhats = [max(array_stats.rhat(chains[f]) for chains in fours) for f in range(FOURS)]
    samples = sum(min(array_stats.ess(chains[f]) for chains in fours) for f in range(FOURS))
    weights = np.exp(log_truth.ravel() - log_truth.max())
    efficiency = weights.sum() ** 2 / (weights**2).sum() / weights.size
    cost = 1000.0 * spent / (samples * efficiency)
    return Mixing(float(np.median(rhats)), float(max(rhats)), cost, float(efficiency))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4000, help="sweeps per chain (default 4000)")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[20, 100])
    draws = parser.parse_args().draws
    table = Table(title="Mixing of the moves: four over-dispersed chains, worst of 50 rewards")
    for name in ("prior", "d", "t", "data", "R-hat", "worst", "ms / sample", "weights"):
        table.add_column(name, justify="right")
    console = Console()
    for family in (Subset, SpikeSlab):
        for d in parser.parse_args().dimensions:
            bandit = paper_instance(d, seed=0)
            posterior = family(d, sparsity=d // 10, radius=10.0, noise=1.0)
            for data, gather in (("random", random_evidence), ("chosen", chosen_evidence)):
                for rounds in (50, 200, 1000):
                    evidence = gather(bandit, rounds, seed=0)
                    rate = balanced(Progress(rounds, d, d / 10))
                    target = Target.of(evidence, posterior.prior(evidence), 1.0, rate)
                    result = measure(target, bandit.theta, draws, seed=0)
                    row = (
                        family.__name__, d, rounds, data, f"{result.rhat_median:.4f}",
                        f"{result.rhat_worst:.4f}", f"{result.milliseconds:.3f}",
                        f"{result.efficiency:.2f}",
                    )  # fmt: skip
                    table.add_row(*map(str, row))
                    console.log(*row)
    console.print(table)


if __name__ == "__main__":
    main()
