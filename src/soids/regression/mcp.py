"""The minimax concave penalty, approximated by two lassos (Wang, Wei, Yao 2018)."""

import numpy as np

from soids.arrays import Floats
from soids.regression.lasso import Products, lasso


def two_step_mcp(
    gram: Products, moment: Floats, rounds: float, penalty: float, concavity: float, start: Floats
) -> Floats:  # (d,)
    """A lasso, then a lasso whose weights are the slopes of the penalty at the first estimate.

    The slope at b is ``max(0, penalty - |b| / concavity)``: large coefficients are not penalised.

    >>> from soids.gram import Gram
    >>> gram, moment = Gram.of(np.eye(3)), np.array([3.0, 0.8, 0.4])
    >>> two_step_mcp(gram, moment, 1, 0.5, 2.0, np.zeros(3)).round(3).tolist()
    [3.0, 0.45, 0.0]
    """
    level = np.full(len(moment), rounds * penalty)
    first = lasso(gram, moment, level, start)
    slopes = rounds * np.maximum(0.0, penalty - np.abs(first) / concavity)
    return lasso(gram, moment, slopes, first)
