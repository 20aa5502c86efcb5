"""Online-to-confidence-set conversion: a confidence set from online predictions.

If a forecaster predicts almost as well as the true parameter, the two must agree in most rounds.
So the true parameter lies in an ellipsoid around the forecaster's predictions.

Notation, in units of the noise
    reach       B      bound on |<theta, a>|
    deviations  eps_t  noise of round t, 1-sub-Gaussian
    eta                power of the likelihood in the exponential weights
    mixture regret     -log of the prior average of exp(-eta sum_t (l_t(theta) - l_t)), with the
                       losses l_t(theta) = (y_t - <theta, a_t>)^2 / 2, l_t at the true theta
"""

import math
import warnings

import numpy as np
from scipy.special import gammaln

from soids.evidence import Evidence
from soids.regression.ridge import Ellipsoid, ridge


def around_predictions(seen: Evidence, penalty: float, budget: float) -> Ellipsoid:
    """All parameters with ``penalty |theta|^2 + sum (y_t - <theta, a_t>)^2 <= budget``.

    ``seen`` holds the rewards y_t, or the predictions made for them. If the set is empty, because
    an assumption is wrong, the function warns and returns the minimiser alone.
    """
    centre, factor = ridge(seen, penalty)
    least = seen.energy - float(seen.moment @ centre)
    if budget < least:
        why = "the confidence set is empty: sparsity, radius or noise must be larger than given"
        warnings.warn(why, RuntimeWarning, stacklevel=2)
    return Ellipsoid(centre, factor, math.sqrt(max(budget - least, 0.0)))


def admissible_power(reach: float) -> float:
    """The largest eta of at most 1/2 with ``eta (1 - eta) (2 B)^2 <= 1``.

    Then exp(-eta (1 - eta) u^2 / 2) is concave over all differences u of rewards, as the conversion
    of Clerico et al. requires.

    >>> admissible_power(1.0), round(admissible_power(10.0), 6)
    (0.5, 0.002506)
    """
    least = min(1.0, reach**-2)
    return 0.5 * least / (1.0 + math.sqrt(1.0 - least))  # no difference of near-equal numbers


def exp_concave_power(reach: float, horizon: int, delta: float) -> float:
    """The eta for which squared loss is exp-concave, with probability ``1 - delta``.

    The mean prediction is then as good as the mixture. This needs rewards within 1 / sqrt(eta) of
    their means up to the horizon.
    """
    return (2.0 * reach + math.sqrt(2.0 * math.log(2.0 * horizon / delta))) ** -2


def mixture_regret(
    rounds: float, dimension: int, sparsity: int, reach: float, eta: float, delta: float
) -> float:
    """A bound on the mixture regret at all times, with probability ``1 - delta``: subset prior.

    The comparator is the true parameter, of k features, shrunk by ``1 - c`` plus ``c`` times a
    uniform point of the ball. Its negative log prior mass contains ``k log(1 / c)``; its losses are
    larger by at most ``n (c B)^2`` and a sum of ``c B eps_t``. Each k has its best c.
    """
    sizes = np.arange(1, sparsity + 1)
    log_supports = gammaln(dimension + 1) - gammaln(sizes + 1) - gammaln(dimension - sizes + 1)
    deviation = math.sqrt(2.0 * rounds * math.log(max(rounds, 1) * (rounds + 1) / delta))
    slope, curvature = eta * reach * deviation, eta * rounds * reach**2
    root = slope + np.sqrt(slope**2 + 8.0 * curvature * sizes)
    blur = 2.0 * sizes / np.maximum(root, 2.0 * sizes)  # at most 1
    costs = log_supports + sizes * np.log(2.0 / blur) + blur * (slope + curvature * blur)
    return float(costs.max()) + math.log1p(-(2.0**-sparsity))


def clerico_width(
    rounds: float, dimension: int, sparsity: int, reach: float, eta: float, delta: float
) -> float:
    """Bound on the summed squared distance between predictions and true mean rewards.

    Clerico et al. (2025), Theorem 4.7 as we reconstruct it for the subset prior: with eta = 1/2,
    eight times the sum of mixture regret and log(1 / delta). It is valid for an admissible eta.
    """
    regret = mixture_regret(rounds, dimension, sparsity, reach, eta, 0.5 * delta)
    return 2.0 / (eta * (1.0 - eta)) * (regret + math.log(2.0 / delta))


def aps_width(
    rounds: float, dimension: int, sparsity: int, reach: float, eta: float, delta: float
) -> float:
    """The same bound by Abbasi-Yadkori, Pal, Szepesvari (2012), from the forecaster's regret.

    It is ``1 + 2 B_n + 32 log((sqrt(8) + sqrt(1 + B_n)) / delta)``. B_n, 2 / eta times the mixture
    regret, bounds the forecaster's regret in squared loss. It is valid for an exp-concave eta.
    """
    regret = 2.0 / eta * mixture_regret(rounds, dimension, sparsity, reach, eta, delta / 3.0)
    inner = (math.sqrt(8.0) + math.sqrt(1.0 + regret)) * 3.0 / delta
    return 1.0 + 2.0 * regret + 32.0 * math.log(inner)
