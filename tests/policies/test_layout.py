"""What the columns of actions are taken for: the intercept, levels of arms, contexts, features."""

import numpy as np
import pytest

from soids import SOIDS
from soids.evidence import Menu
from soids.features import disjoint, hybrid, shared
from soids.policies.layout import NEVER, Layout

ARMS = np.array([[0.3, 1.0], [0.9, -1.0], [0.1, 2.0]])


def contexts(count, rng):
    """A one, a measurement, and a condition that is there or not."""
    for _ in range(count):
        yield np.array([1.0, rng.standard_normal(), float(rng.random() < 0.5)])


def layout_of(sets):
    layout = None
    for actions in sets:
        layout = Layout.after(layout, Menu(np.array(actions, order="F")))
    return layout


def test_of_disjoint_blocks_the_ones_are_levels_and_the_rest_sums_to_contexts():
    layout = layout_of(disjoint(one, 3) for one in contexts(9, np.random.default_rng(0)))
    assert np.flatnonzero(layout.is_level()).tolist() == [0, 3, 6]
    assert [np.flatnonzero(row).tolist() for row in layout.directions] == [[1, 4, 7], [2, 5, 8]]
    assert layout.own_odds == pytest.approx(np.log([6.0, 1.0, 1.0] * 3))


def test_a_level_stays_one_while_arms_are_excluded():
    sets = [disjoint(one, 3) for one in contexts(9, np.random.default_rng(0))]
    layout = layout_of([*sets, sets[0][:2], sets[1][1:], sets[2]])
    assert np.flatnonzero(layout.is_level()).tolist() == [0, 3, 6]
    assert len(layout.directions) == 2


def test_a_hybrid_layout_has_common_columns_as_well():
    rng = np.random.default_rng(1)
    layout = layout_of(hybrid(one[1:], ARMS) for one in contexts(9, rng))
    assert not layout.is_level().any()  # it has no ones
    rows = [np.flatnonzero(row).tolist() for row in layout.directions]
    assert rows == [[0], [1], [4, 6, 8], [5, 7, 9]]
    layout = layout_of(hybrid(one, ARMS) for one in contexts(9, rng))
    assert layout.is_constant()[0]
    assert np.flatnonzero(layout.is_level()).tolist() == [5, 8, 11]
    assert layout.own_odds[:3].tolist() == [NEVER] * 3


def test_products_of_contexts_and_arms_are_features():
    rng = np.random.default_rng(2)
    layout = layout_of(shared(one[1:], ARMS, interactions=True) for one in contexts(5, rng))
    assert [np.flatnonzero(row).tolist() for row in layout.directions] == [[0], [1]]
    assert np.flatnonzero(layout.own_odds).tolist() == [0, 1]


def test_indicators_of_products_beside_their_features_are_levels():
    layout = layout_of([np.hstack([np.eye(3), ARMS])])
    assert layout.is_level().tolist() == [True] * 3 + [False] * 2
    assert layout_of([np.eye(3)]).own_odds is None  # nothing to compare them with


def test_features_without_a_layout_are_features():
    rng = np.random.default_rng(3)
    layout = layout_of(rng.standard_normal((4, 5)) for _ in range(2))
    assert layout.is_plain()
    assert layout.own_odds is None
    assert len(layout.directions) == 0
    assert layout_of([np.ones((1, 3))]) is None  # one action says nothing


@pytest.mark.parametrize("base", [0.0, 300.0])
def test_a_constant_column_is_left_to_the_intercept(base):
    """Then it changes nothing but random numbers, and is no feature."""
    rng, choices = np.random.default_rng(4), np.random.default_rng(5)
    actions = np.hstack([np.ones((12, 1)), rng.standard_normal((12, 4))])
    policy = SOIDS(5, particles=50)
    for _ in range(40):
        decision = policy.choose(actions, choices)
        policy.observe(decision, base + 2.0 * decision.action[1] + 0.3 * rng.standard_normal())
    assert policy.evidence.centred == (base > 0.0)
    assert policy.inclusion()[0] == 0.0
    assert decision.action[1] == actions[:, 1].max()


def test_a_first_set_without_all_arms_shows_no_blocks():
    """Later sets have more arms; which columns are whose cannot be told by their number."""
    rng = np.random.default_rng(3)
    sets = [disjoint(rng.standard_normal(2), 4)[:3], disjoint(rng.standard_normal(2), 4)]
    layout = layout_of([*sets, disjoint(rng.standard_normal(2), 4)])
    layout.validate()
    assert len(layout.directions) == 0
