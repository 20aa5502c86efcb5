"""Do the moves mix? R-hat over over-dispersed chains, and CPU time per effective sample.

Twenty chains start from draws of the subset prior, which is far wider than any of these posteriors.
They form five groups of four; each gives one R-hat (rank-normalised, the worst of fifty rewards).
Chains grow until all five are below 1.01, the first fifth of each left out: the table shows how
many sweeps that took. Effective samples count the weights that make the draws exact.
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from arviz_stats.base import array_stats
from rich.console import Console
from rich.table import Table

from soids import SOIDS, SparseLinearBandit, paper_instance, play
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.posteriors import SpikeSlab, Subset, smc
from soids.posteriors.target import Target
from soids.rates import Progress, Rate, balanced, experiment

FOURS = 5
GOOD = 1.01  # R-hat
PATIENCE = 16  # times the first number of sweeps
RADIUS = 10.0
WATCHED = 50  # rewards whose chains are judged


class Settings(NamedTuple):
    """What makes the posterior optimistic."""

    eta: float
    rate: Rate


SETTINGS = {"default": Settings(1.0, balanced), "paper": Settings(0.5, experiment)}


class Mixing(NamedTuple):
    """What a long run of many chains shows."""

    sweeps: int  # per chain
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
    return policy.ledger.evidence


class Chains(NamedTuple):
    """What is kept of some sweeps of all chains."""

    rewards: Floats  # (n, 4 * FOURS, WATCHED)
    log_truth: Floats  # (n, 4 * FOURS)


def walk(cloud: smc.Cloud, sweeps: int, rng: np.random.Generator) -> tuple[smc.Cloud, Chains]:
    """Move all chains on."""
    chains = Chains(np.empty((sweeps, 4 * FOURS, WATCHED)), np.empty((sweeps, 4 * FOURS)))
    for n in range(sweeps):
        cloud = smc.moved(cloud, rng)
        chains.rewards[n], chains.log_truth[n] = cloud.rewards[:, :WATCHED], cloud.log_truth
    return cloud, chains


def measure(target: Target, sweeps: int, seed: int) -> Mixing:
    """Run four times ``FOURS`` chains side by side until they agree, or patience ends."""
    rng = np.random.default_rng(seed)
    dimension = len(target.moment)
    wide = Subset(dimension, dimension // 10, RADIUS, 1.0).prior(Evidence.empty(dimension))
    radii, variances = np.full(4 * FOURS, RADIUS), np.ones(4 * FOURS)
    thetas = smc.uniform_in_balls(wide, radii, dimension, rng)
    cloud = smc.placed(target, thetas, thetas != 0.0, radii, variances)
    began = time.process_time()
    cloud, chains = walk(cloud, sweeps, rng)
    spent = time.process_time() - began
    longest = PATIENCE * sweeps
    while max(rhats := judged(array_stats.rhat, chains, max)) >= GOOD and sweeps < longest:
        began = time.process_time()
        cloud, more = walk(cloud, sweeps, rng)
        spent += time.process_time() - began
        chains = Chains(*map(np.concatenate, zip(chains, more, strict=True)))
        sweeps *= 2
    samples = sum(judged(array_stats.ess, chains, min)) / 0.8  # the time is that of all sweeps
    weights = np.exp(chains.log_truth - chains.log_truth.max())
    efficiency = float(weights.sum() ** 2 / (weights**2).sum() / weights.size)
    cost = 1000.0 * spent / (samples * efficiency)
    return Mixing(sweeps, float(np.median(rhats)), float(max(rhats)), cost, efficiency)


def judged(
    statistic: Callable[[Floats], float], chains: Chains, worst: Callable[[list[float]], float]
) -> list[float]:
    """The worst value of a statistic among the rewards watched, for each group of four chains."""
    kept = chains.rewards[len(chains.rewards) // 5 :]
    groups = kept.transpose(1, 2, 0).reshape(FOURS, 4, WATCHED, -1)
    return [worst([float(statistic(four[:, j])) for j in range(WATCHED)]) for four in groups]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--sweeps", type=int, default=3000, help="per chain, at first (default 3000)"
    )
    parser.add_argument("--dimensions", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--settings", choices=SETTINGS, default="paper")
    chosen = parser.parse_args()
    settings = chosen.settings
    table = Table(title=f"Mixing, {settings} settings: four over-dispersed chains, 50 rewards")
    for name in (
        "prior", "d", "t", "data", "sweeps", "R-hat", "worst", "ms / sample", "weights",
    ):  # fmt: skip
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
                    result = measure(target, chosen.sweeps, seed=0)
                    row = (
                        family.__name__, d, rounds, data, result.sweeps,
                        f"{result.rhat_median:.4f}", f"{result.rhat_worst:.4f}",
                        f"{result.milliseconds:.3f}", f"{result.efficiency:.2f}",
                    )  # fmt: skip
                    table.add_row(*map(str, row))
                    console.log(*row)
    console.print(table)


if __name__ == "__main__":
    main()
