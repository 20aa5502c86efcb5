"""The referee's kernels: roofs against brute force, mixtures against a fine sum, moves against
their rules.
"""

import math
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import assert_compiled_equals_plain
from referee import envelope
from soids.kernels.gram_rows import whole
from soids.kernels.moves.flip import fields

STEPS = st.integers(-4, 4)  # whole numbers, so that lines are often parallel or equal


def roof_of(heights, slopes):
    return envelope.highest_lines(heights, slopes, np.argsort(slopes))


def roof_at(points, roof):
    heights, slopes, kinks = roof
    line = np.searchsorted(kinks, points, side="right") - 1
    return heights[line] + slopes[line] * points


@given(st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=12))
def test_the_roof_is_the_highest_line_everywhere(lines):
    heights, slopes = np.array(lines, dtype=np.float64).T
    points = np.linspace(-20.0, 20.0, 161)  # two lines of a pair meet within 8 of zero
    highest = (heights + np.outer(points, slopes)).max(axis=1)
    np.testing.assert_allclose(roof_at(points, roof_of(heights, slopes)), highest, atol=1e-12)


@given(st.lists(st.tuples(STEPS, STEPS), min_size=1, max_size=12))
def test_every_line_of_the_roof_is_the_highest_somewhere(lines):
    heights, slopes = np.array(lines, dtype=np.float64).T
    _, roof_slopes, kinks = roof_of(heights, slopes)
    assert len(kinks) == len(roof_slopes) + 1
    assert kinks[0] == -math.inf
    assert kinks[-1] == math.inf
    assert (np.diff(roof_slopes) > 0.0).all()
    assert (kinks[:-1] < kinks[1:]).all()


def mixture(rng, low=-1.5, high=2.0):
    """The bumps of a random coordinate, and their density by its definition."""
    heights, slopes = rng.standard_normal((2, 9))
    tilt, slope, precision, odds = 2.0, 0.7, 1.3, -0.4
    table = envelope.bumps(roof_of(heights, slopes), tilt, slope, precision, low, high, odds)

    def density(x):
        best = (heights + np.outer(x, slopes)).max(axis=1)
        return np.exp(odds + slope * x - 0.5 * precision * x**2 + tilt * best)

    return table, density


def midpoints(low, high, count=200_000):
    """Points and their spacing: sums over them are integrals to 1e-9."""
    width = (high - low) / count
    return low + width * (np.arange(count) + 0.5), width


def test_bumps_hold_the_mass_under_the_roof():
    for rng in np.random.default_rng(0).spawn(20):
        table, density = mixture(rng)
        points, width = midpoints(-1.5, 2.0)
        np.testing.assert_allclose(np.exp(table[:, 0]).sum(), density(points).sum() * width)


def test_a_draw_leaves_the_share_of_its_uniform_below():
    for rng in np.random.default_rng(1).spawn(20):
        table, density = mixture(rng)
        u = rng.random()
        _, drawn = envelope.drawn(table, u)
        below, width = midpoints(-1.5, drawn)
        np.testing.assert_allclose(
            density(below).sum() * width, u * np.exp(table[:, 0]).sum(), rtol=1e-8
        )


@pytest.mark.parametrize(("u", "row"), [(0.0, 1), (0.2, 1), (0.25, 3), (1.0 - 2.0**-53, 3)])
def test_rows_without_mass_are_never_drawn(u, row):
    table = np.zeros((5, 5))
    table[:, 0] = [-math.inf, 0.0, -math.inf, math.log(3.0), -math.inf]
    assert envelope.drawn(table, u) == (row, 0.0)  # atoms


RADIUS = 2.0


def sweep_arguments(rng, *, slab_precision=0.0, spike_scale=0.0, particles=40, cap=2):
    """Particles with labels on one feature each, in the middle of few data."""
    dimension = 4
    played = rng.uniform(-1.0, 1.0, (3, dimension))
    included = np.zeros((particles, dimension), dtype=bool)
    included[range(particles), rng.integers(dimension, size=particles)] = True
    subset = slab_precision == 0.0
    return (
        np.where(included, rng.uniform(-RADIUS, RADIUS, included.shape), 0.0), included,
        np.full(particles, RADIUS if spike_scale == 0.0 else math.inf),
        rng.uniform(0.5, 2.0, particles), whole(played.T @ played), rng.standard_normal(dimension),
        0.3 * played.sum(axis=0), rng.uniform(-1.0, 1.0, (dimension, 6)), 0.9,
        np.zeros(cap if subset else dimension), 1 if subset else 0, slab_precision, spike_scale,
        subset, rng.random((particles, dimension)), rng.random((particles, 2)),
    )  # fmt: skip


PRIORS = [{}, {"slab_precision": 0.5}, {"slab_precision": 0.5, "spike_scale": 0.2}]


def redraw_arguments(rng):
    """One particle in the middle of a sweep; the first four are what a redraw writes to."""
    thetas, included, _, _, gram, moment, drift, columns, tilt, *_ = sweep_arguments(rng)
    field = fields(thetas[0], 1.5, gram, 1.5 * moment - drift)
    return (
        thetas[0], included[0], thetas[0] @ columns, field, 1.5, RADIUS, math.log(2.0 * RADIUS),
        gram, columns, np.argsort(columns, axis=1), tilt, np.zeros(2), 1, 0.0, 0.0, rng.random(4),
    )  # fmt: skip


def swap_arguments(rng):
    *state, power, radius, _, gram, columns, order, tilt = redraw_arguments(rng)[:11]
    return (*state, power, radius, gram, columns, order, tilt, 0.0, rng.random(2))


def rows_arguments(rng, **prior):
    *before, columns, tilt = sweep_arguments(rng, particles=3, **prior)[:9]
    after = sweep_arguments(rng, particles=3, **prior)[9:]
    return (0, 3, *before, columns, np.argsort(columns, axis=1), tilt, *after)


def roof_arguments(rng):
    heights, slopes = rng.standard_normal((2, 6))
    return heights, slopes, np.argsort(slopes)


def bumps_arguments(rng):
    return envelope.highest_lines(*roof_arguments(rng)), 2.0, 0.7, 1.3, -1.0, 2.0, 0.1


def drawn_arguments(rng):
    return envelope.bumps(*bumps_arguments(rng)), rng.random()


@pytest.mark.parametrize(("kernel", "arguments"), [
    (envelope.highest_lines, roof_arguments),
    (envelope.bumps, bumps_arguments),
    (envelope.drawn, drawn_arguments),
    (envelope.redraw, redraw_arguments),
    (envelope.swap, swap_arguments),
    *((envelope.sweep_rows, partial(rows_arguments, **prior)) for prior in PRIORS),
])  # fmt: skip
def test_compiled_equals_plain(kernel, arguments):
    for rng in np.random.default_rng(3).spawn(10):
        assert_compiled_equals_plain(kernel, *arguments(rng), rtol=1e-9, atol=1e-12)


def test_a_redraw_keeps_rewards_and_field_up_to_date():
    for rng in np.random.default_rng(4).spawn(20):
        arguments = redraw_arguments(rng)
        theta, _, rewards, field, power, _, _, gram, columns, *_ = arguments
        linear = field + power * gram.rows @ theta
        envelope.redraw(*arguments)
        np.testing.assert_allclose(rewards, theta @ columns, atol=1e-12)
        np.testing.assert_allclose(field, linear - power * gram.rows @ theta, atol=1e-12)


def test_a_swap_changes_one_member_of_the_support():
    for rng in np.random.default_rng(5).spawn(20):
        arguments = swap_arguments(rng)
        theta, label = arguments[:2]
        label[:] = [True, True, False, False]
        theta[:] = [0.5, -0.7, 0.0, 0.0]
        envelope.swap(*arguments)
        assert label.sum() == 2
        assert ((theta != 0.0) == label).all()
        assert theta[0] == 0.5 or theta[1] == -0.7
        assert np.abs(theta).sum() <= RADIUS


def test_a_swap_weighs_each_feature_by_its_mass_under_the_roof():
    state = swap_arguments(np.random.default_rng(9))
    theta, _, _, field, power, _, gram, columns, _, tilt, *_ = state
    linear = field + power * gram.rows @ theta  # the only active feature is taken out: all are free
    points, _ = midpoints(-RADIUS, RADIUS, count=2000)
    masses = [
        np.exp(
            linear[j] * points
            - 0.5 * power * gram.diagonal[j] * points**2
            + tilt * np.outer(points, columns[j]).max(axis=1)
        ).sum()
        for j in range(4)
    ]
    counts = np.zeros(4)
    for u in (np.arange(500) + 0.5) / 500:
        *swapped, _ = deepcopy(state)
        envelope.swap(*swapped, np.array([0.5, u]))
        counts += swapped[1]
    # Evenly spaced uniforms fall on each share as often as its length says, give or take two.
    np.testing.assert_allclose(counts, 500 * np.array(masses) / np.sum(masses), atol=2.0)


def test_supports_never_leave_the_allowed_sizes_nor_parameters_the_ball():
    thetas, included, *stage, _, _ = sweep_arguments(np.random.default_rng(6), cap=2)
    sizes = set()
    for rng in np.random.default_rng(7).spawn(30):
        thetas, included = envelope.sweep(
            thetas, included, *stage, rng.random(thetas.shape), rng.random((len(thetas), 2))
        )
        np.testing.assert_array_equal(included, thetas != 0.0)
        assert (np.abs(thetas).sum(axis=1) <= RADIUS * (1.0 + 1e-15)).all()
        sizes |= set(included.sum(axis=1).tolist())
    assert sizes == {1, 2}


@pytest.mark.parametrize("prior", PRIORS)
def test_a_particle_does_not_feel_its_company(prior):
    arguments = sweep_arguments(np.random.default_rng(8), **prior)
    together = envelope.sweep(*arguments)
    per_particle = (0, 1, 2, 3, len(arguments) - 2, len(arguments) - 1)
    alone = envelope.sweep(
        *(part[7:8] if i in per_particle else part for i, part in enumerate(arguments))
    )
    for among_others, by_itself in zip(together, alone, strict=True):
        np.testing.assert_array_equal(among_others[7:8], by_itself)
