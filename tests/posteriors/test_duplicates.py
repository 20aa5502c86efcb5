"""Columns that are equal are treated alike: what matters is shared evenly between them."""

import numpy as np
import pytest
from numba import config

from judging import chains, p_values, target_of
from oracles import Past
from p_values import assert_plausible, of_zero_means
from soids import SOIDS, SparseLinearBandit
from soids.posteriors import SpikeSlab, Subset

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")

MATTER, IDLE = (0, 4, 7), (1, 5)  # equal columns; one of the first has an effect
DIMENSION = 9


def menu(actions: int = 12) -> np.ndarray:
    """Actions in which two groups of columns are equal."""
    rows = np.random.default_rng(3).uniform(-1, 1, (actions, DIMENSION))
    for group in (MATTER, IDLE):
        rows[:, group[1:]] = rows[:, [group[0]]]
    return rows


def past(rounds: int, *, exploited: bool) -> Past:
    """Rewards of random actions, or nearly all of one, as a bandit ends up with."""
    rng, rows = np.random.default_rng(rounds), menu()
    best = int(rows[:, 0].argmax())
    indices = rng.integers(len(rows), size=rounds)
    if exploited:
        indices[rounds // 5 :] = best
    played = rows[indices]
    rewards = 1.2 * played[:, 0] + 0.7 * played[:, 3] + rng.standard_normal(rounds)
    return Past((rows,), (0,) * rounds, played, rewards)


@pytest.mark.parametrize("exploited", [False, True], ids=["random", "chosen"])
@pytest.mark.parametrize(
    "posterior",
    [
        Subset(DIMENSION, sparsity=3, radius=3.0, noise=1.0),
        SpikeSlab(DIMENSION, sparsity=2, radius=3.0, noise=1.0, slab_variance=4.0),
    ],
    ids=["subset", "spike_slab"],
)
@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_independent_chains_share_the_mass_of_equal_columns(posterior, exploited, rate):
    target = target_of(posterior, past(60, exploited=exploited), 1.0, rate)

    def p_values_of_shares(rng, times):
        particles, found = chains(target, rng, times * 2000).particles(), []
        for group in (MATTER, IDLE):
            own = particles.included[:, list(group)].astype(float)
            differences = own - own.mean(axis=1, keepdims=True)
            found.append(p_values(particles.weights, differences, np.zeros(len(group))))
        assert particles.weights @ particles.included[:, list(MATTER)].any(axis=1) > 0.2
        return np.concatenate(found)

    assert_plausible(p_values_of_shares)


def test_particles_carried_through_a_bandit_share_the_mass_over_seeds():
    """The mean of each column's mass over seeds is a third of its group's."""
    theta = np.zeros(DIMENSION)
    theta[[0, 3]] = 1.5, 0.8
    bandit = SparseLinearBandit(menu(), theta, 0.5)

    def masses_after_a_run(rng):
        policy = SOIDS(DIMENSION, sparsity=2, radius=2.3, noise=0.5)
        for _ in range(60):
            decision = policy.choose(bandit.actions, rng)
            policy.observe(decision, bandit.means[decision.index] + 0.5 * rng.standard_normal())
        # Not policy.inclusion(): it draws aside, with the same random numbers in every trial.
        return policy.state.mind.belief.particles().inclusion()[list(MATTER)]

    def p_values_of_masses(rng, times):
        masses = np.array([masses_after_a_run(own) for own in rng.spawn(times * 40)])
        group = masses.mean(axis=1, keepdims=True)
        differences = masses - group
        errors = differences.std(axis=0) / np.sqrt(len(masses))
        assert group.mean() > 0.15
        assert errors.max() < 0.1 * group.mean()  # else there would be nothing to see
        return of_zero_means(differences)

    assert_plausible(p_values_of_masses)
