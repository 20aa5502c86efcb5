"""Compile what the policies need, before somebody waits for a decision."""

import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from soids.bandits import Bandit
from soids.kernels import hull
from soids.kernels.compiler import compilations, folder_of
from soids.kernels.moves import sweep
from soids.policies import POLICIES
from soids.policies.soids import SOIDS
from soids.simulation.play import Chooser, play
from soids.simulation.trial import Player, Problem
from soids.simulation.worker import undisturbed

ROUNDS = 40
EXPLORED = 36  # PopArt needs about thirty rounds
ONE_SET = Problem("hypercube", {"dimension": 10, "sparsity": 1, "actions": 30}, ROUNDS)
NEW_SETS = Problem("kim_paik", {"dimension": 10, "sparsity": 1, "actions": 5}, ROUNDS)


class Warmth(NamedTuple):
    """What was compiled."""

    kernels: int
    seconds: float
    folder: Path | None  # where compiled code is kept, if it is


def warm_up(follow: Callable[[str], object] = lambda name: None) -> Warmth:
    """Compile the kernels of typical calls by playing every policy; ``follow`` gets each name."""
    compilations.is_announced = True  # whoever calls this knows
    began, before = time.perf_counter(), compilations.count
    one_set, new_sets = ONE_SET.make(0), NEW_SETS.make(0)
    with undisturbed():
        for name in POLICIES:
            follow(name)
            play(one_set, informed(name, one_set), ROUNDS, 0)
        for bandit in (one_set, new_sets):
            play(bandit, SOIDS(bandit.dimension), ROUNDS, 0)
    seconds = time.perf_counter() - began
    return Warmth(compilations.count - before, seconds, cache_folder())


def informed(name: str, bandit: Bandit) -> Chooser:
    """A policy that is given all that it takes of the true values."""
    known = inspect.signature(POLICIES[name]).parameters
    told = tuple(fact for fact in bandit.truth if fact in known)
    settings = {"exploration": EXPLORED} if "exploration" in known else {}
    return Player(name, told, settings).make(bandit, ROUNDS)


def cache_folder() -> Path | None:
    """The folder that holds all folders of compiled code."""
    folders = [folder_of(kernel) for kernel in (hull.best_edge, sweep.sweep_rows)]
    paths = [str(folder) for folder in folders if folder is not None]
    return Path(os.path.commonpath(paths)) if paths else None
