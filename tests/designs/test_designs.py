"""Designs: certificates, known answers, symmetries, and a general conic solver."""

import itertools
import math

import numpy as np
import pytest

from benchmarks.conic import conic_c_min, conic_h_star
from soids.designs import Design, exploratory_design, optimal_design, popart_design

DESIGNS = [exploratory_design, popart_design, optimal_design]


def random_actions(count, dimension, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (count, dimension))


def cube(dimension):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=dimension)))


def hard(dimension):
    """Case 1 of PopArt's experiments: e_1 / sqrt(d), and e_1 + e_i / sqrt(d) for the others."""
    actions = np.eye(dimension) / math.sqrt(dimension)
    actions[1:, 0] = 1.0
    return actions


ACTION_SETS = [
    pytest.param(actions, id=name)
    for name, actions in {
        "6x3": random_actions(6, 3),
        "200x20": random_actions(200, 20),
        "200x100": random_actions(200, 100),
        "many more actions than features": random_actions(5000, 5),
        "one action": random_actions(1, 1),
        "as many actions as features": random_actions(30, 30),
        "a few very long actions": np.random.default_rng(0).standard_t(1, (400, 4)),
        "one very long action": np.vstack([1e5 * np.eye(6)[:1], random_actions(30, 6)]),
        "cube": cube(6),
        "corners": (cube(9) + 1.0) / 2.0,
        "hard": hard(30),
        "zeros": np.vstack([np.zeros((20, 4)), random_actions(20, 4)]),
        "repeated": np.repeat(random_actions(30, 6), 5, axis=0),
        "nearly repeated": np.repeat(cube(3), 20, axis=0) + 1e-10 * random_actions(160, 3),
        "parallel": random_actions(200, 1) * np.repeat(random_actions(10, 5), 20, axis=0),
        "nearly flat": random_actions(30, 6) * [1.0, 1.0, 1.0, 1.0, 1.0, 1e-6],
        "tiny": 1e-6 * random_actions(20, 4),
        "huge": 1e6 * random_actions(20, 4),
    }.items()
]


def moment(design, actions):
    return actions.T @ (design.weights[:, None] * actions)


@pytest.mark.parametrize("actions", ACTION_SETS)
@pytest.mark.parametrize("solve", DESIGNS)
def test_the_gap_is_below_the_tolerance(solve, actions):
    design = solve(actions)
    assert design.weights.min() >= 0.0
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert design.gap <= 1e-5
    assert abs(design.bound - design.value) == pytest.approx(design.gap * design.value, rel=1e-9)
    assert solve(actions, 0.1).gap <= 0.1
    assert solve(actions, 1e-6).gap <= 1e-5  # about what rounding leaves on the worst of these


@pytest.mark.parametrize("actions", ACTION_SETS)
def test_the_value_is_that_of_the_weights(actions):
    exploratory, popart, optimal = (solve(actions) for solve in DESIGNS)
    smallest = np.linalg.eigvalsh(moment(exploratory, actions))[0]
    variances = np.diagonal(np.linalg.inv(moment(popart, actions)))
    errors = ((actions @ np.linalg.inv(moment(optimal, actions))) * actions).sum(axis=1)
    assert exploratory.value == pytest.approx(smallest, rel=1e-4)  # eigvalsh's, when nearly flat
    assert popart.value == pytest.approx(variances.max(), rel=1e-7)
    assert optimal.value == pytest.approx(errors.max(), rel=1e-7)


@pytest.mark.parametrize("actions", ACTION_SETS)
def test_the_bounds_are_on_the_right_side(actions):
    rounding = 1e-12
    exploratory, popart, optimal = (solve(actions) for solve in DESIGNS)
    assert exploratory.value <= exploratory.bound * (1 + rounding)
    assert popart.value >= popart.bound * (1 - rounding)
    assert optimal.value >= optimal.bound * (1 - rounding)
    assert popart.bound <= 1.0 / exploratory.value * (1 + rounding)  # H_*^2 <= 1 / C_min


@pytest.mark.parametrize("solve", DESIGNS)
def test_no_other_design_passes_the_bound(solve):
    actions = random_actions(8, 3)
    bound = solve(actions).bound
    for weights in np.random.default_rng(1).dirichlet(np.full(8, 0.7), size=2000):
        matrix = actions.T @ (weights[:, None] * actions)
        if solve is exploratory_design:
            assert np.linalg.eigvalsh(matrix)[0] <= bound
        elif solve is popart_design:
            assert np.diagonal(np.linalg.inv(matrix)).max() >= bound
        else:
            assert ((actions @ np.linalg.inv(matrix)) * actions).sum(axis=1).max() >= bound


@pytest.mark.parametrize(
    ("actions", "value"),
    [
        (np.eye(5), 1 / 5),
        (np.repeat(np.eye(3), 4, axis=0), 1 / 3),
        (cube(4), 1.0),
        (np.vstack([np.eye(4), cube(4)]), 1.0),
        (np.diag([1.0, 2.0]), 4 / 5),  # w = 4 (1 - w)
        (np.vstack([np.eye(4)[[0] * 300], 0.5 * np.eye(4)]), 1 / 13),  # the longest do not span
        (np.diag([1.0, 1e-10]), 1e-20),
        (np.array([[-3.0]]), 9.0),
    ],
)
def test_known_designs_are_found(actions, value):
    """On axes and on cubes all coordinates are alike, so that H_*^2 = 1 / C_min."""
    assert exploratory_design(actions).value == pytest.approx(value, rel=2e-5)
    assert popart_design(actions).value == pytest.approx(1 / value, rel=2e-5)


@pytest.mark.parametrize("dimension", [2, 10, 30])
def test_the_hard_case_of_popart_has_a_closed_form(dimension):
    """With coefficients c of u in the basis of actions, ``u'Q^-1u = sum_k c_k^2 / w_k``.

    Here ``e_1 = sqrt(d) a_1`` and ``e_i = sqrt(d) a_i - d a_1``; the best weights make the sum
    ``(sum_k |c_k|)^2`` once the coordinates i >= 2, which are alike, share theirs.
    """
    d = dimension
    h_star = d * (math.sqrt(d) + math.sqrt(d - 1)) ** 2
    inverse_c_min = d + d * (d - 1) * (1 + math.sqrt(d)) ** 2
    assert popart_design(hard(d)).value == pytest.approx(h_star, rel=2e-5)
    assert exploratory_design(hard(d)).value == pytest.approx(1 / inverse_c_min, rel=2e-5)


@pytest.mark.parametrize(
    "actions",
    [
        random_actions(30, 6),
        random_actions(60, 10, seed=1),
        random_actions(12, 12, seed=2),
        np.random.default_rng(3).standard_t(2, (50, 5)),
        hard(10),
    ],
    ids=lambda actions: f"{actions.shape[0]}x{actions.shape[1]}",
)
def test_a_conic_solver_finds_the_same_values(actions):
    c_min, h_star = conic_c_min(actions), conic_h_star(actions)
    exploratory, popart = exploratory_design(actions, 1e-6), popart_design(actions, 1e-6)
    assert exploratory.value == pytest.approx(c_min, rel=1e-5)
    assert popart.value == pytest.approx(h_star, rel=1e-5)
    # The solver's own error is below 1e-6.
    assert exploratory.value <= c_min * (1 + 1e-6) <= exploratory.bound * (1 + 2e-6)
    assert popart.value >= h_star * (1 - 1e-6) >= popart.bound * (1 - 2e-6)


@pytest.mark.parametrize("scale", [1e-6, 7.0, 1e6])
def test_values_scale_with_the_square_of_the_actions(scale):
    actions = random_actions(20, 4)
    powers = [2, -2, 0]
    for solve, power in zip(DESIGNS, powers, strict=True):
        once, scaled = solve(actions), solve(scale * actions)
        assert scaled.value == pytest.approx(scale**power * once.value, rel=2e-5)
        assert scaled.weights == pytest.approx(once.weights, abs=1e-3)


def test_order_signs_and_bases_of_the_actions_do_not_matter():
    rng = np.random.default_rng(1)
    actions = random_actions(300, 4)
    rotation, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    signs, skew = rng.choice([-1.0, 1.0], 4), rng.standard_normal((4, 4))
    for solve in DESIGNS:
        shuffled = solve(rng.permutation(actions)).value
        assert shuffled == pytest.approx(solve(actions).value, rel=2e-5)
    c_min, h_star = exploratory_design(actions).value, popart_design(actions).value
    weights = optimal_design(actions).weights
    assert exploratory_design(actions @ rotation).value == pytest.approx(c_min, rel=2e-5)
    assert popart_design(actions * signs).value == pytest.approx(h_star, rel=2e-5)
    assert optimal_design(actions @ skew).weights == pytest.approx(weights, abs=1e-3)


def test_more_actions_never_make_it_worse():
    actions = random_actions(40, 3)
    c_min = [exploratory_design(actions[:k]).value for k in range(3, 41)]
    h_star = [popart_design(actions[:k]).value for k in range(3, 41)]
    assert (np.diff(c_min) >= -1e-5 * np.array(c_min[:-1])).all()
    assert (np.diff(h_star) <= 1e-5 * np.array(h_star[:-1])).all()


@pytest.mark.parametrize(
    ("actions", "dimensions"),
    [
        (np.ones((3, 2)), 1),
        (random_actions(4, 7), 4),
        (np.zeros((2, 3)), 0),
        (random_actions(50, 3) @ random_actions(3, 6), 3),
        (1e-6 * np.hstack([random_actions(50, 5), np.zeros((50, 1))]), 5),
    ],
)
def test_actions_that_do_not_span(actions, dimensions):
    unit = np.linalg.norm(actions, axis=1).max() ** 2
    exploratory = exploratory_design(actions)
    assert exploratory.value == 0.0
    assert 0.0 <= exploratory.bound <= 1e-20 * unit
    optimal = optimal_design(actions)
    assert optimal.bound == dimensions
    assert optimal.value == pytest.approx(dimensions, rel=2e-5)
    inverse = np.linalg.pinv(moment(optimal, actions), rcond=1e-10, hermitian=True)
    assert ((actions @ inverse) * actions).sum(axis=1).max() == pytest.approx(optimal.value)
    with pytest.raises(ValueError, match=f"actions must span .* they span {dimensions} dim"):
        popart_design(actions)


def test_the_gap_of_a_zero_value():
    assert Design(np.ones(1), 0.0, 0.0).gap == 0.0
    assert Design(np.ones(1), 0.0, 1e-30).gap == math.inf


@pytest.mark.parametrize("solve", DESIGNS)
def test_a_tolerance_below_rounding_is_tried_and_the_gap_reported(solve):
    design = solve(random_actions(30, 6), 1e-15)
    assert 1e-15 < design.gap < 1e-6


@pytest.mark.parametrize("solve", DESIGNS)
@pytest.mark.parametrize(
    ("actions", "tolerance", "message"),
    [
        (np.ones(3), 1e-6, r"actions must have shape \(K, d\), one action a row, got \(3,\)"),
        (
            np.ones((0, 3)),
            1e-6,
            r"actions must have shape \(K, d\), one action a row, got \(0, 3\)",
        ),
        ([[1.0, math.nan]], 1e-6, r"actions\[0, 1\] must be finite"),
        (np.eye(2), 0.0, "tolerance must be above 0, got 0"),
        (np.eye(2), "small", "tolerance must be a real number, got 'small'"),
    ],
)
def test_bad_arguments_are_named(solve, actions, tolerance, message):
    with pytest.raises(ValueError, match=message):
        solve(actions, tolerance)


@pytest.mark.parametrize("solve", DESIGNS)
def test_a_cached_design_cannot_be_changed(solve):
    design = solve(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        design.weights[0] = 1.0
    assert solve(np.eye(3)) is design
    assert solve(np.eye(3), 1e-3) is not design


@pytest.mark.slow
@pytest.mark.parametrize("solve", [exploratory_design, popart_design])
def test_two_thousand_actions_with_five_hundred_features(solve):
    assert solve(random_actions(2000, 500), 1e-3).gap <= 1e-3
