"""Configurations of all policies, drawn at random with extreme settings and data, and played.

`python tests/support/extremes.py 0 100` plays those with seeds 0 to 99, and prints a line for each.
"""

import faulthandler
import inspect
import json
import sys
import time
import traceback
import warnings
from typing import NamedTuple

import rounding  # noqa: F401  before NumPy

# isort: split
import numpy as np
from scipy.linalg import LinAlgWarning

from members import NEEDED, WITHOUT_EVIDENCE
from soids import POLICIES
from soids.posteriors import POSTERIORS

ROUNDS = 60
LONGEST = 10.0  # seconds of the processor that a call may take
PATIENCE = 60.0  # seconds by the clock after which a call counts as a hang


class World(NamedTuple):
    """Action sets in turn, a true parameter, and what happens to rewards."""

    sets: list[np.ndarray]  # (K, d) each
    theta: np.ndarray  # (d,)
    noise: float
    outlier: float  # a reward that comes instead of the right one
    outliers: float  # how often
    lost: float  # the share of rewards that never come
    delay: int  # rounds that a reward may take


class Configuration(NamedTuple):
    policy: str
    settings: dict[str, object]
    world: World


def configuration(seed: int) -> Configuration:
    """The configuration of a seed."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(list(POLICIES)))
    dimension = int(rng.choice([1, 2, 3, 5, 8, 12, 30]))
    return Configuration(
        name, {"dimension": dimension, **settings(name, dimension, rng)}, world(dimension, rng)
    )


def settings(name: str, dimension: int, rng: np.random.Generator) -> dict[str, object]:
    """Settings of a policy: those that it needs, and others that are drawn or left out."""

    def size(low: float, high: float) -> float:
        return float(10.0 ** rng.uniform(low, high))

    def posterior() -> str:
        own = {
            "spike_slab": [f"slab_variance = {size(-8, 8)!r}", f"spread = {rng.uniform(0.05, 2)}"],
            "relaxed": [f"slab_variance = {size(-8, 8)!r}", f"spike_scale = {size(-6, 4)!r}"],
            "gaussian": [f"slab_variance = {size(-8, 8)!r}", "empirical = true"],
            "langevin": ["adapts = true", "preconditioned = true", f"step = {rng.uniform(0, 1)}"],
        }
        kind = str(rng.choice(list(POSTERIORS)))
        given = rng.choice(own[kind]) if kind in own and rng.random() < 0.5 else ""
        return f"{kind}({given})" if given else kind

    draws = {
        "sparsity": lambda: int(rng.integers(1, dimension + 1)),
        "radius": lambda: size(-4, 6), "noise": lambda: size(-6, 4),
        "eta": lambda: float(rng.choice([0.0, 1e-3, 0.25, 1.0, 4.0, 100.0])),
        "particles": lambda: int(rng.choice([2, 3, 10, 50])),
        "sweeps": lambda: int(rng.integers(1, 4)), "budget_ms": lambda: size(-2, 1),
        "discount": lambda: float(rng.choice([1e-6, 0.5, 0.9, 0.999, 1.0])),
        "intercept": lambda: bool(rng.random() < 0.5), "contexts": lambda: int(rng.integers(1, 4)),
        "sets": lambda: int(rng.choice([1, 2, 5, 128])),
        "rate": lambda: [size(-6, 6), "zero", "balanced", "cautious"][rng.integers(4)],
        "gain": lambda: str(rng.choice(["full", "conditional", "shannon"])),
        "gamma": lambda: [size(-6, 6), "theory", "saddle"][rng.integers(3)],
        "posterior": posterior, "variance": lambda: size(-8, 8), "slab": lambda: size(-4, 4),
        "norm": lambda: size(-6, 6), "ridge": lambda: size(-8, 8), "delta": lambda: rng.random(),
        "alpha": lambda: size(-4, 4), "penalty": lambda: size(-8, 4),
        "forced_penalty": lambda: size(-8, 4), "forced": lambda: int(rng.integers(1, 5)),
        "slack": lambda: size(-3, 3), "chance": lambda: size(-3, 2), "clip": lambda: size(-3, 3),
        "concavity": lambda: size(-2, 2), "uniform": lambda: int(rng.integers(0, 12)),
        "restart": lambda: int(rng.integers(1, 8)), "complexity": lambda: rng.uniform(0, 3),
        "exploration": lambda: int(rng.choice([1, 5, 20, 40])), "reward_bound": lambda: size(-3, 4),
        "feature_bound": lambda: size(-3, 4), "action_bound": lambda: size(-3, 4),
        "signal": lambda: size(-4, 4), "factor": lambda: size(-3, 3),
        "width": lambda: str(rng.choice(["likelihood_ratio", "clerico", "unit_ball", "rescaled"])),
        "floor": lambda: float(rng.choice([0.0, 0.02, 0.5, 1.0])),
        "support": lambda: [int(rng.integers(dimension))],
    }  # fmt: skip
    known = inspect.signature(POLICIES[name]).parameters
    drawn = {one: draw() for one, draw in draws.items() if one in known}
    needed = {one for one in NEEDED.get(name, {})}
    asked = rng.choice([0.1, 0.5])  # many settings together are mostly refused
    return {one: value for one, value in drawn.items() if one in needed or rng.random() < asked}


def world(dimension: int, rng: np.random.Generator) -> World:
    """Action sets with odd columns and scales, and rewards that may be late, lost or absurd."""
    scales = np.ones(dimension)
    if rng.random() < 0.3:
        scales = 10.0 ** rng.uniform(-8, 8, dimension)
    elif rng.random() < 0.3:
        scales *= 10.0 ** rng.uniform(-8, 8)
    columns = rng.choice(["any", "constant", "double", "zero"], dimension, p=[0.7, 0.1, 0.1, 0.1])

    def actions() -> np.ndarray:
        table = rng.uniform(-1, 1, (count, dimension)) * scales
        table[:, columns == "constant"] = scales[columns == "constant"]
        table[:, columns == "double"] = table[:, :1]
        table[:, columns == "zero"] = 0.0
        return table if rng.random() > 0.02 else np.zeros_like(table)

    count = int(rng.choice([1, 2, 3, 6, 15, 40]))
    sets = [actions() for _ in range(rng.choice([1, 1, 1, 3, ROUNDS]))]
    theta = rng.standard_normal(dimension) * (rng.random(dimension) < 0.4)
    if rng.random() < 0.5:
        theta /= scales
    theta *= 10.0 ** (rng.uniform(-6, 6) if rng.random() < 0.3 else 0.0)
    noise = float(rng.choice([0.0, 1e-6, 0.1, 1.0, 1e3]))
    outlier = float(rng.choice([0.0, 1e-300, 1e2, -1e4, 1e5, 1e8, 1e12]))
    outliers = float(rng.choice([0.0, 0.02, 0.1, 1.0], p=[0.4, 0.3, 0.2, 0.1]))
    lost = float(rng.choice([0.0, 0.2, 1.0], p=[0.6, 0.35, 0.05]))
    return World(sets, theta, noise, outlier, outliers, lost, int(rng.choice([0, 0, 5, 20])))


def trouble(config: Configuration, seed: int) -> str:
    """What is wrong with playing a configuration; nothing if it is refused by ValueError."""
    rng, (name, given, (sets, theta, noise, outlier, outliers, lost, delay)) = (
        np.random.default_rng([seed, 1]),
        config,
    )
    call, slowest = "making", 0.0
    due: list[tuple[int, object, float]] = []
    try:
        policy = POLICIES[name](**given)
        for turn in range(ROUNDS):
            actions = sets[turn % len(sets)]
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            call, began = f"choose in round {turn + 1}", time.process_time()
            decision = policy.choose(actions, rng)
            slowest = max(slowest, time.process_time() - began)
            law = decision.probabilities
            if not (np.isfinite(law).all() and (law >= 0.0).all() and abs(law.sum() - 1.0) < 1e-9):
                return f"probabilities {law} in round {turn + 1}"
            if rng.random() >= lost:
                reward = float(decision.action @ theta + noise * rng.standard_normal())
                if rng.random() < outliers:
                    reward = outlier
                due.append((turn + int(rng.integers(delay + 1)), decision, reward))
            call = f"observe in round {turn + 1}"
            ready = [one for one in due if one[0] <= turn]
            due = [one for one in due if one[0] > turn]
            if ready:
                policy.observe([one[1] for one in ready], [one[2] for one in ready])
    except ValueError as error:
        if " must " not in str(error) and " needs " not in str(error):  # not one of ours
            return f"{call}: {described(error)}"
    except Exception as error:
        return f"{call}: {described(error)}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return f"a choice took {slowest:.1f} s" if slowest > LONGEST else ""


def described(error: Exception) -> str:
    """An error with the line of the package that it left."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if "soids" in frame.filename][-1]
    return f"{type(error).__name__}: {error} ({last.filename.rpartition('/')[2]}:{last.lineno})"


def main(first: int, count: int) -> None:
    """Play some configurations, one line each before it begins, and one if it is in trouble."""
    assert set(WITHOUT_EVIDENCE) <= set(POSTERIORS)
    warnings.simplefilter("ignore")
    for text in (".* encountered in ", "invalid value", "Mean of empty", "Degrees of freedom"):
        warnings.filterwarnings("error", text, RuntimeWarning)
    warnings.simplefilter("error", LinAlgWarning)
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        if problem := trouble(configuration(seed), seed):
            print(json.dumps({"seed": seed, "trouble": problem}), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
