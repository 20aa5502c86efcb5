"""Regret and time of policies beside those of a reference, seed by seed in the same run."""

from typing import NamedTuple

import numpy as np

from soids.arrays import Floats
from soids.output.regret_tables import rounded
from soids.output.table import Table, as_csv
from soids.simulation.results import Panel
from soids.simulation.statistics import difference, reference_of, summary

HEADS = ("", "regret [95 %]", "worst", "difference [95 %]", "ms", "times")  # of ``cells``


class Standing(NamedTuple):
    """One policy on one problem: its regret, its time, and both relative to the reference."""

    panel: str
    policy: str
    seeds: int
    regret: float  # mean at the horizon
    low: float  # the ends of its 95 % interval
    high: float
    worst: float
    difference: float  # of regret from the reference, on the seeds that both have played
    difference_low: float
    difference_high: float
    verdict: str
    milliseconds: float  # processor time to choose and observe, median of the seeds
    times: float  # ratio to the reference's time, median of the seeds
    times_low: float  # the smallest and the largest ratio of a seed
    times_high: float


def standings(panel: Panel, reference: str | None = None) -> list[Standing]:
    """All policies that have seeds in common with the reference, the smallest regret first."""
    reference = reference_of([panel]) if reference is None else reference
    found = []
    for policy, runs in panel.runs.items():
        apart = difference(panel, policy, reference)
        if apart is None:
            continue
        own = summary(panel.title, policy, runs)
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
    """A policy's time divided by the reference's, on each seed that both have played."""
    ours, theirs = panel.runs[policy], panel.runs[reference]
    _, here, there = np.intersect1d(ours.seeds, theirs.seeds, return_indices=True)
    ratios: Floats = ours.seconds[here] / theirs.seconds[there]
    return ratios


def decisions_csv(panels: list[Panel]) -> str:
    """One line for each panel and policy."""
    rows = [one for panel in panels for one in standings(panel)]
    return as_csv(Table(Standing._fields, rows))


def cells(one: Standing, reference: str) -> list[str]:
    """A standing as a row of a table."""
    width = one.high - one.low if one.seeds > 1 else one.regret / 5.0  # one seed has no interval
    error = max(width / 4.0, one.regret / 2000.0)
    regret, worst = rounded(one.regret, error), rounded(one.worst, error)
    ends = f" [{rounded(one.low, error)}, {rounded(one.high, error)}]" if one.seeds > 1 else ""
    if one.policy == reference:
        return [one.policy, regret + ends, worst, "", f"{one.milliseconds:.2f}", "1"]
    apart = rounded(one.difference, error)
    if one.seeds > 1:
        apart += f" [{rounded(one.difference_low, error)}, {rounded(one.difference_high, error)}]"
    times = f"{one.times:.2g} ({one.times_low:.2g}–{one.times_high:.2g})"
    return [one.policy, regret + ends, worst, apart, f"{one.milliseconds:.2f}", times]
