"""Regret and time of decisions side by side: one policy is the reference, all others are compared
with it, seed by seed in the same run.
"""

import importlib
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.simulation.comparison import difference, reference_of, summary
from soids.simulation.experiment import Experiment
from soids.simulation.panels import Panel
from soids.simulation.tables import as_csv, rounded

PEERS = "soids.bench.peers."


class Standing(NamedTuple):
    """One policy on one problem: its regret and its time, and both beside the reference's."""

    panel: str
    policy: str
    seeds: int
    regret: float  # mean at the horizon
    low: float  # the ends of its interval
    high: float
    worst: float
    difference: float  # of regret from the reference, on the seeds that both have played
    difference_low: float
    difference_high: float
    verdict: str
    milliseconds: float  # of processor time to choose and observe, by the median seed
    times: float  # the reference's, by the median seed
    times_low: float  # and on the seeds that are furthest from it
    times_high: float


def standings(panel: Panel, reference: str | None = None, level: float = 0.95) -> list[Standing]:
    """Every policy of a panel that has seeds in common with the reference, by its regret."""
    reference = reference_of([panel]) if reference is None else reference
    found = []
    for policy, runs in panel.runs.items():
        apart = difference(panel, policy, reference, level)
        if apart is None:
            continue
        own = summary(panel.title, policy, runs, level)
        times, least, most = np.quantile(times_of(panel, policy, reference), [0.5, 0.0, 1.0])
        found.append(
            Standing(
                panel=panel.title,
                policy=policy,
                seeds=own.seeds,
                regret=own.mean,
                low=own.low,
                high=own.high,
                worst=own.worst,
                difference=apart.mean,
                difference_low=apart.low,
                difference_high=apart.high,
                verdict="" if policy == reference else apart.verdict,
                milliseconds=own.milliseconds,
                times=float(times),
                times_low=float(least),
                times_high=float(most),
            )
        )
    return sorted(found, key=lambda one: one.regret)


def times_of(panel: Panel, policy: str, reference: str) -> Floats:  # (N,)
    """How many times the reference's time a policy took, on each seed that both have played."""
    ours, theirs = panel.runs[policy], panel.runs[reference]
    _, here, there = np.intersect1d(ours.seeds, theirs.seeds, return_indices=True)
    ratios: Floats = ours.seconds[here] / theirs.seconds[there]
    return ratios


def decisions_csv(panels: list[Panel]) -> str:
    """One line for every panel and policy."""
    return as_csv(Standing._fields, [one for panel in panels for one in standings(panel)])


def heads(reference: str) -> list[str]:
    """What the columns of ``cells`` are."""
    return ["", "regret [95 %]", "worst", f"above {reference} [95 %]", "ms", f"times {reference}'s"]


def cells(one: Standing, reference: str) -> list[str]:
    """A standing as a row of a table."""
    spread = one.high - one.low if one.seeds > 1 else one.regret / 5.0  # luck is not known
    error = max(spread / 4.0, one.regret / 2000.0)
    regret, worst = rounded(one.regret, error), rounded(one.worst, error)
    ends = f" [{rounded(one.low, error)}, {rounded(one.high, error)}]" if one.seeds > 1 else ""
    if one.policy == reference:
        return [one.policy, regret + ends, worst, "", f"{one.milliseconds:.2f}", "1"]
    apart = rounded(one.difference, error)
    if one.seeds > 1:
        apart += f" [{rounded(one.difference_low, error)}, {rounded(one.difference_high, error)}]"
    times = f"{one.times:.2g} ({one.times_low:.2g}–{one.times_high:.2g})"
    return [one.policy, regret + ends, worst, apart, f"{one.milliseconds:.2f}", times]


# What can be played here


def without_absent(experiment: Experiment) -> tuple[Experiment, list[str]]:
    """The experiment without the peers whose library is not installed, and what is said of them."""
    policies = {player.policy for players in experiment.players for player in players}
    reasons = {policy: absence(policy) for policy in policies}
    players = tuple(
        tuple(player for player in players if not reasons[player.policy])
        for players in experiment.players
    )
    return replace(experiment, players=players), sorted(set(reasons.values()) - {""})


def absence(policy: str) -> str:
    """Why a peer cannot be played here; nothing if it can."""
    if not policy.startswith(PEERS):
        return ""
    try:
        importlib.import_module(policy.partition(":")[0])
    except ImportError as error:
        return str(error)
    return ""


def of_dimensions(experiment: Experiment, dimensions: Collection[int]) -> Experiment:
    """The part of an experiment on problems of these dimensions."""
    kept = [
        place
        for place, problem in enumerate(experiment.problems)
        if problem.settings["dimension"] in dimensions
    ]
    return replace(
        experiment,
        problems=tuple(experiment.problems[place] for place in kept),
        players=tuple(experiment.players[place] for place in kept),
    )
