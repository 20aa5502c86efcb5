"""Results side by side: what every policy did on one problem, seed by seed."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.simulation.experiment import Experiment
from soids.simulation.figures import ROUND, Figure
from soids.simulation.reading import short
from soids.simulation.store import Store
from soids.simulation.trial import Player, Trial

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
    level: frozenset[str] = frozenset()  # policies that the setting of its title does not concern


class Part(NamedTuple):
    """A figure of an experiment and the results that it shows."""

    figure: Figure
    problems: list[Panel]  # with the policies of the figure, in its order
    panels: list[Panel]  # the same; one for each value of a setting of policies if that is its x
    note: str = ""  # what was played instead of the whole, if --quick was


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


def parts_of(experiment: Experiment, panels: list[Panel]) -> list[Part]:
    """The results figure by figure; a figure of which nothing is there yet is left out."""
    parts = []
    for figure in experiment.figures:
        shown = [figure.among(players) for players in experiment.players]
        problems = [
            panel._replace(runs={player.label: panel.runs[player.label] for player in players})
            for players, panel in zip(shown, panels, strict=True)
        ]
        seen = [
            one
            for players, panel in zip(shown, problems, strict=True)
            for one in unfolded(panel, players, figure.x)
        ]
        parts.append(Part(figure, problems, seen, experiment.note))
    return [part for part in parts if count(part.panels)]


def count(panels: list[Panel]) -> int:
    """How many trials are finished."""
    return sum(len(runs.seeds) for panel in panels for runs in panel.runs.values())


def unfolded(panel: Panel, players: Sequence[Player], setting: str) -> list[Panel]:
    """One panel for each value of a setting of the players; those without it are in all of them.

    A problem as it is, if the setting is its own.
    """
    if setting == ROUND or setting in panel.problem:
        return [panel]
    level = frozenset(player.label for player in players if setting not in player.settings)
    found = []
    for value in sorted({p.settings[setting] for p in players if setting in p.settings}):
        runs = {
            player.called(without=setting): panel.runs[player.label]
            for player in players
            if player.settings.get(setting, value) == value
        }
        title = f"{panel.title}, {setting} = {short(value)}"
        found.append(Panel(title, {**panel.problem, setting: value}, runs, level))
    return found


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
