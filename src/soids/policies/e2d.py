"""Estimation to decisions: the least worst-case regret that information does not excuse."""

import math
from dataclasses import dataclass

import numpy as np

from soids.arrays import Floats, as_number
from soids.information import Mixture, Spread
from soids.policies.policy import Family
from soids.policies.posterior_rule import Outlook, PosteriorRule
from soids.policies.settings import assign
from soids.rates import complexity
from soids.spelling import meant

# Values of gamma that are tried, in units of the theory's.
FACTORS = {"theory": (1.0,), "saddle": (0.25, 0.5, 1.0, 2.0, 4.0)}


@dataclass(frozen=True, kw_only=True)
class E2DRule(PosteriorRule):
    """The decision-estimation coefficient (Foster et al. 2021), over particles.

    Plays the distribution with the least worst case, over all particles, of regret minus ``gamma``
    times the information that distinguishes the particle from the mean. ``gamma`` is a number
    (reward per nat), ``"theory"`` (dimension against what is left to learn), or ``"saddle"``: the
    value with the least regret plus ``gamma`` times the information yet due, ``C_t / t`` nats a
    round (Kirschner et al. 2023), at five linear programs a round.
    """

    settings = "dimension sparsity radius noise posterior eta gamma particles sweeps intercept"
    bounded_ratios = ()

    gamma: float | str = "theory"

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, str):
            assign(self, gamma=as_number(self.gamma, "gamma", 0.0))
        elif self.gamma not in FACTORS:
            raise ValueError(
                f"gamma must be a number or one of {', '.join(FACTORS)}{meant(self.gamma, FACTORS)}"
            )
        super().__post_init__()

    def _mixture(self, outlook: Outlook) -> Mixture:
        weights, noise = outlook.appraiser.weights, outlook.appraiser.noise
        alive, mean = weights > 0.0, weights @ outlook.rewards
        rewards = outlook.rewards[alive]
        regret = rewards.max(axis=1, keepdims=True) - rewards
        nats = 0.5 * ((rewards - mean) / noise) ** 2
        if not isinstance(self.gamma, str):
            return least_worst(regret - self.gamma * nats)[0]
        rounds = outlook.past.evidence.rounds + 1
        sparsity = self.known_sparsity(outlook.appraiser.belief)
        left = complexity(self.dimension, sparsity, rounds)  # nats to learn in all
        unit = noise * math.sqrt(0.5 * self.dimension * rounds / left)
        found = []
        for gamma in (factor * unit for factor in FACTORS[self.gamma]):
            mixture, worst = least_worst(regret - gamma * nats)
            found.append((worst + gamma * left / rounds, mixture))
        return min(found, key=lambda candidate: candidate[0])[1]  # the first of several


E2D = Family(E2DRule)


def least_worst(losses: Floats) -> tuple[Spread, float]:
    """The distribution over columns with the least largest expected loss over rows, and that loss:
    a matrix game, hence a linear program.

    >>> game, value = least_worst(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> game.masses.tolist(), value
    ([0.5, 0.5], 0.5)
    """
    from scipy.optimize import linprog  # slow to import, and only needed here

    rows, columns = losses.shape
    unit = float(np.abs(losses).max()) or 1.0  # the solver's tolerances are absolute
    solved = linprog(
        np.append(np.zeros(columns), 1.0),
        A_ub=np.column_stack([losses / unit, -np.ones(rows)]), b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0.0)[None], b_eq=np.ones(1),
        bounds=[(0.0, None)] * columns + [(None, None)],
    )  # fmt: skip
    if solved.x is None or solved.fun is None:
        raise FloatingPointError(f"the game over actions could not be solved: {solved.message}")
    masses = np.maximum(solved.x[:-1], 0.0)
    return Spread(masses / masses.sum()), unit * float(solved.fun)
