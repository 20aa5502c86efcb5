"""How often the intervals of docs/replay.md hold the true value; prints CSV.

Clicks on twenty items, weights from 0.2 to 5. Many logs of each length; shares of them in which the
interval holds the true value, among those for which one is given, and how many that are.
"""

import csv
import sys
from collections.abc import Callable

import numpy as np

from soids.arrays import Floats
from soids.offpolicy import Estimate, doubly_robust, ips, snips

LOGS, ROUNDS, ITEMS = 2000, (150, 400, 1000, 3000), 20
LAW = np.linspace(1.0, 5.0, ITEMS) / np.linspace(1.0, 5.0, ITEMS).sum()  # of the log
TARGET = LAW[::-1]
RATES = np.linspace(0.01, 0.03, ITEMS)  # of clicks
TRUE = float(TARGET @ RATES)
USUAL = 1.96  # standard errors on either side
COLUMNS = ("rounds", "clicks", "usual", "ips", "snips", "dr", "given")


def clicks(rounds: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The weights and rewards of a log."""
    chosen = rng.choice(ITEMS, rounds, p=LAW)
    return TARGET[chosen] / LAW[chosen], (rng.random(rounds) < RATES[chosen]).astype(float)


def corrected(weights: Floats, rewards: Floats) -> Estimate:
    """Doubly robust, with a model that predicts the same for everything."""
    same = np.full(len(rewards), 0.015)
    return doubly_robust(weights, rewards, same, same)


def holds(estimate: Estimate) -> float:
    """Whether an interval holds the true value, NaN if none is given."""
    if estimate.low is None or estimate.high is None:
        return np.nan
    return float(estimate.low <= TRUE <= estimate.high)


def row(rounds: int) -> list[object]:
    """One line: what happened to all logs of this length."""
    rng = np.random.default_rng(rounds)
    logs = [clicks(rounds, rng) for _ in range(LOGS)]
    estimators: list[Callable[..., Estimate]] = [ips, snips, corrected]
    found = [[estimator(*log) for log in logs] for estimator in estimators]
    held = np.array([[holds(estimate) for estimate in some] for some in found])
    usual = np.mean([abs(one.value - TRUE) <= USUAL * one.error for one in found[0]])
    shares = [*np.nanmean(held, axis=1), 1.0 - np.isnan(held[0]).mean()]
    expected = round(rounds * float(LAW @ RATES))
    return [rounds, expected, *(f"{share:.3f}" for share in (usual, *shares))]


def main() -> None:
    """Print the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(rounds) for rounds in ROUNDS)


if __name__ == "__main__":
    main()
