"""How large coefficients and noise are, by the likelihood of the rewards."""

import math

from sklearn.linear_model import BayesianRidge

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
    rows, answers = compressed(evidence)
    unseen = max(evidence.energy - float(answers @ answers), 0.0)
    model = BayesianRidge(
        fit_intercept=False,
        alpha_1=shape + 0.5 * (evidence.rounds - len(rows)),
        alpha_2=scale + 0.5 * unseen,
    ).fit(rows, answers)
    return 1.0 / float(model.alpha_), 1.0 / float(model.lambda_)
