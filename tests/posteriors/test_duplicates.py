"""Columns that are equal are treated alike: what matters is shared evenly between them."""

import numpy as np
import pytest
from numba import config

from judging import Z, chains, standard_errors, target_of
from oracles import Past
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
    """Each pair of shares differs by at most four standard errors of the difference."""
    target = target_of(posterior, past(60, exploited=exploited), 1.0, rate)
    particles = chains(target, particles=2000).particles()
    for group in (MATTER, IDLE):
        own = particles.included[:, list(group)].astype(float)
        differences = own - own.mean(axis=1, keepdims=True)
        errors = standard_errors(particles.weights, differences, np.zeros(len(group)))
        assert (np.abs(particles.weights @ differences) <= Z * errors).all()
    assert particles.weights @ particles.included[:, list(MATTER)].any(axis=1) > 0.2


def test_a_cloud_carried_through_a_bandit_shares_the_mass_over_seeds():
    """Each column's mass is within four standard errors over seeds of a third of its group's."""
    theta = np.zeros(DIMENSION)
    theta[[0, 3]] = 1.5, 0.8
    bandit = SparseLinearBandit(menu(), theta, 0.5)
    masses = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        policy = SOIDS(DIMENSION, sparsity=2, radius=2.3, noise=0.5)
        for _ in range(60):
            decision = policy.choose(bandit.actions, rng)
            policy.observe(decision, bandit.means[decision.index] + 0.5 * rng.standard_normal())
        # Not policy.inclusion(): it draws aside, with the same luck in every trial.
        masses.append(policy.state.mind.belief.particles().inclusion()[list(MATTER)])
    group = np.mean(masses, axis=1, keepdims=True)
    differences = masses - group
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(masses))
    assert group.mean() > 0.15
    assert errors.max() < 0.1 * group.mean()  # else there would be nothing to see
    assert (np.abs(differences.mean(axis=0)) <= Z * errors).all()
