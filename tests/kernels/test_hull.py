"""The search for the best edge, against all pairs of actions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import plain
from soids.kernels import hull

# Whole numbers make ties, duplicates and points on one line common.
points = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=9)
powers = st.sampled_from([2, 3])


def least_ratio(regret, gain, power):
    """The least ``regret**power / gain`` of all mixtures of two actions, from its slope's root."""
    (r, s), (g, h) = regret, gain
    shares = [0.0, 1.0]
    if s != r and h != g:
        shares.append(((h - g) * r - power * (s - r) * g) / ((power - 1) * (s - r) * (h - g)))
    mixtures = [(r + q * (s - r), g + q * (h - g)) for q in shares if 0.0 <= q <= 1.0]
    return min((x**power / y if y > 0.0 else np.inf) for x, y in mixtures)


def least_of_all(regret, gain, power):
    pairs = itertools.combinations_with_replacement(range(len(regret)), 2)
    return min(least_ratio(regret[[i, j]], gain[[i, j]], power) for i, j in pairs)


def arrays(actions):
    return np.ascontiguousarray(np.array(actions, dtype=float).T)


@given(points, powers)
def test_no_pair_beats_the_edge(actions, power):
    regret, gain = arrays(actions)
    ends = list(hull.best_edge(regret, gain, power))
    least = least_ratio(regret[ends], gain[ends], power)
    assert least == pytest.approx(least_of_all(regret, gain, power), rel=1e-12)


@pytest.mark.parametrize("power", [2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_no_pair_of_many_beats_the_edge(seed, power):
    regret, gain = np.random.default_rng(seed).lognormal(size=(2, 60))
    ends = list(hull.best_edge(regret, gain, power))
    least = least_ratio(regret[ends], gain[ends], power)
    assert least == pytest.approx(least_of_all(regret, gain, power), rel=1e-12)


@given(points, powers)
def test_no_action_lies_above_the_edge(actions, power):
    regret, gain = arrays(actions)
    left, right = hull.best_edge(regret, gain, power)
    along = np.array([regret[right] - regret[left], gain[right] - gain[left]])
    above = (gain - gain[left]) * along[0] - (regret - regret[left]) * along[1]
    assert (along >= 0.0).all()
    assert (above <= 0.0).all()


@given(points, powers)
def test_compiled_equals_plain(actions, power):
    regret, gain = arrays(actions)
    assert hull.best_edge(regret, gain, power) == plain(hull.best_edge)(regret, gain, power)


@given(st.lists(points, min_size=1, max_size=4))
def test_a_frontier_is_what_no_other_action_of_the_set_beats(menus):
    regret, gain = arrays([action for menu in menus for action in menu])
    starts = np.cumsum([0, *map(len, menus)])
    kept, begins = hull.frontiers(regret, gain, starts)
    for menu, (first, last) in enumerate(itertools.pairwise(starts)):
        found = [(regret[k], gain[k]) for k in kept[begins[menu] : begins[menu + 1]]]
        unbeaten = {
            (r, g)
            for r, g in menus[menu]
            if not any(x <= r and y >= g and (x, y) != (r, g) for x, y in menus[menu])
        }
        assert found == sorted(unbeaten)
        assert all(first <= k < last for k in kept[begins[menu] : begins[menu + 1]])


@given(st.lists(points, min_size=1, max_size=3))
def test_compiled_frontiers_equal_plain_ones(menus):
    regret, gain = arrays([action for menu in menus for action in menu])
    starts = np.cumsum([0, *map(len, menus)])
    both = hull.frontiers, plain(hull.frontiers)
    for one, other in zip(*(make(regret, gain, starts) for make in both), strict=True):
        np.testing.assert_array_equal(one, other)
