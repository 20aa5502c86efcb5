"""Results side by side: what every policy did on one problem, seed by seed."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.simulation.experiment import Experiment
from soids.simulation.store import Store
from soids.simulation.trial import Trial

POINTS = 1000  # of a curve, at most


class Runs(NamedTuple):
    """One policy on one problem, one row a seed."""

    seeds: Ints  # (N,)
    rounds: Ints  # (P,)  counted from 1, the last is the horizon
    regret: Floats  # (N, P)  cumulated until these rounds
    seconds: Floats  # (N,)  to choose and learn, over all rounds
    versions: frozenset[tuple[tuple[str, str], ...]] = frozenset()  # of the libraries that played

    @property
    def final(self) -> Floats:  # (N,)
        """The regret at the horizon."""
        last: Floats = self.regret[:, -1]
        return last


class Panel(NamedTuple):
    """All policies on one problem; those with a seed in common had the same luck in it."""

    title: str  # what sets this problem apart from the others, such as "dimension = 20"
    problem: dict[str, Any]  # family, its settings, horizon, feedback
    runs: dict[str, Runs]  # by the label of the policy


def gather(experiment: Experiment, store: Store) -> list[Panel]:
    """The outcomes that are there, in the order of the experiment; a policy may have none."""
    panels = []
    for problem, players in zip(experiment.problems, experiment.players, strict=True):
        runs = dict[str, Runs]()
        for player in players:
            trials = [Trial(problem, player, seed) for seed in sorted(experiment.seeds)]
            runs[player.label] = line_up(trials, store)
        settings = {"family": problem.family, **problem.settings, "horizon": problem.horizon}
        panels.append(Panel(problem.title, settings | problem.feedback, runs))
    return panels


def line_up(trials: list[Trial], store: Store) -> Runs:
    """One row a seed, at no more rounds than a curve needs; of an outcome no more is kept."""
    horizon = trials[0].problem.horizon
    rounds = np.unique(np.linspace(1, horizon, min(horizon, POINTS)).round().astype(np.int64))
    seeds, regret, seconds, versions = [], [], [], set()
    for trial in trials:
        outcome = store.read(trial)
        if outcome is not None:
            seeds.append(trial.seed)
            regret.append(outcome.trace.regret.cumsum()[rounds - 1])
            seconds.append(outcome.seconds)
            versions.add(tuple(outcome.versions.items()))
    return Runs(
        seeds=np.array(seeds, dtype=np.int64),
        rounds=rounds,
        regret=np.array(regret).reshape(-1, len(rounds)),
        seconds=np.array(seconds),
        versions=frozenset(versions),
    )


def versions_of(panels: list[Panel]) -> dict[str, str]:
    """All versions of each library that had a part in the results."""
    found: dict[str, dict[str, None]] = {}
    for panel in panels:
        for runs in panel.runs.values():
            for library, version in itertools.chain(*sorted(runs.versions)):
                found.setdefault(library, {})[version] = None
    return {library: ", ".join(sorted(versions)) for library, versions in found.items()}
