"""Results side by side: what every policy did on one problem, seed by seed."""

from typing import Any, NamedTuple

from soids.arrays import Floats, Ints


class Runs(NamedTuple):
    """One policy on one problem, one row a seed."""

    seeds: Ints  # (N,)
    rounds: Ints  # (P,)  counted from 1, the last is the horizon
    regret: Floats  # (N, P)  cumulated until these rounds
    seconds: Floats  # (N,)  to choose and learn, over all rounds

    @property
    def final(self) -> Floats:  # (N,)
        """The regret at the horizon."""
        last: Floats = self.regret[:, -1]
        return last


class Panel(NamedTuple):
    """All policies on one problem; those with a seed in common had the same luck in it."""

    title: str  # what sets this problem apart from the others, such as "dimension = 20"
    problem: dict[str, Any]  # family, its settings, horizon
    runs: dict[str, Runs]  # by the label of the policy
