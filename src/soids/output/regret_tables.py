"""The tables of an experiment: numbers to store as CSV, and mean regrets to print.

All but the times are the same, byte for byte, for the same trials.
"""

from collections.abc import Callable, Sequence
from typing import Any

from soids.arrays import Floats
from soids.output.table import Table
from soids.simulation import statistics
from soids.simulation.results import Panel, Part, Runs, policies_of
from soids.simulation.statistics import Difference, Summary
from soids.simulation.sweeps import series

MANY = 8  # columns of a table in a terminal

# Numbers to store


def regret(panels: list[Panel]) -> Table:
    """The regret at the horizon of every trial."""
    return _by_trial(panels, "regret", lambda runs: runs.final)


def times(panels: list[Panel]) -> Table:
    """The time that the decisions of every trial took, in seconds."""
    return _by_trial(panels, "seconds", lambda runs: runs.seconds)


def _by_trial(panels: list[Panel], name: str, column: Callable[[Runs], Floats]) -> Table:
    """One row a trial: the problem, the policy, the seed, and one number."""
    settings = list(dict.fromkeys(setting for panel in panels for setting in panel.problem))
    rows: list[tuple[object, ...]] = []
    for panel in panels:
        problem = [panel.problem.get(setting) for setting in settings]
        for policy, runs in panel.runs.items():
            pairs = zip(runs.seeds.tolist(), column(runs).tolist(), strict=True)
            rows += [(*problem, policy, seed, number) for seed, number in sorted(pairs)]
    return Table([*settings, "policy", "seed", name], rows)


def regret_by_round(panels: list[Panel]) -> Table:
    """The regret of each policy over rounds: means, standard deviations and quantiles."""
    rows: list[tuple[object, ...]] = []
    for panel in panels:
        for policy, curve in statistics.curves(panel).items():
            columns = zip(*(column.tolist() for column in curve), strict=True)
            rows += [(panel.title, policy, *numbers) for numbers in columns]
    heads = ("panel", "policy", "round", "mean", "sd", "quantile_10", "median", "quantile_90")
    return Table(heads, rows)


def summary(panels: list[Panel]) -> Table:
    """All of a summary but the time, for each panel and policy."""
    heads = [name for name in Summary._fields if name != "milliseconds"]
    found = [summary for panel in panels for summary in statistics.summarise(panel)]
    return Table(heads, [(*one[:-2], " ".join(map(str, one.worst_seeds))) for one in found])


def comparison(figures: list[list[Panel]]) -> Table:
    """The paired differences from the first policy of each figure.

    Figures that have the same first policy do not repeat each other.
    """
    rows = dict[tuple[str, str, str], Difference]()
    for panels in figures:
        reference = statistics.reference_of(panels)
        for panel in (one for one in panels if reference in one.runs):
            for found in statistics.compare(panel, reference):
                rows[found.panel, found.policy, found.reference] = found
    return Table(Difference._fields, list(rows.values()))


def sweep(panels: list[Panel], setting: str) -> Table:
    """The mean regret of each policy at each value of a swept setting, with the line's slope."""
    lines = series(panels, setting)
    others = list(dict.fromkeys(name for line in lines for name in line.others))
    rows: list[tuple[object, ...]] = []
    for line in lines:
        fixed = [line.others.get(name) for name in others]
        slope = (line.slope, line.slope_low, line.slope_high)
        for numbers in zip(line.values, line.mean, line.low, line.high, strict=True):
            rows.append((*fixed, line.policy, *map(float, numbers), *slope))
    names = (setting, "mean", "low", "high", "slope", "slope_low", "slope_high")
    return Table([*others, "policy", *names], rows)


# Mean regrets to print


def side_by_side(
    panels: list[Panel], policies: list[str], found: Sequence[Sequence[Any]],
    cell: Callable[[Any], object], title: str = "", head: str = "",
) -> Table:  # fmt: skip
    """Policies down and panels across; ``found`` has for each panel one record a policy."""
    columns = [{one.policy: cell(one) for one in records} for records in found]
    rows = [[policy, *(column.get(policy, "–") for column in columns)] for policy in policies]
    return Table([head, *(panel.title for panel in panels)], rows, title)


def mean_regret(panels: list[Panel], title: str = "") -> Table:
    """Mean ± standard error [worst seed] of the final regret."""
    found = [statistics.summarise(panel) for panel in panels]
    most = max((one.seeds for summaries in found for one in summaries), default=0)
    return side_by_side(panels, policies_of(panels), found, lambda one: cell(one, most), title)


def printed(part: Part) -> Table:
    """The mean regrets of a figure for a terminal, with the time of a round."""
    title = (part.figure.title, part.note, "mean regret ± standard error [worst seed]")
    note = f"{part.figure.caption} The times (ms) are processor time per round on the last problem."
    table = mean_regret(part.panels, "\n".join(filter(None, title)))
    times = {one.policy: f"{one.milliseconds:.2f}" for one in statistics.summarise(part.panels[-1])}
    heads = [*table.heads, "ms"]
    rows = [[*map(str, row), times.get(str(row[0]), "")] for row in table.rows]
    if len(heads) > MANY:  # more problems than fit side by side
        heads, *rows = (list(map(str, column)) for column in zip(heads, *rows, strict=True))
    return table._replace(heads=heads, rows=rows, note=note.strip())


def cell(found: Summary, most: int) -> str:
    """Mean ± standard error [worst seed], and the number of seeds if others have more."""
    mean, error, worst = rounded_alike(found, found.mean, found.error, found.worst)
    fewer = f" ({found.seeds} of {most} seeds)" if found.seeds < most else ""
    return (f"{mean} ± {error} [{worst}]" if found.seeds > 1 else mean) + fewer


def rounded_alike(found: Summary, *numbers: float) -> list[str]:
    """Numbers with the digits that the standard error of a mean leaves.

    A tiny error does not earn five digits, and a single seed has two.
    """
    known = found.seeds > 1 and found.error > 0.0
    error = max(found.error, found.mean / 2000.0) if known else found.mean / 100.0
    return [rounded(number, error) for number in numbers]


def rounded(number: float, error: float) -> str:
    """A number with the digits that its error leaves, and commas between thousands.

    >>> rounded(1130.4, 37.2), rounded(47.34, 0.42)
    ('1,130', '47.3')
    """
    decimals = 0 if abs(error) >= 1.0 else 1 if abs(error) >= 0.1 else 2
    text = f"{number:,.{decimals}f}"
    return text.replace("-", "−" if text.strip("-0.") else "")
