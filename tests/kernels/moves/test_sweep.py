"""Every pace of the sampler, flips alone or joint moves, must lead to the same supports."""

import numba
import numpy as np
import pytest
from scipy.special import expit

from p_values import assert_plausible, two_sided
from soids.evidence import Evidence, Menu
from soids.kernels.moves import sweep
from soids.kernels.moves.candidates import draw_leans
from soids.posteriors import SpikeSlab, Subset, smc
from soids.posteriors.randomness import random_numbers
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


def test_the_side_of_a_value_has_its_conditional_probability():
    """Under N(c, v) and N(-c, v) a value x has log odds 2 x c / v for the upper one."""
    theta, active, lean = np.array([0.0, 0.7, -0.2]), np.array([1, 2]), 1.5
    shares = expit(2.0 * lean * theta[active])
    for below in ([True, True], [True, False], [False, True], [False, False]):
        uniforms = np.where(below, shares - 1e-9, shares + 1e-9)
        leans = draw_leans(theta, active, lean, uniforms)
        assert leans.tolist() == [0.0, *np.where(below, lean, -lean)]


@pytest.mark.parametrize("upwards", [True, False])
def test_values_are_redrawn_given_their_sides(upwards):
    """A feature that certainly matters, without optimism: its law is Gaussian given its side."""
    evidence, menu = Evidence.empty(1), Menu(np.ones((1, 1)))
    for reward in (0.8, 1.1, 0.9):
        evidence = evidence.add(menu, np.ones(1), reward)
    prior = SpikeSlab(1, sparsity=1, radius=1.0, noise=0.3, spread=0.3).prior(evidence)
    prior = prior._replace(radius=prior.radius._replace(low=9.0, high=9.0))  # out of the way
    target, thetas = Target.of(evidence, prior, 1.0, 0.0), np.full((1, 1), 0.6)
    pace = sweep.Pace(1.0, 0.0, 0.0, 1, 0.0, False)
    numbers = random_numbers(thetas, target, pace, np.random.default_rng(0))
    # The value stays if its uniform lies between a quarter and all of its share, which is near one.
    numbers = numbers._replace(
        flips=np.full((1, 1), 0.5), sides=np.full((1, 1), 0.0 if upwards else 1.0)
    )
    arrays = target.arrays(target.gram.roomy(thetas), target.columns, target.starts)
    powers = np.full(1, 1.0 / 0.3**2)
    moved, _ = sweep.sweep(thetas, thetas.copy(), np.full(1, 9.0), powers, arrays, numbers, pace)
    precision = 3.0 / 0.3**2 + 1.0 / 0.3**2
    mean = (2.8 / 0.3**2 + (1.0 if upwards else -1.0) / 0.3**2) / precision
    assert moved[0, 0] == pytest.approx(mean + numbers.normals[0, 0, 0] / np.sqrt(precision))
