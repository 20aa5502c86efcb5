"""How often the intervals of docs/replay.md hold the true value; prints CSV.

Clicks on twenty items, weights from 0.2 to 5. Many logs of each length; shares of them in which the
interval holds the true value, among those for which one is given, and how many that are. The same
for the paired difference from the uniform policy.
"""

import csv
import sys

import numpy as np

from soids.arrays import Floats
from soids.offpolicy import Estimate
from soids.offpolicy.comparison import difference
from soids.offpolicy.reports import Rounds, report_on

LOGS, ROUNDS, ITEMS = 2000, (150, 400, 1000, 3000), 20
LAW = np.linspace(1.0, 5.0, ITEMS) / np.linspace(1.0, 5.0, ITEMS).sum()  # of the log
TARGET = LAW[::-1]
RATES = np.linspace(0.01, 0.03, ITEMS)  # of clicks
UNIFORM = np.full(ITEMS, 1.0 / ITEMS)
USUAL = 1.96  # standard errors on either side
METHODS = ("IPS", "SNIPS", "DR")
COLUMNS = (
    "rounds", "clicks", "usual", "ips", "snips", "dr", "given",
    "ips_apart", "snips_apart", "dr_apart", "given_apart",
)  # fmt: skip


def clicks(rounds: int, rng: np.random.Generator) -> tuple[Rounds, Rounds]:
    """A log, as the target and the uniform policy see it; the model is the same for everything."""
    chosen = rng.choice(ITEMS, rounds, p=LAW)
    clicked = (rng.random(rounds) < RATES[chosen]).astype(float)
    lines, unknown, same = np.arange(rounds), np.full(rounds, np.nan), np.full(rounds, 0.015)
    one, other = (
        Rounds(lines, clicked, (law / LAW)[chosen], unknown, same, same)
        for law in (TARGET, UNIFORM)
    )
    return one, other


def estimates(log: tuple[Rounds, Rounds]) -> list[Estimate]:
    """Those of the target, and of its difference from the uniform policy, by each method."""
    target, uniform = ((report_on("", one, "", 0.95, 1.0, "line"), one) for one in log)
    found = [*target[0].estimates, *difference(*target, *uniform, 0.95).estimates]
    return [one for one in found if one.method in METHODS]


def holds(estimate: Estimate, true: float) -> float:
    """Whether an interval holds the true value, NaN if none is given."""
    if estimate.low is None or estimate.high is None:
        return np.nan
    return float(estimate.low <= true <= estimate.high)


def row(rounds: int) -> list[object]:
    """One line: what happened to all logs of this length."""
    rng = np.random.default_rng(rounds)
    trues = [float(TARGET @ RATES)] * 3 + [float((TARGET - UNIFORM) @ RATES)] * 3
    found = [estimates(clicks(rounds, rng)) for _ in range(LOGS)]
    held: Floats = np.array([list(map(holds, some, trues)) for some in found])
    usual = np.mean([abs(some[0].value - trues[0]) <= USUAL * some[0].error for some in found])
    (*own, a, b, c), given = np.nanmean(held, axis=0), 1.0 - np.isnan(held).mean(axis=0)
    expected = round(rounds * float(LAW @ RATES))
    shares = [usual, *own, given[0], a, b, c, given[3]]
    return [rounds, expected, *(f"{share:.3f}" for share in shares)]


def main() -> None:
    """Print the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(rounds) for rounds in ROUNDS)


if __name__ == "__main__":
    main()
