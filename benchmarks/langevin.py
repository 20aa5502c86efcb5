"""``langevin``: the paper's sampler beside the exact posterior: distance, time and regret.

The evidence is rewards of random actions, or of actions that SOIDS chose. For the latter there is
no optimism, because with it the relaxed posterior diverges, and even large exact particle systems
disagree. The reference is a large particle system of ``relaxed``; a second one shows how exact it
is. All others start from the prior. Columns:

    mean         distance of posterior means over the norm of the standard deviations
    inclusion    largest difference of inclusion probabilities
    regret, gain mean surrogate regret and gain over those of the reference
    top          variance along the direction that the data determine best, over the reference's
"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.problems import random_evidence
from soids import SOIDS, SparseLinearBandit, paper_instance, play
from soids.arrays import Floats
from soids.evidence import Evidence
from soids.information import half_variance, shortfall
from soids.posteriors import Belief, Langevin, Relaxed, Subset, Tuning
from soids.rates import Progress, experiment

ETA = 0.5
CLOUDS = 3  # particle systems of 100 particles each
SAMPLERS: dict[str, Callable[..., Any]] = {
    "relaxed": Relaxed,
    "langevin": Langevin,
    "langevin, adaptive": partial(Langevin, adapts=True),
    "langevin, preconditioned": partial(Langevin, preconditioned=True),
}


class Summary(NamedTuple):
    """The moments that decisions depend on."""

    mean: Floats  # (d,)
    deviation: Floats  # (d,)
    inclusion: Floats  # (d,)
    regret: Floats  # (K,)
    gain: Floats  # (K,)
    top: float  # variance along the direction that the data determine best


def summary(beliefs: list[Belief], bandit: SparseLinearBandit, axis: Floats) -> Summary:
    """Averages over independent particle systems."""

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
    """Distances of means and of inclusion; ratios of regret, gain and the smallest variance."""
    mean = np.linalg.norm(found.mean - exact.mean) / np.linalg.norm(exact.deviation)
    inclusion = np.abs(found.inclusion - exact.inclusion).max()
    ratios = (
        found.regret.mean() / exact.regret.mean(), found.gain.mean() / exact.gain.mean(),
        found.top / exact.top,
    )  # fmt: skip
    return [f"{x:.2f}" for x in (mean, inclusion, *ratios)]


def known(dimension: int) -> dict[str, Any]:
    return {"sparsity": dimension // 10, "noise": 1.0}


def chosen_evidence(bandit: SparseLinearBandit, rounds: int, seed: int) -> Evidence:
    """Rewards of actions that SOIDS chose by the paper's settings and the subset prior."""
    d = bandit.theta.size
    policy = SOIDS(d, **known(d), radius=10.0, rate="experiment", eta=ETA)
    play(bandit, policy, rounds, seed)
    return policy.evidence


def distance_table(dimension: int, console: Console) -> None:
    """Distances from the exact posterior after some sweeps from the prior, and time of a sweep."""
    table = Table(title=f"Distance from the exact posterior, d = {dimension}")
    columns = ("data", "t", "sampler", "sweeps", "mean", "inclusion", "regret", "gain", "top")
    for name in (*columns, "ms a sweep"):
        table.add_column(name, justify="right")
    bandit = paper_instance(dimension, seed=0)
    gathered = (("random", random_evidence, 1.0), ("chosen", chosen_evidence, 0.0))
    for (data, gather, optimism), rounds in product(gathered, (50, 200, 1000)):
        evidence = gather(bandit, rounds, 0)
        axis = np.linalg.eigh(evidence.gram)[1][:, -1]
        rate = optimism * experiment(Progress(rounds, dimension, dimension / 10))
        relaxed, large = Relaxed(dimension, **known(dimension)), Tuning(ETA, rate, 1000, 8)
        exact, again = (
            summary(
                [relaxed.update(None, evidence, large, np.random.default_rng(seed))], bandit, axis
            )
            for seed in range(2)
        )
        table.add_row(data, str(rounds), "reference, again", "8", *distances(again, exact), "")
        for name, family in SAMPLERS.items():
            posterior = family(dimension, **known(dimension))
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
    """Regret of SOIDS by the paper's settings with each sampler, and time of a decision."""
    span = f"seeds {seeds[0]} to {seeds[-1]}"
    table = Table(title=f"Regret of SOIDS, d = {dimension}, T = {horizon}, {span}")
    for name in ("posterior", "regret", "sd", "worst", "ms a decision"):
        table.add_column(name, justify="right")
    families: dict[str, Callable[..., Any]] = {"subset": partial(Subset, radius=10.0), **SAMPLERS}
    for name, family in families.items():
        regrets, began = [], time.perf_counter()
        for seed in seeds:
            posterior = family(dimension, **known(dimension))
            policy = SOIDS(dimension, posterior=posterior, rate="experiment", eta=ETA)
            bandit = paper_instance(dimension, seed)
            regrets.append(play(bandit, policy, horizon, seed).regret.sum())
        spent = (time.perf_counter() - began) / (len(seeds) * horizon)
        numbers = np.mean(regrets), np.std(regrets, ddof=1), max(regrets)
        table.add_row(name, *(f"{x:.0f}" for x in numbers), f"{1000 * spent:.1f}")
    console.print(table)


@click.command()
@click.option(
    "--dimension", type=click.IntRange(min=10), default=20, show_default=True,
    help="Dimension of the paper's instance.",
)  # fmt: skip
@click.option(
    "--horizon", type=click.IntRange(min=1), default=300, show_default=True,
    help="Number of rounds of the runs that measure regret.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(min=2, max=10), default=5, show_default=True,
    help="Number of seeds from 0 on, and as many from 10 on.",
)  # fmt: skip
def langevin(dimension: int, horizon: int, seeds: int) -> None:
    """Compare the paper's Langevin sampler with the exact posterior. Measured are the distance
    between the two, the time of a sweep, and the regret of SOIDS with each sampler.
    """
    console = Console(width=110)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*relaxed posterior", RuntimeWarning)
        distance_table(dimension, console)
        for first in (0, 10):  # some settings were chosen on seeds 0 to 4
            regret_table(dimension, horizon, range(first, first + seeds), console)
