"""LinUCB as one writes it in an afternoon: NumPy, nothing checked, nothing kept but two arrays.

The yardstick of speed. Notation
    inverse  (d, d)  of the precision I + sum of a a'
    moment   (d,)    sum of reward times action
"""

import math

import numpy as np

from soids.arrays import Floats


class LinUCB:
    """The largest estimate plus ``radius`` standard errors; the theorem's radius if none is given.

    That is the one of Abbasi-Yadkori, Pal & Szepesvari (2011): it needs a bound ``norm`` on the
    parameter's l2 norm, and fails with probability ``delta`` for rewards with this ``noise``.
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
        """Choose one of the actions (K, d); rewards are for the last that was chosen."""
        solved = actions @ self.inverse  # (K, d)
        squares = np.einsum("kd,kd->k", solved, actions)
        index = int(np.argmax(solved @ self.moment + self._reach() * np.sqrt(squares)))
        self.action, self.solved, self.square = actions[index], solved[index], squares[index]
        return index

    def observe(self, index: int, reward: float) -> None:
        """Learn the reward of what was just chosen."""
        self.inverse -= np.outer(self.solved, self.solved / (1.0 + self.square))
        self.moment += reward * self.action
        self.log_volume += math.log1p(self.square)

    def _reach(self) -> float:
        if self.radius is not None:
            return self.radius
        return self.norm + self.noise * math.sqrt(self.log_volume - 2.0 * math.log(self.delta))
