"""Sparse optimal actions: proofs, witnesses, and what stays open."""

import numpy as np
import pytest

from soids.theory.sparse_optimal_action import has_sparse_optimal_actions


def axes(dimension):
    return np.vstack([np.eye(dimension), -np.eye(dimension)])


def beaten_by_dense(witness, actions, sparsity):
    sparse = (actions != 0.0).sum(axis=1) <= sparsity
    rewards = actions @ witness
    return rewards[~sparse].max() > rewards[sparse].max(initial=-np.inf)


@pytest.mark.parametrize(
    ("actions", "sparsity"),
    [
        (np.eye(4), 1),  # nothing is dense
        (np.random.default_rng(0).uniform(-1, 1, (9, 3)), 3),  # nor can it be
        (np.vstack([axes(5), np.full((1, 5), 0.2)]), 1),  # on the l1 ball
        (np.vstack([axes(3), np.zeros((1, 3)), [[0.5, 0.5, 0.0], [0.0, -0.5, 0.4]]]), 1),
    ],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_true_conditions_are_proven(actions, sparsity, scale):
    answer = has_sparse_optimal_actions(scale * actions, sparsity)
    assert answer.holds is True
    assert answer.witness is None
    assert answer


def test_an_action_outside_the_hull_may_be_inside_on_every_support():
    pairs = 1.0 - np.eye(3)
    actions = np.vstack([pairs, np.ones((1, 3))])
    assert (np.ones(3) @ actions.T).argmax() == 3
    assert has_sparse_optimal_actions(actions, 2).holds is True


@pytest.mark.parametrize(
    ("actions", "sparsity"),
    [
        (np.random.default_rng(0).uniform(-1, 1, (200, 20)), 2),  # nothing is sparse
        (np.vstack([axes(5), np.full((1, 5), 1.1)]), 1),
        (np.vstack([axes(4), np.full((1, 4), 0.51)]), 2),  # beyond the edge between two axes
        (np.vstack([np.eye(3), np.full((1, 3), -1.0)]), 1),
    ],
)
@pytest.mark.parametrize("draws", [0, 1000])
def test_false_conditions_have_a_witness(actions, sparsity, draws):
    answer = has_sparse_optimal_actions(actions, sparsity, draws=draws)
    assert answer.holds is False
    assert not answer
    assert (answer.witness != 0.0).sum() <= sparsity
    assert beaten_by_dense(answer.witness, actions, sparsity)


def test_linear_programs_find_witnesses_that_random_parameters_miss():
    rare = np.zeros((1, 12))
    rare[0, :3] = [0.5 + 1e-5, 0.5 + 1e-5, 0.1]  # just beyond one edge out of 264
    actions = np.vstack([axes(12), rare])
    answer = has_sparse_optimal_actions(actions, 2, draws=100)
    assert answer.draws == 100
    assert answer.holds is False
    assert beaten_by_dense(answer.witness, actions, 2)


def test_a_search_beyond_its_limit_is_undecided():
    actions = np.vstack([axes(12), np.zeros((1, 12))])
    actions[-1, :3] = [0.5 + 1e-5, 0.5 + 1e-5, 0.1]
    for programs in (0, 10):
        answer = has_sparse_optimal_actions(actions, 2, draws=100, programs=programs)
        assert answer.holds is None
        assert answer.witness is None
        assert not answer


def test_the_searches_agree_on_random_action_sets():
    """What random parameters refute, programs refute; what programs prove, none refute."""
    rng = np.random.default_rng(0)
    verdicts = set()
    for _ in range(30):
        kept = np.arange(5) < rng.integers(1, 5, size=(8, 1))
        actions = np.vstack([axes(5), rng.uniform(0, 0.7) * rng.uniform(-1, 1, (8, 5)) * kept])
        searched = has_sparse_optimal_actions(actions, 2, draws=0)
        drawn = has_sparse_optimal_actions(actions, 2, draws=20_000, programs=0)
        verdicts.add(searched.holds)
        assert searched.holds is (drawn.holds is not False)
    assert verdicts == {True, False}


@pytest.mark.parametrize(
    ("actions", "sparsity", "message"),
    [
        (np.eye(3), 0, "sparsity must be in 1..3, got 0"),
        (np.eye(3), 4, "sparsity must be in 1..3, got 4"),
        (np.ones(3), 1, r"actions must have shape \(K, d\), one action a row, got \(3,\)"),
        ([[np.inf]], 1, "must be finite"),
    ],
)
def test_bad_arguments_are_named(actions, sparsity, message):
    with pytest.raises(ValueError, match=message):
        has_sparse_optimal_actions(actions, sparsity)
