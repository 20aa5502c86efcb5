"""Do the moves mix? R-hat over over-dispersed chains, and CPU time per effective sample.

Chains start from draws of the subset prior, which is far wider than any of these posteriors. Every
four chains give one R-hat (rank-normalised, the worst of fifty rewards); the table shows the median
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
from soids.rates import Progress, Rate, balanced, experiment

FOURS = 5
RADIUS = 10.0
WATCHED = 50  # rewards whose chains are judged


class Settings(NamedTuple):
    """What makes the posterior optimistic."""

    eta: float
    rate: Rate


SETTINGS = {"default": Settings(1.0, balanced), "paper": Settings(0.5, experiment)}


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
    policy = SOIDS(d, sparsity=d // 10, radius=RADIUS, noise=1.0)
    play(bandit, policy, rounds, seed)
    return policy.memory.evidence


def measure(target: Target, draws: int, seed: int) -> Mixing:
    """Run four times ``FOURS`` chains side by side."""
    rng = np.random.default_rng(seed)
    dimension = len(target.moment)
    wide = Subset(dimension, dimension // 10, RADIUS, 1.0).prior(Evidence.empty(dimension))
    radii, variances = np.full(4 * FOURS, RADIUS), np.ones(4 * FOURS)
    thetas = smc.uniform_in_balls(wide, radii, dimension, rng)
    cloud = smc.placed(target, thetas, thetas != 0.0, radii, variances)
    for _ in range(draws // 4):
        cloud = smc.moved(cloud, rng)
    rewards = np.empty((draws, 4 * FOURS, WATCHED))
    log_truth = np.empty((draws, 4 * FOURS))
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
    parser.add_argument("--draws", type=int, default=3000, help="sweeps per chain (default 3000)")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--settings", choices=SETTINGS, default="paper")
    chosen = parser.parse_args()
    draws, settings = chosen.draws, chosen.settings
    table = Table(title=f"Mixing, {settings} settings: four over-dispersed chains, 50 rewards")
    for name in ("prior", "d", "t", "data", "R-hat", "worst", "ms / sample", "weights"):
        table.add_column(name, justify="right")
    console = Console()
    for family in (Subset, SpikeSlab):
        for d in chosen.dimensions:
            bandit = paper_instance(d, seed=0)
            posterior = family(d, sparsity=d // 10, radius=RADIUS, noise=1.0)
            for data, gather in (("random", random_evidence), ("chosen", chosen_evidence)):
                for rounds in (50, 200, 1000):
                    evidence = gather(bandit, rounds, seed=0)
                    rate = SETTINGS[settings].rate(Progress(rounds, d, d / 10))
                    eta = SETTINGS[settings].eta
                    target = Target.of(evidence, posterior.prior(evidence), eta, rate)
                    # Where data are few the posterior is wide and every draw worth less.
                    result = measure(target, draws * (3 if rounds == 50 else 1), seed=0)
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
