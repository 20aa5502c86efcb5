"""Actions with rewards that are linear in a few features, and evidence from them."""

import numpy as np

from soids.evidence import Evidence


def sparse_problem(rounds, dimension, *, values, noise, seed=0):
    """Normal actions (n, d) and their rewards; the first coefficients have these values."""
    rng = np.random.default_rng(seed)
    actions, theta = rng.standard_normal((rounds, dimension)), np.zeros(dimension)
    theta[: len(values)] = values
    return actions, actions @ theta + noise * rng.standard_normal(rounds)


def recorded(actions, rewards):
    evidence = Evidence.empty(actions.shape[1])
    for action, reward in zip(actions, rewards, strict=True):
        evidence = evidence.note(action, reward)
    return evidence
