"""The bounds of the theorems for the paper's experiment, in the units of the theorems; prints CSV.

Random actions of seed 0, s = d / 10, 1000 rounds.
"""

import csv
import sys

from soids import paper_instance, theory
from soids.designs import exploratory_design
from soids.theory.sparse_optimal_action import has_sparse_optimal_actions
from soids.theory.summary import Problem, summarise

DIMENSIONS, HORIZON = (20, 40, 100), 1000
COLUMNS = (
    "dimension", "sparsity", "c_min", "rich", "poor", "additive", "theorem2", "theorem3",
    "crossover", "rich_alone", "rich_alone_from",
)  # fmt: skip


def row(dimension: int) -> list[object]:
    """One line: the bounds for these actions."""
    actions, sparsity = paper_instance(dimension, seed=0).actions, dimension // 10
    c_min = exploratory_design(actions).value
    said = summarise(
        Problem(dimension, sparsity, HORIZON, c_min=c_min, sparse_optimal_actions=False)
    )
    both = theory.theorem2(dimension, sparsity, HORIZON, c_min)
    worst = theory.theorem3_worst(dimension, sparsity, HORIZON, c_min)
    assert has_sparse_optimal_actions(actions, sparsity).holds is False
    numbers = (*both, both.value, worst.value, said.crossover, said.rich_alone)
    rounded = [round(number) for number in numbers if number is not None]
    return [dimension, sparsity, f"{c_min:.4g}", *rounded, said.meaningful_from]


def main() -> None:
    """Print the table."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row(dimension) for dimension in DIMENSIONS)


if __name__ == "__main__":
    main()
