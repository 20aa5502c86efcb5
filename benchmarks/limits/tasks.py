"""Every kernel of a decision on the same particles, and the data that it must touch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import NOISE, RADIUS, random_evidence
from soids.arrays import Floats
from soids.bandits import paper_instance
from soids.information import appraise, minimise_ratio
from soids.kernels.density import fits, optimism
from soids.kernels.moves import sweep
from soids.kernels.rewards import all_rewards, closeness
from soids.kernels.weights import normalised
from soids.posteriors import Subset, Tuning
from soids.posteriors.arms import promising
from soids.posteriors.randomness import random_numbers
from soids.posteriors.target import Target
from soids.rates import Progress, balanced

DIMENSION, SPARSITY, PARTICLES = 100, 10, 100
REWARDS = 200  # of random actions


class Task(NamedTuple):
    """A call of a kernel, and the data that it must touch."""

    kernel: str
    run: Callable[[], object]
    seen: int  # number of actions
    reads: tuple[NDArray[Any], ...]
    writes: tuple[Floats, ...]
    product: Floats | None = None  # actions (d, C) whose rewards it computes


class Setup(NamedTuple):
    """Particles on a problem, and what the kernels need of both."""

    thetas: Floats  # (M, d)
    weights: Floats  # (M,)
    radii: Floats  # (M,)
    target: Target


def setup(actions: int, seed: int = 0) -> Setup:
    """Particles of the posterior, given rewards of random actions in the paper's environment."""
    bandit = paper_instance(DIMENSION, seed, sparsity=SPARSITY, radius=RADIUS, actions=actions)
    evidence = random_evidence(bandit, REWARDS, seed)
    posterior = Subset(DIMENSION, SPARSITY, RADIUS, NOISE)
    rate = balanced(Progress(REWARDS, DIMENSION, SPARSITY))
    rng = np.random.default_rng(seed)
    cloud = posterior.update(None, evidence, Tuning(1.0, rate, PARTICLES, 2), rng)
    target = Target.of(evidence, posterior.prior(evidence), 1.0, rate)
    weights = normalised(cloud.log_weights)
    return Setup(cloud.thetas, weights, np.full(PARTICLES, RADIUS), target)


def tasks(given: Setup, rng: np.random.Generator) -> list[Task]:
    """Every kernel of a decision on the same particles."""
    thetas, weights, radii, target = given
    gram = target.gram.all_rows()
    rewards = all_rewards(thetas, target.columns)
    arms = promising(target, rewards)
    tempting = arms.of(rewards)
    regret, gain = appraise(rewards, weights)
    sums = np.empty((2, len(thetas)))
    numbers = random_numbers(given.thetas, target, sweep.PARTICLES, rng)
    arrays = target.arrays(gram, arms.columns, arms.starts)
    powers = np.full(len(thetas), NOISE**-2)
    swept = thetas, tempting, radii, powers, arrays, numbers, sweep.PARTICLES
    seen, everything = tempting.shape[1], rewards.shape[1]
    found = [
        Task(
            "sweep", lambda: sweep.sweep(*swept), seen,
            (thetas, tempting, gram.rows, arms.columns, *numbers), (thetas.copy(), tempting.copy()),
            product=arms.columns,
        ),
        Task(
            "all_rewards", lambda: all_rewards(thetas, target.columns), everything,
            (thetas, target.columns), (rewards.copy(),), product=target.columns,
        ),
        Task(
            "optimism", lambda: optimism(tempting, arms.starts, target.tilts), seen,
            (tempting,), (sums,),
        ),
        Task(
            "fits", lambda: fits(thetas, gram, target.moment, target.drift), 0,
            (thetas, gram.rows, target.moment, target.drift), (sums,),
        ),
        Task(
            "appraise", lambda: appraise(rewards, weights), everything,
            (rewards, weights), (regret.copy(), gain.copy()),
        ),
        Task(
            "minimise_ratio", lambda: minimise_ratio(regret, gain), everything,
            (regret, gain), (),
        ),
    ]  # fmt: skip
    if arms.indices is not None:
        found.append(
            Task(
                "closeness", lambda: closeness(rewards, 0, len(regret)), everything,
                (rewards,), (regret.copy(),),
            )
        )  # fmt: skip
    return found
