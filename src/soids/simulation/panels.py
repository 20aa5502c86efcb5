"""Results side by side: what every policy did on one problem, seed by seed."""

from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.simulation.experiment import Experiment
from soids.simulation.store import Outcome, Store
from soids.simulation.trial import Trial

POINTS = 1000  # of a curve, at most


class Runs(NamedTuple):
    """One policy on one problem, one row a seed."""

    seeds: Ints  # (N,)
    rounds: Ints  # (P,)  counted from 1, the last is the horizon
    regret: Floats  # (N, P)  cumulated until these rounds
    seconds: Floats  # (N,)  to choose and learn, over all rounds

    @property
    def final(self) -> Floats:  # (N,)
        """The regret at the horizon."""
        last: Floats = self.regret[:, -1]
        return last


class Panel(NamedTuple):
    """All policies on one problem; those with a seed in common had the same luck in it."""

    title: str  # what sets this problem apart from the others, such as "dimension = 20"
    problem: dict[str, Any]  # family, its settings, horizon
    runs: dict[str, Runs]  # by the label of the policy


def gather(experiment: Experiment, store: Store) -> list[Panel]:
    """The outcomes that are there, problem by problem in the order of the experiment."""
    panels = []
    for problem, players in zip(experiment.problems, experiment.players, strict=True):
        runs = {}
        for player in players:
            found = [
                (seed, outcome)
                for seed in experiment.seeds
                if (outcome := store.read(Trial(problem, player, seed))) is not None
            ]
            if found:
                runs[player.label] = line_up(found, problem.horizon)
        settings = {"family": problem.family, **problem.settings, "horizon": problem.horizon}
        panels.append(Panel(problem.title, settings, runs))
    return panels


def line_up(found: list[tuple[int, Outcome]], horizon: int) -> Runs:
    """One row a seed, at no more rounds than a curve needs."""
    rounds = np.unique(np.linspace(1, horizon, min(horizon, POINTS)).round().astype(np.int64))
    return Runs(
        seeds=np.array([seed for seed, _ in found]),
        rounds=rounds,
        regret=np.array([outcome.trace.regret.cumsum()[rounds - 1] for _, outcome in found]),
        seconds=np.array([outcome.seconds for _, outcome in found]),
    )
