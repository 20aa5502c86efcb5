"""What the paper's sampler costs: its distance from the exact posterior, its time, its regret.

Evidence: rewards of random actions; and of actions that SOIDS chose, without optimism, because with
it the relaxed posterior runs away there, and even large exact clouds disagree. Reference: a large
cloud of ``relaxed``; a second one shows how far it can be trusted. Everything else starts from
nothing. Distances: of the posterior mean, over the norm of the standard deviations; of inclusion,
the largest. Surrogate regret and gain are averages over actions, over the exact ones. "Top" is the
variance along the direction that the data know best, over the exact one.
"""

import argparse
import time
import warnings
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from soids import SOIDS, SparseLinearBandit, paper_instance, play
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.information import half_variance, shortfall
from soids.posteriors import Belief, Langevin, Relaxed, Subset, Tuning
from soids.rates import Progress, experiment

ETA = 0.5
CLOUDS = 3  # of 100 particles each
SAMPLERS = {
    "relaxed": Relaxed,
    "langevin": Langevin,
    "langevin, adaptive": partial(Langevin, adapts=True),
    "langevin, preconditioned": partial(Langevin, preconditioned=True),
}


class Summary(NamedTuple):
    """What decisions depend on."""

    mean: Floats  # (d,)
    deviation: Floats  # (d,)
    inclusion: Floats  # (d,)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    top: float  # variance along the direction the data know best


def summary(beliefs: list[Belief], bandit: SparseLinearBandit, axis: Floats) -> Summary:
    """Averages over independent clouds."""

    def of_one(belief: Belief) -> list[Any]:
        thetas, included, weights = belief.particles()
        rewards = thetas @ bandit.actions.T
        return [
            weights @ thetas, weights @ thetas**2, weights @ included,
            shortfall(rewards, weights), half_variance(rewards, weights),
            2.0 * half_variance((thetas @ axis)[:, None], weights)[0],
        ]  # fmt: skip

    parts = [np.mean(values, axis=0) for values in zip(*map(of_one, beliefs), strict=True)]
    mean, square, *rest = parts
    return Summary(mean, np.sqrt(np.maximum(square - mean**2, 0.0)), *rest)


def distances(found: Summary, exact: Summary) -> list[str]:
    """Of means and inclusion; and the ratios of regret, gain and the smallest variance."""
    mean = np.linalg.norm(found.mean - exact.mean) / np.linalg.norm(exact.deviation)
    inclusion = np.abs(found.inclusion - exact.inclusion).max()
    ratios = (
        found.regret.mean() / exact.regret.mean(), found.gain.mean() / exact.gain.mean(),
        found.top / exact.top,
    )  # fmt: skip
    return [f"{x:.2f}" for x in (mean, inclusion, *ratios)]


def told(dimension: int) -> dict[str, Any]:
    return {"sparsity": dimension // 10, "noise": 1.0}


def random_evidence(bandit: SparseLinearBandit, rounds: int) -> Evidence:
    """Rewards of actions drawn at random."""
    rng = np.random.default_rng(0)
    evidence, menu = Evidence.empty(bandit.theta.size), Menu(bandit.actions)
    for index in rng.integers(len(bandit.actions), size=rounds):
        reward = float(bandit.means[index] + bandit.noise * rng.standard_normal())
        evidence = evidence.add(menu, bandit.actions[index], reward)
    return evidence


def chosen_evidence(bandit: SparseLinearBandit, rounds: int) -> Evidence:
    """Rewards of actions that SOIDS chose by the paper's settings and the theory's prior."""
    d = bandit.theta.size
    policy = SOIDS(d, **told(d), radius=10.0, rate="experiment", eta=ETA)
    play(bandit, policy, rounds, seed=0)
    return policy.ledger.evidence


def distance_table(dimension: int, console: Console) -> None:
    """Distances from the exact posterior after some sweeps from scratch, and time a sweep."""
    table = Table(title=f"Distance from the exact posterior, d = {dimension}")
    columns = ("data", "t", "sampler", "sweeps", "mean", "inclusion", "regret", "gain", "top")
    for name in (*columns, "ms a sweep"):
        table.add_column(name, justify="right")
    bandit = paper_instance(dimension, seed=0)
    gathered = (("random", random_evidence, 1.0), ("chosen", chosen_evidence, 0.0))
    for (data, gather, optimism), rounds in product(gathered, (50, 200, 1000)):
        evidence = gather(bandit, rounds)
        axis = np.linalg.eigh(evidence.gram)[1][:, -1]
        rate = optimism * experiment(Progress(rounds, dimension, dimension / 10))
        relaxed, large = Relaxed(dimension, **told(dimension)), Tuning(ETA, rate, 1000, 8)
        exact, again = (
            summary(
                [relaxed.update(None, evidence, large, np.random.default_rng(seed))], bandit, axis
            )
            for seed in range(2)
        )
        table.add_row(data, str(rounds), "reference, again", "8", *distances(again, exact), "")
        for name, family in SAMPLERS.items():
            posterior = family(dimension, **told(dimension))
            rng = np.random.default_rng(2)
            clouds: list[Any] = [None] * CLOUDS
            done = 0
            for sweeps in (1, 100):
                began = time.perf_counter()
                tuning = Tuning(ETA, rate, 100, sweeps - done)
                clouds = [posterior.update(cloud, evidence, tuning, rng) for cloud in clouds]
                spent = (time.perf_counter() - began) / CLOUDS / (sweeps - done)
                pace = f"{1000 * spent:.1f}" if done else ""  # the first one burns in, or compiles
                row = distances(summary(clouds, bandit, axis), exact)
                table.add_row(data, str(rounds), name, str(sweeps), *row, pace)
                done = sweeps
    console.print(table)


def regret_table(dimension: int, horizon: int, seeds: range, console: Console) -> None:
    """Regret of SOIDS by the paper's settings with each sampler, and time a decision."""
    span = f"seeds {seeds[0]} to {seeds[-1]}"
    table = Table(title=f"Regret of SOIDS, d = {dimension}, T = {horizon}, {span}")
    for name in ("posterior", "regret", "sd", "worst", "ms a decision"):
        table.add_column(name, justify="right")
    for name, family in {"subset": partial(Subset, radius=10.0), **SAMPLERS}.items():
        regrets, began = [], time.perf_counter()
        for seed in seeds:
            posterior = family(dimension, **told(dimension))
            policy = SOIDS(dimension, posterior=posterior, rate="experiment", eta=ETA)
            bandit = paper_instance(dimension, seed)
            regrets.append(play(bandit, policy, horizon, seed).regret.sum())
        spent = (time.perf_counter() - began) / (len(seeds) * horizon)
        numbers = np.mean(regrets), np.std(regrets, ddof=1), max(regrets)
        table.add_row(name, *(f"{x:.0f}" for x in numbers), f"{1000 * spent:.1f}")
    console.print(table)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    warnings.filterwarnings("ignore", ".*relaxed posterior", RuntimeWarning)
    console = Console(width=110)
    distance_table(chosen.dimension, console)
    for first in (0, 10):  # some settings were chosen by a look at seeds 0 to 4
        seeds = range(first, first + chosen.seeds)
        regret_table(chosen.dimension, chosen.horizon, seeds, console)


if __name__ == "__main__":
    main()
