"""Results side by side: the regret of every policy on one problem, seed by seed."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.simulation.experiment import Experiment
from soids.simulation.figures import ROUND, Figure
from soids.simulation.reading import short
from soids.simulation.store import Store
from soids.simulation.trial import Player, Trial

POINTS = 1000  # maximum number of rounds at which a curve is kept


class Runs(NamedTuple):
    """The trials of one policy on one problem, one row a seed."""

    seeds: Ints  # (N,)
    rounds: Ints  # (P,)  counted from 1, the last is the horizon
    regret: Floats  # (N, P)  cumulative, after these rounds
    seconds: Floats  # (N,)  to choose and learn, over all rounds
    versions: frozenset[tuple[tuple[str, str], ...]] = frozenset()  # of the libraries that played

    @property
    def final(self) -> Floats:  # (N,)
        """The regret at the horizon."""
        last: Floats = self.regret[:, -1]
        return last


class Panel(NamedTuple):
    """All policies on one problem; with the same seed they face the same noise."""

    title: str  # what sets this problem apart from the others, such as "dimension = 20"
    problem: dict[str, Any]  # family, its settings, horizon, feedback
    runs: dict[str, Runs]  # by the label of the policy
    level: frozenset[str] = frozenset()  # policies that do not have the setting of the title

    @property
    def played(self) -> dict[str, Runs]:
        """The policies with at least one finished trial."""
        return {policy: runs for policy, runs in self.runs.items() if len(runs.seeds)}


class Part(NamedTuple):
    """A figure of an experiment and the results that it shows."""

    figure: Figure
    problems: list[Panel]  # with the policies of the figure, in its order
    panels: list[Panel]  # the same; one for each value of a setting of policies if that is its x
    note: str = ""  # what was played instead of the whole, with --quick


def gather(experiment: Experiment, store: Store) -> list[Panel]:
    """The stored outcomes, in the order of the experiment; a policy may have none."""
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
    """One row a seed; of each outcome only what tables and figures need is kept in memory."""
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
    table = np.array(regret).reshape(-1, len(rounds))
    return Runs(np.array(seeds, np.int64), rounds, table, np.array(seconds), frozenset(versions))


def parts_of(experiment: Experiment, panels: list[Panel]) -> list[Part]:
    """The results figure by figure; figures without any result are left out."""
    parts = []
    for figure in experiment.figures:
        problems, shown = list[Panel](), list[Panel]()
        for everyone, panel in zip(experiment.players, panels, strict=True):
            players = figure.among(everyone)
            runs = {player.label: panel.runs[player.label] for player in players}
            problems.append(panel._replace(runs=runs))
            shown += unfolded(problems[-1], players, figure.x)
        parts.append(Part(figure, problems, shown, experiment.note))
    return [part for part in parts if count(part.panels)]


def unfolded(panel: Panel, players: Sequence[Player], setting: str) -> list[Panel]:
    """One panel for each value of a setting of the players; those without it are in all of them.

    If the setting belongs to the problem, the panel stays as it is.
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


def count(panels: list[Panel]) -> int:
    """The number of finished trials."""
    return sum(len(runs.seeds) for panel in panels for runs in panel.runs.values())


def policies_of(panels: list[Panel]) -> list[str]:
    """The labels of all policies, in the order in which they first appear."""
    return list(dict.fromkeys(policy for panel in panels for policy in panel.runs))


def versions_of(panels: list[Panel]) -> dict[str, str]:
    """All versions of each library that took part in the results."""
    found: dict[str, set[str]] = {}
    for panel in panels:
        for runs in panel.runs.values():
            for library, version in (pair for pairs in sorted(runs.versions) for pair in pairs):
                found.setdefault(library, set()).add(version)
    return {library: ", ".join(sorted(versions)) for library, versions in found.items()}
