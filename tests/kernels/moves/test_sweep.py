"""Every pace of the sampler, flips alone or joint moves, must lead to the same supports."""

import numba
import numpy as np
import pytest

from p_values import assert_plausible, two_sided
from soids.evidence import Evidence, Menu
from soids.kernels.moves import sweep
from soids.posteriors import Subset, smc
from soids.posteriors.target import Target


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="would take minutes as plain Python")
@pytest.mark.parametrize(
    "pace", [sweep.PARTICLES, sweep.CHAIN, sweep.PINNED_CHAIN._replace(joint=0.9)]
)
def test_every_pace_leads_to_supports_that_data_do_not_pin_and_back(pace):
    """Of two features that are the same in all actions, no data pin both."""
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (30, 6))
    actions[:, 1] = actions[:, 0]
    evidence, menu = Evidence.empty(6), Menu(actions)
    for index in rng.integers(30, size=60):
        reward = actions[index, 0] + actions[index, 2] + rng.standard_normal()
        evidence = evidence.add(menu, actions[index], float(reward))
    prior = Subset(6, sparsity=4, radius=5.0, noise=1.0).prior(evidence)
    target = Target.of(evidence, prior, 1.0, 0.0)
    sweeps = round(50 / (1.0 - pace.joint))  # fifty by flips, which alone lead there

    def p_value(rng, times):
        count, means, variances = 200 * times, [], []
        for start in ([1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 1.0, 0.0, 0.0, 0.0]):
            thetas = np.tile(start, (count, 1))
            system = smc.placed(target, thetas, thetas != 0.0, np.ones(count))
            system, both = smc.moved(system, rng, sweeps, pace), np.zeros(count)
            for _ in range(sweeps):
                system = smc.moved(system, rng, pace=pace)
                both += system.included[:, :2].all(axis=1) / sweeps
            means.append(both.mean())
            variances.append(both.var() / count)  # the chains are independent of each other
        assert 0.1 < means[0] < 0.4
        return two_sided((means[0] - means[1]) / np.sqrt(sum(variances)))

    assert_plausible(p_value)
