"""The bounds of the theorems for one problem, in the user's units."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from soids import designs, rates
from soids.arrays import Floats
from soids.theory import horizons, theorems
from soids.theory.lemmas import rich_alone
from soids.theory.problem import WIDEST_GAP, covered_call, reward_unit
from soids.theory.sparse_optimal_action import has_sparse_optimal_actions


@dataclass(frozen=True)
class Problem:
    """What is known of a problem; C_min is that of the actions divided by their bound."""

    dimension: int
    sparsity: int
    horizon: int
    radius: float = 1.0
    noise: float = 1.0
    action_bound: float = 1.0
    c_min: float | None = None
    c_min_at_most: float | None = None  # certified
    sparse_optimal_actions: bool | None = None  # Definition 1; None if not known

    @classmethod
    def of_actions(
        cls, actions: Floats, sparsity: int, horizon: int, *,
        radius: float = 1.0, noise: float = 1.0, action_bound: float | None = None,
    ) -> "Problem":  # fmt: skip
        """The problem with these actions; their bound is by default the largest entry, if above 1.

        C_min is computed, and Definition 1 is checked.
        """
        largest = float(np.abs(actions).max())
        bound = max(1.0, largest) if action_bound is None else action_bound
        if not bound >= largest:
            raise ValueError(
                f"action_bound must be at least the largest entry of the actions, {largest:g}, "
                f"got {bound:g}"
            )
        return cls(
            actions.shape[1], sparsity, horizon, radius, noise, bound,
            c_min=designs.c_min(actions, bound) or None,
            c_min_at_most=min(1.0, designs.exploratory_design(actions / bound).bound),
            sparse_optimal_actions=has_sparse_optimal_actions(actions, sparsity).holds,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Summary(Problem):
    """The theorems on a problem; regret is in the units of the rewards."""

    unit: float  # rewards divided by it are as the theorems assume
    complexity: float
    rich: float
    poor: float | None
    poor_at_best: float  # if C_min were 1
    additive: float
    bound: float
    regime: str
    theorem3: float | None  # of its data-rich half where Definition 1 fails
    trivial: float
    vacuous: bool
    meaningful_from: int
    rate: float
    rate_branch: str
    crossover: float | None
    rate_crossover: float | None
    t_min: float
    uncapped_from: int
    rich_alone: float  # for the data-rich rate alone, which does not need Definition 1
    applies: str  # the bound that holds: "theorem2" or "rich_alone"
    call: str  # the policy that this bound covers
    theorem3_call: str | None  # the policy that Theorem 3 covers


def summarise(known: Problem) -> Summary:
    """The theorems for a problem."""
    problem, c_min = (known.dimension, known.sparsity), known.c_min
    now, scales = (*problem, known.horizon), (known.radius, known.noise, known.action_bound)
    refuted, half = known.sparse_optimal_actions is False, 2 * known.sparsity <= known.dimension
    unit = reward_unit(known.radius, known.action_bound, known.noise)
    gap = WIDEST_GAP * known.radius * known.action_bound
    both, alone = theorems.theorem2(*now, c_min), rich_alone(*now)
    if refuted:
        bound, first = alone, horizons.rich_alone_from(*problem, gap / unit)
    else:
        bound, first = both.value, horizons.meaningful_from(*problem, c_min, gap / unit)
    worst = theorems.theorem3_worst(*now, None if refuted else c_min).value if half else None
    rich = rates.rich_rate(*now)
    poor = 0.0 if c_min is None or refuted else rates.poor_rate(*now, c_min)
    rate, branch = max(rich, poor), "data-poor" if poor > rich else "data-rich"
    call = partial(covered_call, *problem, *scales, sparse=known.sparse_optimal_actions)
    return Summary(
        **vars(known),
        unit=unit,
        complexity=rates.complexity(*now),
        rich=unit * both.rich,
        poor=None if c_min is None else unit * both.poor,
        poor_at_best=unit * theorems.theorem2(*now, c_min=1.0).poor,
        additive=unit * both.additive,
        bound=unit * bound,
        regime="data-rich" if refuted else both.regime,
        theorem3=None if worst is None else unit * worst,
        trivial=gap * known.horizon,
        vacuous=unit * bound >= gap * known.horizon,
        meaningful_from=first,
        rate=min(rates.CAP, rate),
        rate_branch=branch if rate <= rates.CAP else "cap",
        crossover=None if c_min is None else horizons.crossover(*problem, c_min),
        rate_crossover=None if c_min is None else horizons.rate_crossover(*problem, c_min),
        t_min=theorems.t_min(*problem),
        uncapped_from=horizons.uncapped_from(*problem, c_min),
        rich_alone=unit * alone,
        applies="rich_alone" if refuted else "theorem2",
        call=call(theorem=2),
        theorem3_call=call(theorem=3) if half else None,
    )
