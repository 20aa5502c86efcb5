"""The lasso from evidence alone, by scikit-learn."""

import math

import numpy as np

from soids.arrays import Floats
from soids.evidence import Evidence


def lasso(evidence: Evidence, penalty: float) -> Floats:  # (d,)
    """The minimiser of ``|y - X theta|^2 / n + penalty |theta|_1``: Hao et al.'s convention.

    scikit-learn halves the first term, and wants rows: d of them that have the gram and the moment
    of the evidence are as good as all n.

    >>> from soids.evidence import Menu
    >>> menu = Menu(np.eye(2))
    >>> evidence = Evidence.empty(2).add(menu, menu.actions[0], 3.0).add(menu, menu.actions[1], 0.1)
    >>> lasso(evidence, penalty=1.0).round(6).tolist()
    [2.0, 0.0]
    """
    if evidence.rounds == 0:
        return np.zeros(len(evidence.moment))
    rows, answers = compressed(evidence)
    if penalty == 0.0 or len(rows) == 0:
        least_squares: Floats = np.linalg.lstsq(rows, answers)[0].astype(np.float64)
        return least_squares
    from sklearn.linear_model import Lasso  # not above: it would double the time to start

    alpha = 0.5 * penalty * evidence.rounds / len(rows)
    model = Lasso(alpha, fit_intercept=False, tol=1e-8, max_iter=100_000)
    theta: Floats = model.fit(rows, answers).coef_
    return theta


def compressed(evidence: Evidence) -> tuple[Floats, Floats]:
    """At most d rows and answers whose gram and moment are those of the evidence."""
    eigenvalues, vectors = np.linalg.eigh(evidence.gram)
    seen = eigenvalues > 1e-12 * max(eigenvalues[-1], 1e-300)
    roots = np.sqrt(eigenvalues[seen])
    rows = np.asfortranarray(roots[:, None] * vectors[:, seen].T)
    return rows, (vectors[:, seen].T @ evidence.moment) / roots


def lasso_penalty(rounds: float, dimension: int, noise: float, size: float = 1.0) -> float:
    """The penalty of ESTC, ``4 sigma sqrt(log d / n)``, for entries of actions up to ``size``."""
    return 4.0 * noise * size * math.sqrt(math.log(dimension) / max(rounds, 1))
