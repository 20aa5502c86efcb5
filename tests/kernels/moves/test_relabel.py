"""The moves on Laplace spikes: one coordinate against quadrature, and the sweep around it."""

import itertools
import math
from copy import deepcopy

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import softmax

from compiled import flat, plain
from soids.kernels.categorical import pick
from soids.kernels.gram_rows import whole
from soids.kernels.moves import relabel
from soids.kernels.moves.target import PriorNumbers, TargetArrays
from thread_counts import by_one_and_two_threads, needs_two_threads

CONDITIONALS = [  # (slope, precision, slab_precision, spike_scale, odds)
    (0.0, 0.0, 0.1, 0.1, -2.0),  # a feature that the data do not show
    (6.0, 0.0, 0.5, 0.1, -2.0),
    (0.7, 2.0, 0.1, 0.5, -1.0),
    (-9.0, 8.0, 0.1, 0.1, -3.0),
    (40.0, 8.0, 0.1, 0.1, -3.0),
]


def sweep_arguments(rng, particles=30, dimension=5, tilts=(1.5, 0.9)):
    played = rng.uniform(-1.0, 1.0, (8, dimension))
    played[:, 2] = 0.0  # never seen
    columns = rng.uniform(-1.0, 1.0, (dimension, 7))
    thetas = rng.standard_normal((particles, dimension))
    included, powers = rng.random((particles, dimension)) < 0.4, rng.uniform(0.5, 2.0, particles)
    log_odds, own_odds = np.log(rng.random(dimension)), np.zeros(dimension)
    prior = PriorNumbers(log_odds, 0, 0.4, 0.2, False, 0.0, own_odds)
    target = TargetArrays(
        whole(played.T @ played), played.sum(axis=0), 0.3 * played.sum(axis=0), columns,
        np.array([0, 4, 7]), np.array(tilts), prior,
    )  # fmt: skip
    numbers = relabel.LabelNumbers(
        rng.random((particles, dimension)), rng.random((particles, 2)), rng.random((particles, 2)),
        rng.standard_normal((particles, dimension)),
    )  # fmt: skip
    return thetas, included, thetas @ columns, powers, target, numbers


def integral(function):
    """The integral over the line, in pieces that no narrow peak can hide between."""
    edges = [-40.0, -5.0, -1.0, 0.0, 1.0, 5.0, 40.0]
    return sum(quad(function, *piece, limit=200)[0] for piece in itertools.pairwise(edges))


@pytest.mark.parametrize("conditional", CONDITIONALS)
def test_a_coordinate_has_the_label_and_the_mean_of_its_conditional(conditional):
    slope, precision, slab_precision, spike_scale, odds = conditional

    def slab(x):
        return math.exp(odds + slope * x - 0.5 * (precision + slab_precision) * x * x)

    def spike(x):
        return math.exp(slope * x - 0.5 * precision * x * x - abs(x) / spike_scale)

    mass = integral(slab) + integral(spike)
    # On a regular grid of uniforms, averages are integrals over the uniform.
    grid = (np.arange(20_000) + 0.5) / 20_000
    draws = np.array([relabel.spike_or_slab(*conditional, u) for u in grid])
    assert draws[:, 0].mean() == pytest.approx(integral(slab) / mass, abs=1e-4)
    for power in (1, 2):
        moment = integral(lambda x, power=power: x**power * (slab(x) + spike(x))) / mass
        scale = math.sqrt(integral(lambda x: x * x * (slab(x) + spike(x))) / mass) ** power
        assert (draws[:, 1] ** power).mean() == pytest.approx(moment, abs=2e-3 * scale)


@pytest.mark.parametrize("u", [0.0, 1.0 - 2.0**-53])
@pytest.mark.parametrize("conditional", CONDITIONALS)
def test_an_extreme_uniform_draws_a_finite_coordinate(conditional, u):
    assert math.isfinite(relabel.spike_or_slab(*conditional, u)[1])


def swept_by_algebra(arguments, m):
    """One particle after a sweep, every law of the slabs solved anew; all arms follow the first."""
    thetas, included, rewards, powers, target, numbers = arguments
    gram, moment, drift, columns, starts, tilts, prior = target
    log_odds, slab, scale = prior.log_odds, prior.slab_precision, prior.spike_scale
    uniforms, arm_uniforms, rearm_uniforms, normals = numbers
    theta, label, quadratic = thetas[m].copy(), included[m].copy(), powers[m] * gram.rows
    menus = [slice(*ends) for ends in itertools.pairwise(starts)]
    arms = [
        menu.start + pick(softmax(tilt * rewards[m, menu]), u)
        for menu, tilt, u in zip(menus, tilts, arm_uniforms[m], strict=True)
    ]
    slopes = powers[m] * moment - drift + columns[:, arms] @ tilts

    def slabs(support, slopes):
        """Precision and slopes of the slabs on a support, beside the spikes as they are."""
        spikes = np.where(label, 0.0, theta)
        precision = quadratic[np.ix_(support, support)] + slab * np.eye(len(support))
        return precision, (slopes - quadratic @ spikes)[support]

    for j in range(len(theta)):
        others = [i for i in np.flatnonzero(label) if i != j]
        label[j], theta[j] = False, 0.0
        precision, beside = slabs(others, slopes)
        way = np.linalg.solve(precision, quadratic[others, j])
        label[j], theta[j] = relabel.spike_or_slab(
            slabs([j], slopes)[1][0] - way @ beside, quadratic[j, j] - way @ quadratic[others, j],
            slab, scale, log_odds[len(others)], uniforms[m, j],
        )  # fmt: skip
    active, spikes = np.flatnonzero(label), np.where(label, 0.0, theta)
    chosen = int(rearm_uniforms[m, 0] * len(menus))
    menu, tilt = menus[chosen], tilts[chosen]
    if tilt > 0.0:
        slopes = slopes - tilt * columns[:, arms[chosen]]
        scores = []
        for arm in range(menu.start, menu.stop):
            precision, own = slabs(active, slopes + tilt * columns[:, arm])
            gained = tilt * columns[:, arm] @ spikes
            scores.append(0.5 * own @ np.linalg.solve(precision, own) + gained)
        arm = menu.start + pick(softmax(scores), rearm_uniforms[m, 1])
        slopes = slopes + tilt * columns[:, arm]
    precision, own = slabs(active, slopes)
    return spikes, label, active, np.linalg.solve(precision, own), precision, normals[m]


@pytest.mark.parametrize("tilts", [(1.5, 0.9), (0.0, 0.9), (0.0, 0.0)])
@pytest.mark.parametrize("seed", range(2))
def test_a_sweep_does_what_algebra_does_anew_at_every_step(seed, tilts):
    """Labels, spikes and arm to rounding. Slabs are drawn in the order of their coming: their mean
    is where no noise is added, their spread the inverse of the precision.
    """
    arguments = sweep_arguments(np.random.default_rng(20 + seed), tilts=tilts)
    numbers = arguments[-1]
    still = (*arguments[:-1], numbers._replace(normals=np.zeros_like(numbers.normals)))
    thetas, included, _ = relabel.sweep(*arguments)
    means, _, _ = relabel.sweep(*still)
    for m in range(len(thetas)):
        spikes, label, active, mean, precision, normals = swept_by_algebra(arguments, m)
        np.testing.assert_array_equal(included[m], label)
        np.testing.assert_allclose(np.where(label, 0.0, thetas[m]), spikes, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(means[m, active], mean, rtol=1e-8, atol=1e-10)
        off = thetas[m, active] - mean
        length = (normals[: len(active)] ** 2).sum()
        assert off @ precision @ off == pytest.approx(length, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("power", [1e6, 1e13, 1e17])
def test_slabs_that_copy_each_other_are_swept(power):
    """Equal columns leave the second the slab's precision and nothing more, where rounding may
    leave less. Twenty times, as rounding is random.
    """
    for seed in range(20):
        rng = np.random.default_rng(seed)
        arguments, played = list(sweep_arguments(rng)), rng.uniform(-1.0, 1.0, (8, 5))
        played[:, 3] = played[:, 1]
        prior = arguments[4].prior._replace(log_odds=np.full(5, 50.0), spike_scale=0.05)  # slabs
        arguments[3], arguments[4] = np.full(30, power), arguments[4]._replace(
            gram=whole(played.T @ played), moment=played.T @ played.sum(axis=1),
            drift=0.3 * played.sum(axis=0), prior=prior,
        )  # fmt: skip
        thetas, included, rewards = relabel.sweep(*arguments)
        assert included.all() or power > 1e6
        for values in (thetas, rewards):
            assert np.isfinite(values).all()


def test_a_sweep_returns_the_rewards_of_the_parameters_it_returns():
    arguments = sweep_arguments(np.random.default_rng(0))
    thetas, included, rewards = relabel.sweep(*arguments)
    columns = arguments[4].columns
    assert (thetas != arguments[0]).all()
    assert included.dtype == np.bool_
    np.testing.assert_allclose(rewards, thetas @ columns, atol=1e-12)


def test_a_sweep_modifies_nothing_it_was_given():
    arguments = sweep_arguments(np.random.default_rng(1))
    before = deepcopy(arguments)
    relabel.sweep(*arguments)
    for now, then in zip(flat(arguments), flat(before), strict=True):
        np.testing.assert_array_equal(now, then)


@needs_two_threads
def test_the_number_of_threads_changes_no_bit(monkeypatch):
    arguments = sweep_arguments(np.random.default_rng(2))
    systems = by_one_and_two_threads(lambda: np.hstack(relabel.sweep(*arguments)), monkeypatch)
    np.testing.assert_array_equal(*systems)


def test_a_compiled_sweep_equals_the_plain_one(monkeypatch):
    arguments = sweep_arguments(np.random.default_rng(3))
    compiled = np.hstack(relabel.sweep(*arguments))
    monkeypatch.setattr(relabel, "sweep_rows", plain(relabel.sweep_rows))
    np.testing.assert_allclose(compiled, np.hstack(relabel.sweep(*arguments)), rtol=1e-11)


@pytest.mark.parametrize("u", [0.01, 0.3, 0.999])
@pytest.mark.parametrize("conditional", CONDITIONALS)
def test_compiled_equals_plain(conditional, u):
    theirs = plain(relabel.spike_or_slab)(*conditional, u)
    assert relabel.spike_or_slab(*conditional, u) == pytest.approx(theirs, rel=1e-13)
