"""Exploratory designs: certificates, known answers, symmetries, and a slow general solver."""

import itertools

import numpy as np
import pytest

from oracles import softest_design
from soids.designs import exploratory_design


def random_actions(count, dimension, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (count, dimension))


def cube(dimension):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=dimension)))


@pytest.mark.parametrize(
    "actions",
    [
        random_actions(6, 3),
        random_actions(200, 20),
        random_actions(5000, 5),  # many more actions than features
        random_actions(1, 1),
        random_actions(4, 7),  # fewer actions than features
        np.random.default_rng(0).standard_t(2, (400, 4)),  # a few very long actions
        cube(6),
    ],
    ids=lambda actions: f"{actions.shape[0]}x{actions.shape[1]}",
)
def test_the_value_is_reached_and_certified(actions):
    design = exploratory_design(actions)
    unit = (actions**2).sum(axis=1).max()
    moment = actions.T @ (design.weights[:, None] * actions)
    assert design.weights.min() >= 0.0
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert design.value == pytest.approx(max(np.linalg.eigvalsh(moment)[0], 0.0), abs=1e-7 * unit)
    assert -1e-8 * unit <= design.bound - design.value <= 1e-5 * unit


@pytest.mark.parametrize(
    ("actions", "value"),
    [
        (np.eye(5), 1 / 5),
        (np.repeat(np.eye(3), 4, axis=0), 1 / 3),
        (cube(4), 1.0),
        (np.vstack([np.eye(4), cube(4)]), 1.0),
        (np.diag([1.0, 2.0]), 4 / 5),  # w = 4 (1 - w)
        (np.vstack([np.eye(4)[[0] * 300], 0.5 * np.eye(4)]), 1 / 13),  # the longest do not span
        (np.array([[-3.0]]), 9.0),
        (np.ones((3, 2)), 0.0),  # one direction only
        (random_actions(4, 7), 0.0),
        (np.zeros((2, 3)), 0.0),
    ],
)
def test_known_designs_are_found(actions, value):
    assert exploratory_design(actions).value == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_general_solver_finds_the_same_value(seed):
    actions = random_actions(6, 3, seed)
    assert exploratory_design(actions).value == pytest.approx(softest_design(actions), abs=2e-4)


@pytest.mark.parametrize("scale", [1e-6, 7.0, 1e6])
def test_the_value_scales_with_the_square_of_the_actions(scale):
    actions = random_actions(20, 4)
    once, scaled = exploratory_design(actions), exploratory_design(scale * actions)
    assert scaled.value == pytest.approx(scale**2 * once.value, rel=1e-6)
    assert scaled.weights == pytest.approx(once.weights, abs=1e-4)


def test_neither_the_order_of_actions_nor_a_rotation_matters():
    rng = np.random.default_rng(1)
    actions = random_actions(300, 4)
    value = exploratory_design(actions).value
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    assert exploratory_design(rng.permutation(actions)).value == pytest.approx(value, rel=1e-5)
    assert exploratory_design(actions @ rotation).value == pytest.approx(value, rel=1e-5)


def test_more_actions_never_make_it_worse():
    actions = random_actions(40, 3)
    values = [exploratory_design(actions[:k]).value for k in range(1, 41)]
    assert (np.diff(values) > -1e-5).all()


def test_an_answer_that_is_remembered_cannot_be_spoiled():
    design = exploratory_design(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        design.weights[0] = 1.0
    assert exploratory_design(np.eye(3)) is design
