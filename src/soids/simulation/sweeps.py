"""Regret against a setting that was swept: series, their growth, and the rates of theory.

Notation
    setting  what was swept: a number in each panel's problem, such as "dimension" or "horizon",
             or a setting of policies, with a panel for each of its values
    slope    exponent of the setting with which the mean regret grows
"""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from soids.arrays import Floats, Ints
from soids.simulation.results import Panel, Runs, policies_of
from soids.simulation.statistics import Interval, interval, regret_interval

UNKNOWN = math.nan, Interval(math.nan, math.nan)  # a slope, and its interval


class Series(NamedTuple):
    """The regret of one policy, at every value of the setting that was swept."""

    policy: str
    others: dict[str, Any]  # the other settings that were swept, fixed for this series
    values: Floats  # (P,)  increasing
    mean: Floats  # (P,)
    low: Floats  # (P,)  the ends of the interval of the mean
    high: Floats  # (P,)
    slope: float  # NaN for one value, or if some mean is zero, and its interval
    slope_low: float
    slope_high: float
    level: bool = False  # whether the policy lacks the setting: its regret is the same everywhere


def swept(panels: list[Panel]) -> list[str]:
    """The settings in which the problems differ."""
    names = dict.fromkeys(name for panel in panels for name in panel.problem)
    return [name for name in names if len({repr(p.problem.get(name)) for p in panels}) > 1]


def series(panels: list[Panel], setting: str) -> list[Series]:
    """One series for each policy and each choice of the other settings that were swept."""
    others = [name for name in swept(panels) if name != setting]
    for panel in panels:
        value = panel.problem.get(setting)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(
                f"{setting} must be a positive number in every problem to draw regret against it, "
                f"got {value!r} in {panel.title!r}: choose another, such as "
                f"{', '.join(['round', *others])}"
            )
    groups: dict[str, list[Panel]] = {}
    for panel in sorted(panels, key=lambda panel: panel.problem[setting]):
        groups.setdefault(repr([panel.problem.get(name) for name in others]), []).append(panel)
    found = []
    for group in groups.values():
        for policy in policies_of(panels):
            if played := [panel for panel in group if policy in panel.played]:
                found.append(one_series(policy, played, setting, others))
    return found


def grouped(panels: list[Panel], setting: str) -> dict[str, list[Series]]:
    """The series of each choice of the other settings, by a title such as "sparsity = 2"."""
    groups: dict[str, list[Series]] = {}
    for line in series(panels, setting):
        title = ", ".join(f"{name} = {value}" for name, value in line.others.items())
        groups.setdefault(title, []).append(line)
    return groups


def one_series(policy: str, played: list[Panel], setting: str, others: list[str]) -> Series:
    """One policy on problems that differ in one setting only."""
    runs = [panel.runs[policy] for panel in played]
    values = np.array([float(panel.problem[setting]) for panel in played])
    ends = np.array([regret_interval(run.final) for run in runs])
    fixed = {name: played[0].problem[name] for name in others if name in played[0].problem}
    mean = np.array([run.final.mean() for run in runs])
    flat = all(policy in panel.level for panel in played)
    estimate, around = UNKNOWN if flat else slope(values, runs)
    return Series(policy, fixed, values, mean, ends[:, 0], ends[:, 1], estimate, *around, flat)


def slope(values: Floats, runs: list[Runs]) -> tuple[float, Interval]:
    """The least-squares slope of log mean regret in the log of the values, and its interval.

    Only the seeds in common are used. To first order the slope is a mean over seeds of one term
    for each, so the interval of a mean applies, and seeds stay paired between problems.
    """
    seeds = reduce(np.intersect1d, [run.seeds for run in runs])
    if len(np.unique(values)) < 2 or len(seeds) == 0:
        return UNKNOWN
    regret = np.column_stack([run.final[row_of(run, seeds)] for run in runs])  # (N, P)
    mean = regret.mean(axis=0)
    if not (mean > 0.0).all():
        return UNKNOWN
    logs = np.log(values) - np.log(values).mean()
    leverage = logs / (logs @ logs)
    estimate = float(leverage @ np.log(mean))
    return estimate, interval(estimate + (regret / mean - 1.0) @ leverage)


def row_of(run: Runs, seeds: Ints) -> Ints:
    """The rows of the runs that hold these seeds."""
    order = np.argsort(run.seeds)
    rows: Ints = order[np.searchsorted(run.seeds, seeds, sorter=order)]
    return rows


# Rates of the paper when data are rich and when they are poor, from sparsity, dimension, horizon.
RATES: dict[str, Callable[[float, float, float], float]] = {
    "√(s d T)": lambda sparsity, dimension, horizon: math.sqrt(sparsity * dimension * horizon),
    "(s T)^(2/3)": lambda sparsity, dimension, horizon: (sparsity * horizon) ** (2.0 / 3.0),
}


class Rate(NamedTuple):
    """A rate of theory beside a series: the smallest multiple that is nowhere below its mean."""

    name: str
    values: Floats  # (P,)
    regret: Floats  # (P,)


def rates(panels: list[Panel], setting: str, line: Series) -> list[Rate]:
    """The paper's two rates, scaled to touch one series from above.

    Theorem 2's own constants exceed 2 T until T is 248,000 (at d = 20 and s = 2), so only the
    shapes are compared: where the series follows the lower rate, its regime changes where the two
    cross.
    """
    sizes = []
    for value in line.values:
        fixed = {setting: value, **line.others}
        sizes.append(sizes_of(next(p.problem for p in panels if p.problem == p.problem | fixed)))
    shapes = {name: np.array([rate(*size) for size in sizes]) for name, rate in RATES.items()}
    return [
        Rate(name, line.values, float((line.mean / shape).max()) * shape)
        for name, shape in shapes.items()
    ]


def sizes_of(problem: dict[str, Any]) -> tuple[float, float, float]:
    """Sparsity, dimension and horizon, or an error that says that the rates need them."""
    known = dict(problem)
    if known.get("family") == "paper" and "dimension" in known:
        known.setdefault("sparsity", known["dimension"] // 10)
    try:
        return float(known["sparsity"]), known["dimension"], known["horizon"]
    except KeyError:
        raise ValueError(
            f"bounds need the dimension, sparsity and horizon of a problem, got {problem}: "
            "say them in [bandit], or set bounds = false"
        ) from None
