"""LinUCB in plain NumPy, the yardstick of speed: it checks nothing and keeps two arrays.

Notation
    inverse  (d, d)  of the precision I + sum of a a'
    moment   (d,)    sum of reward times action
"""

import math

import numpy as np

from soids.arrays import Floats


class LinUCB:
    """The largest estimate plus ``radius`` standard errors.

    Without a ``radius`` it is that of Abbasi-Yadkori, Pal & Szepesvari (2011), which needs a bound
    ``norm`` on the parameter's l2 norm, and fails with probability at most ``delta``.
    """

    def __init__(
        self,
        dimension: int,
        *,
        radius: float | None = None,
        noise: float = 1.0,
        norm: float = 1.0,
        delta: float = 0.01,
    ) -> None:
        self.radius, self.noise, self.norm, self.delta = radius, noise, norm, delta
        self.inverse, self.moment = np.eye(dimension), np.zeros(dimension)
        self.log_volume = 0.0  # log determinant of the precision

    def choose(self, actions: Floats, rng: np.random.Generator) -> int:
        """Choose one of the actions (K, d); the next reward is for the chosen one."""
        solved = actions @ self.inverse  # (K, d)
        squares = np.einsum("kd,kd->k", solved, actions)
        index = int(np.argmax(solved @ self.moment + self._reach() * np.sqrt(squares)))
        self.action, self.solved, self.square = actions[index], solved[index], squares[index]
        return index

    def observe(self, index: int, reward: float) -> None:
        """Learn from the reward of the last choice."""
        self.inverse -= np.outer(self.solved, self.solved / (1.0 + self.square))
        self.moment += reward * self.action
        self.log_volume += math.log1p(self.square)

    def _reach(self) -> float:
        if self.radius is not None:
            return self.radius
        return self.norm + self.noise * math.sqrt(self.log_volume - 2.0 * math.log(self.delta))
