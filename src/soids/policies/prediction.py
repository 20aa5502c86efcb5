"""What a policy expects: the mean rewards of actions, and the coefficients of features."""

from typing import NamedTuple, Self

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.information import half_variance
from soids.particles import Particles

MOST_SHOWN = 20  # features in the printed table


class Prediction(NamedTuple):
    """The mean reward of each action, as a policy expects it before the reward's own noise."""

    mean: Floats  # (K,)
    sd: Floats  # (K,)  standard deviation of what is believed; NaN from an estimate without one
    names: tuple[str, ...] | None = None  # (K,)  of the actions

    @classmethod
    def of(cls, rewards: Floats, weights: Floats, level: float = 0.0) -> Self:
        """From the rewards (M, K) of weighted parameters, above a level."""
        deviations = np.sqrt(2.0 * half_variance(rewards, weights))
        return cls(level + weights @ rewards, deviations)

    def __str__(self) -> str:
        labels = self.names or tuple(f"action {k}" for k in range(len(self.mean)))
        return aligned(["", "mean", "sd"], labels, [self.mean, self.sd], range(len(labels)))


class Coefficients(NamedTuple):
    """What each feature adds to the mean reward for each unit of it.

    As a data frame: ``pandas.DataFrame(coefficients._asdict())``, also of Polars.
    """

    names: tuple[str, ...]  # (d,)
    mean: Floats  # (d,)
    sd: Floats  # (d,)  NaN from an estimate without one
    inclusion: Floats  # (d,)  probability that it matters; NaN from an estimate without one

    @classmethod
    def of(cls, mean: Floats, sd: Floats | None = None, inclusion: Floats | None = None) -> Self:
        """From an estimate, and what is known beside it."""
        unknown = np.full(len(mean), np.nan)
        parts = (unknown if part is None else part for part in (sd, inclusion))
        return cls((), np.array(mean), *parts)

    @classmethod
    def under(cls, particles: Particles) -> Self:
        """From a posterior."""
        mean = particles.mean()
        sd = np.sqrt(particles.weights @ (particles.thetas - mean) ** 2)
        return cls.of(mean, sd, particles.inclusion())

    def reward_on(self, menu: Menu, evidence: Evidence) -> Floats:  # (K,)
        """The mean rewards of actions; with an intercept, from that of the mean action."""
        if not evidence.centred:
            return menu.actions @ self.mean
        rewards: Floats = evidence.level + (menu.actions - evidence.centre) @ self.mean
        return rewards

    def __str__(self) -> str:
        """The features that matter most, the first ones of many."""
        order = np.lexsort((-np.abs(self.mean), -np.nan_to_num(self.inclusion)))
        columns = [self.mean, self.sd, self.inclusion]
        heads = ["", "mean", "sd", "inclusion"]
        table = aligned(heads, self.names, columns, [int(j) for j in order[:MOST_SHOWN]])
        left = len(order) - MOST_SHOWN
        return f"{table}\n... and {left} more" if left > 0 else table


def aligned(heads: list[str], labels: tuple[str, ...], columns: list[Floats], rows: object) -> str:
    """Lines of a table: a label and numbers; columns without any number are left out."""
    kept = [j for j, column in enumerate(columns) if not np.isnan(column).all()]
    lines = [[heads[0], *(heads[1 + j] for j in kept)]]
    for k in rows:  # type: ignore[attr-defined]
        lines.append([labels[k], *(f"{columns[j][k]:.3g}" for j in kept)])
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    first, *others = widths
    return "\n".join(
        "  ".join([line[0].ljust(first), *map(str.rjust, line[1:], others)]).rstrip()
        for line in lines
    )
