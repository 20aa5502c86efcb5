"""The mode of a logistic regression, against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from soids.regression.logistic import logistic_mode
from soids.tally import Tally


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5])
def test_no_other_parameter_has_a_larger_density(share):
    rng = np.random.default_rng(0)
    actions, trials = rng.uniform(-1, 1, (12, 4)), rng.integers(1, 40, 12).astype(float)
    tally = Tally(actions, trials, np.append(rng.binomial(trials[:-1].astype(int), share), 0.5))

    def loss(mode):
        odds = mode[0] + actions @ mode[1:]
        fit = tally.successes @ odds - trials @ np.logaddexp(0.0, odds)
        return -(fit - 0.5 * 2.0 * mode[1:] @ mode[1:])

    found = logistic_mode(tally, precision=2.0)
    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-7})
    assert loss(found) <= best.fun + 1e-7
    assert found == pytest.approx(best.x, abs=1e-3)
