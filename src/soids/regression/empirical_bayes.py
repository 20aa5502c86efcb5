"""How large coefficients and noise are, by the likelihood of the rewards."""

import math

import numpy as np

from soids.evidence import Evidence
from soids.regression.lasso import compressed

CERTAIN = 1e12  # a guess worth so many rounds is knowledge


def empirical_bayes(evidence: Evidence, shape: float, scale: float) -> tuple[float, float]:
    """The variances of noise and of coefficients under which the rewards are most likely.

    The noise variance is inverse gamma a priori, or equal to ``scale`` if the shape is infinite.
    scikit-learn sees d compressed rows; what they lack, rounds and residual energy, enters by that
    prior, where it has the same effect.
    """
    if shape == math.inf:
        shape, scale = CERTAIN, CERTAIN * scale
    if evidence.energy == 0.0 or not evidence.gram.any():
        return scale / shape, 1.0
    from sklearn.linear_model import BayesianRidge  # not above: it would double the time to start

    rows, answers = compressed(evidence)
    unseen = max(evidence.energy - float(answers @ answers), 0.0)
    # In units of the rewards and of the actions: scikit-learn's tolerance and priors are absolute.
    reward = math.sqrt(evidence.energy / evidence.rounds)
    action = math.sqrt(float(np.trace(evidence.gram)) / evidence.gram.shape[0] / evidence.rounds)
    model = BayesianRidge(
        fit_intercept=False,
        tol=1e-6,
        max_iter=1000,
        alpha_1=shape + 0.5 * (evidence.rounds - len(rows)),
        alpha_2=(scale + 0.5 * unseen) / reward**2,
    ).fit(rows / action, answers / reward)
    return reward**2 / float(model.alpha_), (reward / action) ** 2 / float(model.lambda_)
