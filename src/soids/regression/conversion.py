"""From online predictions to confidence sets.

A forecaster that predicts almost as well as the true parameter must agree with it in most rounds.
So the true parameter agrees with the predictions, which makes an ellipsoid.

Notation, in units of the noise
    reach       B      bound on |<theta, a>|
    deviations  eps_t  noise of round t, 1-sub-Gaussian
    price              -log of the average over the prior of exp(-eta sum_t (l_t(theta) - l_t)),
                       with l_t the losses (y_t - <theta, a_t>)^2 / 2, against the true parameter's
"""

import math
import warnings

import numpy as np
from scipy.special import gammaln

from soids.evidence import Evidence
from soids.regression.ridge import Ellipsoid, ridge


def around_predictions(seen: Evidence, penalty: float, budget: float) -> Ellipsoid:
    """All parameters with ``penalty |theta|^2 + sum (y_t - <theta, a_t>)^2 <= budget``.

    ``seen`` holds the answers of the rounds, or the predictions made for them. If there is no such
    parameter, an assumption is wrong: a warning says so, and the set is the least violation alone.
    """
    centre, factor = ridge(seen, penalty)
    least = seen.energy - float(seen.moment @ centre)
    if budget < least:
        warnings.warn(
            "the confidence set is empty: sparsity, radius or noise must be larger than given",
            RuntimeWarning,
            stacklevel=2,
        )
    return Ellipsoid(centre, factor, math.sqrt(max(budget - least, 0.0)))


def admissible_power(reach: float) -> float:
    """The largest eta of at most 1/2 with ``eta (1 - eta) (2 B)^2 <= 1``.

    Then exp(-eta (1 - eta) u^2 / 2) is concave over all differences u of rewards, which is what
    the conversion of Clerico et al. needs.

    >>> admissible_power(1.0), round(admissible_power(10.0), 6)
    (0.5, 0.002506)
    """
    least = min(1.0, reach**-2)
    return 0.5 * least / (1.0 + math.sqrt(1.0 - least))  # no difference of near-equal numbers


def exp_concave_power(reach: float, horizon: int, delta: float) -> float:
    """The eta for which mean predictions of answers up to the horizon are as good as their mix.

    Squared loss is exp-concave as long as answers differ from rewards by at most 1 / sqrt(eta);
    noise exceeds its part of that with probability ``delta`` at most.
    """
    return (2.0 * reach + math.sqrt(2.0 * math.log(2.0 * horizon / delta))) ** -2


def price(
    rounds: float, dimension: int, sparsity: int, reach: float, eta: float, delta: float
) -> float:
    """A bound on the price under the subset prior, at all times with probability ``1 - delta``.

    The comparator is the true parameter, of k features, shrunk by ``1 - c`` plus ``c`` times a
    uniform point of the ball. Its prior mass costs ``k log(1 / c)``; the losses grow by at most
    ``n (c B)^2`` and by a sum of ``c B eps_t``. The c of each k is the one with the least total.
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
    """How far predictions can be from the true rewards, summed in square.

    Clerico et al. (2025), Theorem 4.7 as we reconstruct it for the subset prior: with eta = 1/2,
    eight times the sum of price and log(1 / delta). Valid for an admissible eta.
    """
    own = price(rounds, dimension, sparsity, reach, eta, 0.5 * delta)
    return 2.0 / (eta * (1.0 - eta)) * (own + math.log(2.0 / delta))


def aps_width(
    rounds: float, dimension: int, sparsity: int, reach: float, eta: float, delta: float
) -> float:
    """The same by Abbasi-Yadkori, Pal, Szepesvari (2012), from the forecaster's regret.

    ``1 + 2 B_n + 32 log((sqrt(8) + sqrt(1 + B_n)) / delta)``, where B_n = 2 price / eta bounds the
    regret of exponential weights in squared loss. Valid for an exp-concave eta.
    """
    regret = 2.0 / eta * price(rounds, dimension, sparsity, reach, eta, delta / 3.0)
    inner = (math.sqrt(8.0) + math.sqrt(1.0 + regret)) * 3.0 / delta
    return 1.0 + 2.0 * regret + 32.0 * math.log(inner)
