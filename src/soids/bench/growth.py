"""Time and memory of a decision as one size at a time grows, and the exponents they grow with.

Every point is measured in a process of its own, so that neither memory nor compilation of one is
in another. There SOIDS, told sparsity, radius and noise, plays the paper's environment with at most
ten coefficients: some rounds that only settle it, then those that count. Particles move in some
rounds only, so only a mean over many of them says anything; small points are played several times.
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

from soids.arrays import Floats
from soids.bandits import SparseLinearBandit, paper_instance
from soids.evidence import Evidence, Menu
from soids.gram import SMALL, Gram
from soids.kernels.rows import one_thread
from soids.policies.soids import SOIDS
from soids.posteriors.arms import MOST

RADIUS, NOISE, SPARSITY = 10.0, 1.0, 10
RANKS = 0.02  # of the actions whose rewards are in already: geometric, the best first


class Size(NamedTuple):
    """How large a problem is, in all that a decision can depend on."""

    dimension: int = 100
    actions: int = 200
    particles: int = 100
    rewards: int = 0  # that are in before the first decision


class Axis(NamedTuple):
    """One number that grows while all others stay."""

    symbol: str
    what: str  # a field of Size
    values: tuple[int, ...]
    quick: tuple[int, ...]
    beyond: int  # values above it make the fit
    base: Size

    def sizes(self, quick: bool) -> list[Size]:
        """The problems along the axis, the smallest first."""
        values = self.quick if quick else self.values
        return [self.base._replace(**{self.what: value}) for value in values]


AXES = {
    axis.what: axis
    for axis in (
        Axis(
            "d", "dimension", (20, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
            (20, 100, 250, 400, 600), 200, Size(actions=1_000),
        ),
        Axis(
            "K", "actions", (20, 100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
            (20, 200, 1_500, 3_000, 6_000), 1_000, Size(),
        ),
        Axis(
            "M", "particles", (20, 50, 100, 200, 400, 800, 1_600),
            (20, 50, 100, 200, 400), 50, Size(),
        ),
        Axis(
            "t", "rewards", (100, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
            (100, 1_000, 10_000, 100_000), 100, Size(),
        ),
    )
}  # fmt: skip


class Effort(NamedTuple):
    """How long each point is played."""

    settling: int  # rounds that do not count
    decisions: int  # that do
    runs: int  # at most, each with a seed of its own
    seconds: float  # of CPU time, after which no other run begins


class Point(NamedTuple):
    """What a decision took at one size, choosing and observing."""

    axis: str
    size: int  # along the axis
    dimension: int
    actions: int
    particles: int
    rewards: int
    runs: int
    decisions: int  # that counted, in each run
    milliseconds: float  # of CPU time, mean of those that counted
    error: float  # its standard error over the runs
    settling: float  # milliseconds, mean of the rounds before
    megabytes: float  # most memory at any time beyond what there was before the policy
    process: float  # megabytes, most memory of the whole process


class Fit(NamedTuple):
    """A power law along an axis: quantity = scale * size**exponent."""

    axis: str
    quantity: str  # a field of Point
    beyond: int
    points: int
    exponent: float
    error: float  # standard error of the exponent
    scale: float

    def in_words(self) -> str:
        """The exponent and, where there is one, its standard error.

        >>> Fit("rewards", "milliseconds", 100, 7, -0.001, 0.02, 1.0).in_words()
        '0.00 ± 0.02'
        >>> Fit("rewards", "milliseconds", 100, 7, -0.02, 0.01, 1.0).in_words()
        '−0.02 ± 0.01'
        """
        error = "" if math.isnan(self.error) else f" ± {self.error:.2f}"
        return f"{self.exponent:z.2f}{error}".replace("-", "−")


# One point


def measure(axis: str, size: Size, effort: Effort) -> Point:
    """Play at one size, here and now, in one thread."""
    with one_thread():
        warm_up(size)
        times: list[Floats] = []
        grown, most = 0.0, 0.0
        began = time.process_time()
        while len(times) < effort.runs:
            if times and time.process_time() - began > effort.seconds:
                break
            rng = np.random.default_rng(len(times))
            bandit = posed(size, seed=len(times))
            evidence = known(bandit, size.rewards, rng)
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


def posed(size: Size, seed: int) -> SparseLinearBandit:
    """The paper's environment with d / 10 coefficients, ten at most."""
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
    """Seconds of CPU time of each decision, its reward included."""
    sparsity = bandit.truth["sparsity"]
    policy = SOIDS(
        len(bandit.theta), sparsity=sparsity, radius=RADIUS, noise=NOISE, particles=particles
    )
    policy.ledger.evidence = evidence
    means, luck = bandit.means, NOISE * rng.standard_normal(rounds)
    times = np.empty(rounds)
    for n in range(rounds):
        began = time.process_time()
        decision = policy.choose(bandit.actions, rng)
        policy.observe(decision, float(means[decision.index] + luck[n]))
        times[n] = time.process_time() - began
    return times


def known(bandit: SparseLinearBandit, rewards: int, rng: np.random.Generator) -> Evidence:
    """Evidence of so many rewards, of the best actions mostly."""
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
    """Compile all that the size needs, on a small problem that takes the same paths."""
    dimension, actions = min(size.dimension, SMALL + 8), min(size.actions, MOST + 8)
    small = Size(dimension, actions, 20, min(size.rewards, 100))
    bandit, rng = posed(small, seed=0), np.random.default_rng(0)
    play(bandit, known(bandit, small.rewards, rng), small.particles, 12, rng)


def peak_megabytes() -> float:
    """The most memory that this process has had, if the system says."""
    if sys.platform == "linux":  # its ru_maxrss begins with that of the parent
        status = Path("/proc/self/status").read_text()
        return float(status.partition("VmHWM:")[2].split()[0]) / 2**10
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return math.nan


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


# Many points


def measure_apart(axis: str, size: Size, effort: Effort) -> Point:
    """Play at one size in a process of its own; MemoryError if it was ended from outside."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        try:
            return pool.submit(measure, axis, size, effort).result()
        except BrokenProcessPool:
            raise MemoryError(
                f"{axis} {getattr(size, axis):,}: the process was ended from outside, most likely "
                "for lack of memory; this point is left out"
            ) from None


def measure_axes(
    names: Iterable[str], effort: Effort, *, quick: bool, aside: Callable[[str], None]
) -> Iterator[Point]:
    """All points of some axes in turn; what cannot be measured is told aside."""
    for name in names:
        for size in AXES[name].sizes(quick):
            try:
                yield measure_apart(name, size, effort)
            except MemoryError as error:
                aside(str(error))


# Exponents


QUANTITIES = ("milliseconds", "megabytes")


def fits(points: Iterable[Point]) -> Iterator[Fit]:
    """The power laws of time and memory along each axis, as far as there are points for them."""
    found = list(points)
    for axis in dict.fromkeys(point.axis for point in found):
        upper = [one for one in found if one.axis == axis and one.size > AXES[axis].beyond]
        for quantity in QUANTITIES:
            values = np.array([getattr(one, quantity) for one in upper], dtype=np.float64)
            if len(upper) > 1 and (values > 0.0).all():
                sizes = np.array([one.size for one in upper], dtype=np.float64)
                law = power_law(sizes, values)
                yield Fit(axis, quantity, AXES[axis].beyond, len(upper), *law)


def power_law(sizes: Floats, values: Floats) -> tuple[float, float, float]:
    """Exponent, its standard error and scale, by least squares on the logarithms.

    >>> exponent, error, scale = power_law(np.array([1.0, 10.0, 100.0]), np.array([2.0, 6.0, 20.0]))
    >>> round(exponent, 3), round(error, 3), round(scale, 3)
    (0.5, 0.013, 1.965)
    """
    x, y = np.log(sizes), np.log(values)
    off = x - x.mean()
    exponent = float(off @ y / (off @ off))
    height = float(y.mean() - exponent * x.mean())
    left = y - height - exponent * x
    spare = len(x) - 2
    error = math.sqrt(float(left @ left) / spare / float(off @ off)) if spare else math.nan
    return exponent, error, math.exp(height)
