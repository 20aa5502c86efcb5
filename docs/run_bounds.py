"""The theorems on runs of the paper's experiment, as soids inspect evaluates them; prints CSV.

Means over seeds 0 to 4, 1000 rounds, in units of the rewards. "gain_ratio" is the median over
rounds of the true information gain over the surrogate one, "exploring" the share of regret in
rounds that explore.
"""

import csv
import sys
from collections.abc import Callable

import numpy as np

from soids import FGTS, SOIDS, SparseLinearBandit, paper_instance
from soids.simulation.diagnosis import Diagnosis, diagnose
from soids.simulation.guarantees import guarantees
from soids.simulation.losses import locate

DIMENSIONS, HORIZON, SEEDS = (20, 40, 100), 1000, range(5)
COLUMNS = (
    "dimension", "policy", "regret", "theorem1", "proven1", "theorem3", "proven3", "trivial",
    "gain_ratio", "exploring",
)  # fmt: skip


def rich(bandit: SparseLinearBandit, rate: str) -> SOIDS:
    """SOIDS by a data-rich rate, in units in which mean rewards are at most one."""
    truth = bandit.truth
    return SOIDS(
        bandit.dimension, sparsity=truth["sparsity"], radius=truth["radius"],
        noise=truth["radius"], rate=rate, eta=0.25, action_bound=1.0, intercept=False,
    )  # fmt: skip


def in_units(preset: Callable[..., SOIDS]) -> Callable[[SparseLinearBandit], SOIDS]:
    """A preset of a theorem for what is true of the bandit."""
    names = ("sparsity", "radius", "noise")
    return lambda bandit: preset(bandit.dimension, *(bandit.truth[name] for name in names))


POLICIES: dict[str, Callable[[SparseLinearBandit], SOIDS | FGTS]] = {
    "SOIDS.paper": lambda bandit: SOIDS.paper(bandit.dimension, bandit.truth["sparsity"]),
    "SOIDS.theorem2": in_units(SOIDS.theorem2),
    "SOIDS.theorem3": in_units(SOIDS.theorem3),
    'rate="rich"': lambda bandit: rich(bandit, "rich"),
    'rate="theorem3_rich"': lambda bandit: rich(bandit, "theorem3_rich"),
}


def facts(seen: Diagnosis) -> list[float]:
    """The numbers of one run."""
    found, losses, beliefs = guarantees(seen), locate(seen), seen.beliefs
    assert found is not None
    assert beliefs is not None
    assert losses.exploring is not None
    bounds = found.theorem1, found.theorem3
    some = beliefs.surrogate_gain > 0.0
    return [
        losses.regret,
        *(np.nan if bound is None else bound.value for bound in bounds),
        float(not found.unmet1),
        float(not found.unmet3),
        found.trivial,
        float(np.median(beliefs.true_gain[some] / beliefs.surrogate_gain[some])),
        losses.exploring.regret / losses.regret,
    ]


def row(dimension: int, name: str) -> list[object]:
    """One line: means over seeds."""
    bandits = [paper_instance(dimension, seed=seed) for seed in SEEDS]
    runs = [
        facts(diagnose(bandit, POLICIES[name](bandit), HORIZON, seed))
        for seed, bandit in zip(SEEDS, bandits, strict=True)
    ]
    regret, first, third, *proven, trivial, ratio, share = np.mean(runs, axis=0)
    words = ["yes" if one == 1.0 else "no" for one in proven]
    return [
        dimension, name, round(regret), round(first), words[0], round(third), words[1],
        round(trivial), f"{ratio:.3g}", f"{share:.2f}",
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for dimension in DIMENSIONS:
        writer.writerows(row(dimension, name) for name in POLICIES)


if __name__ == "__main__":
    main()
