"""Each kernel's time against its floor: what the machine needs for the data alone.

The floor is one compiled pass over as many numbers as a kernel must touch: a plain sum of those it
reads, zeros written in place of those it makes. For rewards there is a second yardstick, the BLAS
product of parameters and actions. Kernel and floor take turns, in one thread, and the fastest turn
of each counts, since other work on the machine can only make them slower.
"""

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from soids.arrays import Floats
from soids.bandits import paper_instance
from soids.bench.problems import NOISE, RADIUS, random_evidence
from soids.information import appraise, minimise_ratio
from soids.kernels import sparse
from soids.kernels.closeness import closeness
from soids.kernels.density import fits, optimism
from soids.kernels.floor import read_and_write
from soids.kernels.rewards import all_rewards
from soids.kernels.rows import one_thread
from soids.kernels.weights import normalised
from soids.posteriors import Subset, Tuning
from soids.posteriors.arms import Arms, promising
from soids.posteriors.luck import luck_for
from soids.posteriors.target import Target
from soids.rates import Progress, balanced

DIMENSION, SPARSITY, PARTICLES = 100, 10, 100
REWARDS = 200  # of actions drawn at random


class Task(NamedTuple):
    """A kernel at work, and what it must touch."""

    kernel: str
    run: Callable[[], object]
    seen: int  # actions
    reads: tuple[NDArray[Any], ...]
    writes: tuple[Floats, ...]
    product: Floats | None = None  # actions (d, C) whose rewards it makes


class Limit(NamedTuple):
    """A kernel's time beside its floor."""

    kernel: str
    dimension: int
    actions: int
    particles: int
    seen: int  # actions that the kernel works on: of very many, moves see the promising ones
    megabytes: float  # that it must touch
    milliseconds: float  # of CPU time
    floor: float  # milliseconds of one pass
    ratio: float  # kernel over floor
    product: float  # milliseconds of the BLAS product, where rewards are made
    product_ratio: float


class Stand(NamedTuple):
    """A cloud of particles on a problem, and what the kernels need of both."""

    thetas: Floats  # (M, d)
    weights: Floats  # (M,)
    radii: Floats  # (M,)
    target: Target


def stand(actions: int, seed: int = 0) -> Stand:
    """The cloud that some random rewards of the paper's environment leave."""
    bandit = paper_instance(DIMENSION, seed, sparsity=SPARSITY, radius=RADIUS, actions=actions)
    evidence = random_evidence(bandit, REWARDS, seed)
    posterior = Subset(DIMENSION, SPARSITY, RADIUS, NOISE)
    rate = balanced(Progress(REWARDS, DIMENSION, SPARSITY))
    rng = np.random.default_rng(seed)
    cloud = posterior.update(None, evidence, Tuning(1.0, rate, PARTICLES, 2), rng)
    target = Target.of(evidence, posterior.prior(evidence), 1.0, rate)
    weights = normalised(cloud.log_weights)
    return Stand(cloud.thetas, weights, np.full(PARTICLES, RADIUS), target)


def tasks(given: Stand, rng: np.random.Generator) -> list[Task]:
    """Every kernel of a decision on the same cloud."""
    thetas, weights, radii, target = given
    gram = target.gram.all_rows()
    rewards = all_rewards(thetas, target.columns)
    arms = promising(target, rewards)
    tempting = arms.of(rewards)
    regret, gain = appraise(rewards, weights)
    sums = np.empty((2, len(thetas)))
    luck = luck_for(given.thetas, target, sparse.CLOUD, rng)
    stage = stage_of(target, arms)
    powers = np.full(len(thetas), NOISE**-2)
    found = [
        Task(
            "sweep",
            lambda: sparse.sweep(thetas, tempting, radii, powers, stage, luck),
            tempting.shape[1],
            (thetas, tempting, gram.rows, arms.columns, *luck),
            (thetas.copy(), tempting.copy()),
            product=arms.columns,
        ),
        Task(
            "all_rewards",
            lambda: all_rewards(thetas, target.columns),
            rewards.shape[1],
            (thetas, target.columns),
            (rewards.copy(),),
            product=target.columns,
        ),
        Task(
            "optimism",
            lambda: optimism(tempting, arms.starts, target.tilts),
            tempting.shape[1],
            (tempting,),
            (sums,),
        ),
        Task(
            "fits",
            lambda: fits(thetas, gram, target.moment, target.drift),
            0,
            (thetas, gram.rows, target.moment, target.drift),
            (sums,),
        ),
        Task(
            "appraise",
            lambda: appraise(rewards, weights),
            rewards.shape[1],
            (rewards, weights),
            (regret.copy(), gain.copy()),
        ),
        Task(
            "minimise_ratio",
            lambda: minimise_ratio(regret, gain),
            rewards.shape[1],
            (regret, gain),
            (),
        ),
    ]
    if arms.indices is not None:
        found.append(
            Task(
                "closeness",
                lambda: closeness(rewards, 0, len(regret)),
                rewards.shape[1],
                (rewards,),
                (regret.copy(),),
            )
        )
    return found


def stage_of(target: Target, arms: Arms) -> sparse.Stage:
    """A target as the sweep sees it."""
    prior = target.prior
    return sparse.Stage(
        target.gram.all_rows(), target.moment, target.drift, arms.columns, arms.starts,
        target.tilts, prior.log_odds, prior.smallest, prior.slab_precision, prior.uniform_in_ball,
        prior.lean,
    )  # fmt: skip


def measure_limits(actions: int, turns: int, seconds: float) -> Iterator[Limit]:
    """All kernels beside their floors, each timed in so many turns of at least so long."""
    with one_thread():
        given = stand(actions)
        problem = DIMENSION, actions, PARTICLES
        for task in tasks(given, np.random.default_rng(1)):
            rivals: list[Callable[[], object]] = [task.run, one_pass(task)]
            if task.product is not None:
                rivals.append(partial(np.matmul, given.thetas, task.product))
            spent = fastest(rivals, turns, seconds)
            own, floor, product = (*spent, math.nan)[:3]
            touched = sum(array.nbytes for array in (*task.reads, *task.writes))
            yield Limit(
                task.kernel, *problem, task.seen, touched / 2**20,
                own, floor, own / floor, product, own / product,
            )  # fmt: skip


def one_pass(task: Task) -> Callable[[], object]:
    """Touch as much as a kernel must touch, once."""
    read, written = (
        np.concatenate([np.empty(0), *(array.ravel() for array in arrays)])
        for arrays in (task.reads, task.writes)
    )
    return partial(read_and_write, read, written)


def fastest(rivals: list[Callable[[], object]], turns: int, seconds: float) -> list[float]:
    """Milliseconds of CPU time of each task, by the fastest of its turns."""
    counts = [repeats(rival, seconds) for rival in rivals]
    best = [math.inf] * len(rivals)
    for _ in range(turns):
        for place, (rival, count) in enumerate(zip(rivals, counts, strict=True)):
            best[place] = min(best[place], 1e3 * lasting(rival, count) / count)
    return best


def repeats(task: Callable[[], object], seconds: float) -> int:
    """How often a task is to be done so that it takes so long; it has been compiled then."""
    task()
    count = 1
    while (spent := lasting(task, count)) < seconds:
        count = max(2 * count, math.ceil(count * seconds / max(spent, 1e-9)))
        if count > 1_000_000:
            break
    return count


def lasting(task: Callable[[], object], count: int) -> float:
    """Seconds of CPU time of a task done so often."""
    began = time.process_time()
    for _ in range(count):
        task()
    return time.process_time() - began
