"""Clouds carried over rounds while their prior follows the rewards, against draws from it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from p_values import assert_plausible, two_sided
from soids.evidence import Evidence, Menu
from soids.posteriors import Subset, Tuning
from soids.posteriors.unknowns import Span, draw_radii, log_mass_of_balls

ROUNDS, ETA = 10, 1.0
MENU = Menu(np.asfortranarray(np.random.default_rng(3).uniform(-1, 1, (7, 2))))


def histories(seed):
    """The evidence after each round of a small problem."""
    rng, evidence, found = np.random.default_rng(seed), Evidence.empty(2), []
    for _ in range(ROUNDS):
        action = MENU.actions[rng.integers(7)]
        evidence = evidence.add(MENU, action, float(action @ [0.8, -0.6] + rng.standard_normal()))
        found.append(evidence)
    return found


def by_draws_from_the_prior(posterior, evidence, count=1_000_000):
    """Means and half variances (7,) of the actions' rewards, weighted by the likelihood.

    Sizes 1 and 2 have odds 2 to 1; the variance of the noise is integrated out.
    """
    rng, prior = np.random.default_rng(0), posterior.prior(evidence)
    low, high = prior.radius
    radii = low * (high / low) ** rng.random(count)
    thetas = rng.laplace(size=(count, 2))
    length = np.abs(thetas).sum(axis=1, keepdims=True)
    thetas *= np.sqrt(rng.random((count, 1))) / length  # uniform in the l1 ball of the plane
    single = rng.random(count) < 2.0 / 3.0
    first = rng.random(count) < 0.5
    ends = rng.uniform(-1.0, 1.0, count)
    thetas[single & first] = np.column_stack([ends, 0.0 * ends])[single & first]
    thetas[single & ~first] = np.column_stack([0.0 * ends, ends])[single & ~first]
    thetas *= radii[:, None]
    squares = np.einsum("md,de,me->m", thetas, evidence.gram, thetas)
    misfits = evidence.energy - 2.0 * thetas @ evidence.moment + squares
    shape, scale = prior.noise
    log_weights = -(shape + 0.5 * ETA * ROUNDS) * np.log(scale + 0.5 * ETA * misfits)
    weights = np.exp(log_weights - log_weights.max())
    return moments(thetas @ MENU.actions.T, weights / weights.sum())


def moments(rewards, weights):
    """Means and half variances (K,) under weights."""
    mean = weights @ rewards
    return mean, 0.5 * (weights @ (rewards - mean) ** 2)


def carried(posterior, evidences, rng):
    """The same by particles of the default number, carried over the rounds."""
    system = None
    for evidence in evidences:
        system = posterior.update(system, evidence, Tuning(ETA, 0.0, 100, 2), rng)
    particles = system.particles()
    return moments(particles.thetas @ MENU.actions.T, particles.weights)


def test_particles_follow_a_prior_that_follows_the_rewards():
    """The bias of a hundred particles is at most 1.5 % in means and 4 % in gains."""
    posterior, evidences = Subset(2, sparsity=2), histories(1)
    mean, gain = by_draws_from_the_prior(posterior, evidences[-1])

    def p_values(rng, times):
        systems = [carried(posterior, evidences, own) for own in rng.spawn(times * 150)]
        along = np.array([one[0] @ mean / (mean @ mean) for one in systems]) - 1.0
        gains = np.array([one[1].sum() / gain.sum() for one in systems]) - 1.0
        # The variance within a system is a hundredth too small: it is about the system's own mean.
        z = [max(abs(errors.mean()) - allowed, 0.0) / errors.std() * math.sqrt(len(errors))
             for errors, allowed in ((along, 0.015), (gains, 0.04))]  # fmt: skip
        return two_sided(np.array(z))

    assert_plausible(p_values)


@pytest.mark.parametrize("length", [0.1, 1.0, 2.5, 3.999])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_learned_radius_is_integrated_out_of_the_density(size, length):
    """Against quadrature of ``R**(-k - 1)`` over the radii in [1, 4] whose ball holds theta."""
    thetas = np.zeros((2, 6))
    thetas[0, :size], thetas[1, :size] = length / size, 0.9 / size
    span = Span(1.0, 4.0)
    wanted = [
        quad(lambda radius: radius ** -(size + 1.0), max(1.0, norm), 4.0)[0]
        for norm in (length, 0.9)
    ]
    found = log_mass_of_balls(span, thetas)
    assert found[0] - found[1] == pytest.approx(math.log(wanted[0] / wanted[1]), rel=1e-9, abs=1e-9)


def test_outside_of_the_largest_ball_there_is_no_density():
    assert log_mass_of_balls(Span(1.0, 4.0), np.array([[4.1, 0.0]]))[0] == -math.inf


def test_radii_are_drawn_by_their_law_given_the_parameter():
    """The distribution function of each draw, in [1, 4] beyond a norm of 2, is uniform."""

    def p_value(rng, times):
        radii = draw_radii(Span(1.0, 4.0), np.tile([2.0, 0.0, 0.0], (4000 * times, 1)), rng)
        shares = (0.5 - 1.0 / radii) / (0.5 - 0.25)  # of the mass R**-2 from 2 to 4
        return kstest(shares, "uniform").pvalue

    assert_plausible(p_value)


def test_a_span_knows_how_much_of_it_is_new():
    old = Span(1.0, 2.0)
    assert old.beyond(old) == 0.0
    assert Span(1.0, 4.0).beyond(old) == pytest.approx(0.5)
    assert Span(3.0, 9.0).beyond(old) == 1.0
    assert Span(0.5, 1.5).beyond(old) == 0.0
    assert Span(7.0, 7.0).beyond(old) == 0.0  # known
