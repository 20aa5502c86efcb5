"""Time and memory of a decision at one size.

Every point is measured in a process of its own, so that memory and compilation of one do not enter
another. SOIDS knows sparsity, radius and noise, and plays the paper's environment with at most ten
coefficients: first some rounds that do not count, then those that do. Particles move in some rounds
only, so only a mean over many rounds has a meaning; small points are played several times.
"""

import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.growth.sizes import AXES, Size
from soids.arrays import Floats
from soids.bandits import SparseLinearBandit, paper_instance
from soids.evidence import Evidence, Menu
from soids.gram import SMALL, Gram
from soids.kernels.threads import one_thread
from soids.policies.soids import SOIDS
from soids.posteriors.arms import MOST

RADIUS, NOISE, SPARSITY = 10.0, 1.0, 10
RANKS = 0.02  # success probability of the geometric law of the ranks of rewarded actions


class Effort(NamedTuple):
    """The number of rounds and of runs at each point."""

    settling: int  # rounds that do not count
    decisions: int  # rounds that count
    runs: int  # at most, each with its own seed
    seconds: float  # of CPU time, after which no other run begins


class Point(NamedTuple):
    """Time and memory of a decision, `choose` and `observe`, at one size."""

    axis: str
    size: int  # along the axis
    dimension: int
    actions: int
    particles: int
    rewards: int
    runs: int
    decisions: int  # that counted, in each run
    milliseconds: float  # of CPU time, mean of the decisions that counted
    error: float  # its standard error over the runs
    settling: float  # milliseconds, mean of the rounds before
    megabytes: float  # peak memory minus the memory before the policy was made
    process: float  # megabytes, peak memory of the whole process


def measure(axis: str, size: Size, effort: Effort) -> Point:
    """Play at one size in this process, in one thread."""
    with one_thread():
        warm_up(size)
        times: list[Floats] = []
        grown, most = 0.0, 0.0
        began = time.process_time()
        while len(times) < effort.runs:
            if times and time.process_time() - began > effort.seconds:
                break
            rng = np.random.default_rng(len(times))
            bandit = instance(size, seed=len(times))
            evidence = evidence_of(bandit, size.rewards, rng)
            forget_peak()
            before = peak_megabytes()
            rounds = effort.settling + effort.decisions
            times.append(play(bandit, evidence, size.particles, rounds, rng))
            peak = peak_megabytes()
            grown, most = max(grown, peak - before), max(most, peak)
            del bandit, evidence  # before others are made
    spent = 1e3 * np.array(times)  # (runs, rounds)
    counted = spent[:, effort.settling :].mean(axis=1)
    runs = len(times)
    error = float(counted.std(ddof=1)) / math.sqrt(runs) if runs > 1 else math.nan
    settling = float(spent[:, : effort.settling].mean()) if effort.settling else math.nan
    return Point(
        axis, getattr(size, axis), *size, runs, effort.decisions,
        float(counted.mean()), error, settling, grown, most,
    )  # fmt: skip


def instance(size: Size, seed: int) -> SparseLinearBandit:
    """The paper's environment with d / 10 coefficients, at most ten."""
    sparsity = min(SPARSITY, size.dimension // 10)
    return paper_instance(
        size.dimension, seed, sparsity=sparsity, radius=RADIUS, actions=size.actions, noise=NOISE
    )


def play(
    bandit: SparseLinearBandit,
    evidence: Evidence,
    particles: int,
    rounds: int,
    rng: np.random.Generator,
) -> Floats:  # (rounds,)
    """Seconds of CPU time of each decision, `choose` and `observe`."""
    sparsity = bandit.truth["sparsity"]
    policy = SOIDS(
        len(bandit.theta), sparsity=sparsity, radius=RADIUS, noise=NOISE, particles=particles
    )
    past = policy.state.past._replace(evidence=evidence)
    policy.state = policy.state._replace(past=past)
    means, noise = bandit.means, NOISE * rng.standard_normal(rounds)
    times = np.empty(rounds)
    for n in range(rounds):
        began = time.process_time()
        decision = policy.choose(bandit.actions, rng)
        policy.observe(decision, float(means[decision.index] + noise[n]))
        times[n] = time.process_time() - began
    return times


def evidence_of(bandit: SparseLinearBandit, rewards: int, rng: np.random.Generator) -> Evidence:
    """Evidence of this number of rewards, most of them of the best actions."""
    if rewards == 0:
        return Evidence.empty(len(bandit.theta))
    actions, menu = bandit.actions, Menu(bandit.actions)
    ranks = np.minimum(rng.geometric(RANKS, rewards), len(actions)) - 1
    played = np.argsort(bandit.gaps)[ranks]
    seen = bandit.means[played] + NOISE * rng.standard_normal(rewards)
    counts = np.bincount(played, minlength=len(actions)).astype(np.float64)
    sums = np.bincount(played, seen, len(actions))
    return Evidence(
        Gram.of((actions.T * counts) @ actions), actions.T @ sums, actions.T @ counts,
        float(seen @ seen), rewards, (menu,), (rewards,),
    )  # fmt: skip


def warm_up(size: Size) -> None:
    """Compile all kernels that the size needs, on a small problem that runs the same code."""
    dimension, actions = min(size.dimension, SMALL + 8), min(size.actions, MOST + 8)
    small = Size(dimension, actions, 20, min(size.rewards, 100))
    bandit, rng = instance(small, seed=0), np.random.default_rng(0)
    play(bandit, evidence_of(bandit, small.rewards, rng), small.particles, 12, rng)


def peak_megabytes() -> float:
    """The peak memory of this process; NaN where the system does not say."""
    if sys.platform == "linux":  # its ru_maxrss begins with that of the parent
        status = Path("/proc/self/status").read_text()
        return float(status.partition("VmHWM:")[2].split()[0]) / 2**10
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return math.nan


def forget_peak() -> None:
    """Reset the peak of memory, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def measure_apart(axis: str, size: Size, effort: Effort) -> Point:
    """Play at one size in a process of its own; MemoryError if that was killed."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return pool.submit(measure, axis, size, effort).result()
        except BrokenProcessPool:
            raise MemoryError(
                f"{axis} {getattr(size, axis):,}: the process was killed, most likely for lack of "
                "memory; this point is left out"
            ) from None


def measure_axes(
    names: Iterable[str], effort: Effort, *, quick: bool, aside: Callable[[str], None]
) -> Iterator[Point]:
    """All points of some axes in turn; ``aside`` is called with a message for each that failed."""
    for name in names:
        for size in AXES[name].sizes(quick):
            try:
                yield measure_apart(name, size, effort)
            except MemoryError as error:
                aside(str(error))
