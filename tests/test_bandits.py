"""The truth: rewards, gaps, and the paper's instance."""

import numpy as np
import pytest

from soids import SparseLinearBandit, paper_instance


@pytest.mark.parametrize("dimension", [20, 40, 100])
@pytest.mark.parametrize("seed", [0, 9])
def test_the_papers_instance_is_as_the_paper_says(dimension, seed):
    bandit = paper_instance(dimension, seed)
    sparsity = dimension // 10
    drawn = np.random.default_rng(seed).uniform(-1, 1, (200, dimension))
    assert np.array_equal(bandit.actions, drawn)
    assert bandit.theta.tolist() == [10 / sparsity] * sparsity + [0.0] * (dimension - sparsity)
    assert bandit.noise == 1.0


def test_means_and_gaps_are_what_their_names_say():
    bandit = SparseLinearBandit([[1, 2], [3, 4], [0, 1]], [2, -1])
    assert bandit.means.tolist() == [0.0, 2.0, -1.0]
    assert bandit.gaps.tolist() == [2.0, 0.0, 3.0]


def test_the_truth_cannot_be_changed():
    actions, theta = np.eye(2), np.ones(2)
    bandit = SparseLinearBandit(actions, theta)
    actions[0, 0] = theta[0] = 7.0
    assert bandit.means.tolist() == [1.0, 1.0]
    for array in (bandit.actions, bandit.theta):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(2), np.ones(3)), r"actions must have shape \(K, 3\), .* got \(2, 2\)"),
        ((np.eye(2), []), r"theta must have shape \(d,\) .* got \(0,\)"),
        ((np.eye(2), np.eye(2)), r"theta must have shape \(d,\) .* got \(2, 2\)"),
        ((np.eye(2), [1, np.nan]), r"theta\[1\] must be finite .* got nan"),
        (([[1, np.inf]], [1, 2]), r"actions\[0, 1\] must be finite .* got inf"),
        ((np.empty((0, 2)), [1, 2]), "actions must hold at least one action"),
        ((np.eye(2), [1, 2], -1.0), "noise must be at least 0, got -1"),
        ((np.eye(2), [1, 2], "loud"), "noise must be a real number, got 'loud'"),
    ],
)
def test_bandits_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SparseLinearBandit(*arguments)


@pytest.mark.parametrize("dimension", [9, 20.0, "20", True])
def test_the_papers_instance_needs_ten_features(dimension):
    with pytest.raises(ValueError, match=f"dimension must be .*, got {dimension!r}"):
        paper_instance(dimension, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, None])
def test_the_papers_instance_needs_a_seed(seed):
    with pytest.raises(ValueError, match=f"seed must be .*, got {seed!r}"):
        paper_instance(20, seed)
