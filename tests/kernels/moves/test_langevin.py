"""Langevin steps: the gradient against differences, the recursion against its plain statement."""

import math
from copy import deepcopy

import numpy as np
import pytest

from compiled import plain
from soids.kernels.moves import langevin
from soids.kernels.moves.langevin import Learning, Pace, Slope, State
from thread_counts import by_one_and_two_threads, needs_two_threads

SHARE, VARIANCE = 0.3, 0.8


def scene(dimension=5):
    """A target with two menus, and paces for it: equal steps, and steps by curvature."""
    rng = np.random.default_rng(dimension)
    played, columns = rng.uniform(-1, 1, (8, dimension)), rng.uniform(-1, 1, (dimension, 7))
    gram = played.T @ played
    slope = Slope(
        0.5, gram, played.sum(axis=0), 0.3 * played.sum(axis=0), columns, np.array([0, 4, 7]),
        np.array([1.5, 0.9]), 4.0, 0.2,
    )  # fmt: skip
    curvatures, axes = np.linalg.eigh(gram)
    curvatures, rows_of_axes = np.maximum(curvatures, 0.0), np.ascontiguousarray(axes.T)
    equal = Pace(0.4, curvatures[-1:], np.empty((0, 0)), np.empty((0, 0)))
    return slope, (equal, Pace(0.4, curvatures, np.ascontiguousarray(axes), rows_of_axes))


def learned(weight, learns=True):
    return Learning(weight, learns, learns, 9.0, 8.0, 2.0, 0.1)


def walk_arguments(weight=0.1, pace=0, chains=6, steps=5, dimension=5):
    slope, paces = scene(dimension)
    rng = np.random.default_rng(1)
    shape = (chains, dimension)
    state = State(
        rng.standard_normal(shape), rng.random(shape), rng.random(shape),
        rng.uniform(0.1, 0.9, chains), rng.uniform(0.5, 2.0, chains),
    )  # fmt: skip
    normals = rng.standard_normal((chains, steps, dimension))
    return state, slope, paces[pace], learned(weight), normals


def log_target(theta, slope):
    """The log density by its definition, up to a constant."""
    fit = theta @ slope.gram @ theta - 2.0 * slope.moment @ theta
    slab = np.exp(-0.5 * theta**2 / slope.slab_variance) / math.sqrt(
        2 * math.pi * slope.slab_variance
    )
    spike = np.exp(-np.abs(theta) / slope.spike_scale) / (2.0 * slope.spike_scale)
    rewards = theta @ slope.columns
    best = slope.tilts @ [rewards[:4].max(), rewards[4:].max()]
    log_prior = np.log(SHARE * slab + (1.0 - SHARE) * spike).sum()
    return log_prior - 0.5 * slope.eta / VARIANCE * fit + best - slope.drift @ theta


def gradient_at(theta, slope):
    """What one step climbs when all running values are those of the moment."""
    smoothed, gradient = np.empty(theta.size), np.empty(theta.size)
    for j, x in enumerate(theta):
        smoothed[j] = langevin.slab_probability(x, SHARE, slope.slab_variance, slope.spike_scale)
    langevin.climb(
        theta, slope.gram @ theta, smoothed, slope.eta / VARIANCE, slope, np.empty(7), gradient
    )
    return gradient


@pytest.mark.parametrize("size", [0.1, 0.5, 3.0])
def test_the_gradient_is_that_of_the_log_density(size):
    slope, _ = scene()
    rng = np.random.default_rng(0)
    for _ in range(10):
        theta = size * rng.standard_normal(5)
        theta += np.copysign(1e-3, theta)  # off the kinks of the spike
        shifts = 1e-6 * np.eye(5)
        differences = [
            (log_target(theta + shift, slope) - log_target(theta - shift, slope)) / 2e-6
            for shift in shifts
        ]
        assert gradient_at(theta, slope) == pytest.approx(np.array(differences), abs=1e-6)


@pytest.mark.parametrize("x", [0.0, 0.4, -3.0, 1e3, -1e8])
def test_far_values_have_a_slab_probability_too(x):
    assert 0.0 <= langevin.slab_probability(x, 0.1, 10.0, 0.1) <= 1.0


def test_the_walk_is_the_published_recursion():
    """One chain, step by step, in the order and the words of Deng et al. 2019."""
    state, slope, pace, learning, normals = walk_arguments(chains=1)
    theta, rho, smooth, share, variance = (each[0] for each in state)
    slab_variance, spike_scale, omega = slope.slab_variance, slope.spike_scale, learning.weight

    def adapt(theta, rho, smooth, share, variance):
        slab = share * np.exp(-0.5 * theta**2 / slab_variance) / np.sqrt(2 * np.pi * slab_variance)
        spike = (1 - share) * np.exp(-np.abs(theta) / spike_scale) / (2 * spike_scale)
        rho = (1 - omega) * rho + omega * slab / (slab + spike)
        smooth = (1 - omega) * smooth + omega * rho
        share = (1 - omega) * share + omega * (rho.sum() + 1) / (theta.size + 2)
        misfit = 9.0 + theta @ slope.gram @ theta - 2.0 * slope.moment @ theta
        found = (0.1 + 0.5 * slope.eta * misfit) / (2.0 + 0.5 * slope.eta * 8.0)
        return rho, smooth, share, (1 - omega) * variance + omega * found

    rho, smooth, share, variance = adapt(theta, rho, smooth, share, variance)
    for normal in normals[0]:
        power = slope.eta / variance
        rewards = theta @ slope.columns
        pull = 1.5 * slope.columns[:, rewards[:4].argmax()]
        pull = pull + 0.9 * slope.columns[:, 4 + rewards[4:].argmax()]
        gradient = power * (slope.moment - slope.gram @ theta) + pull - slope.drift
        gradient -= smooth * theta / slab_variance + (1 - smooth) * np.sign(theta) / spike_scale
        step = pace.step / (power * pace.curvatures[0] + spike_scale**-2)
        theta = theta + step * gradient + np.sqrt(2 * step) * normal
        rho, smooth, share, variance = adapt(theta, rho, smooth, share, variance)
    found = langevin.walk(state, slope, pace, learning, normals)
    for mine, theirs in zip((theta, rho, smooth, share, variance), found, strict=True):
        assert theirs[0] == pytest.approx(mine, rel=1e-10)


def test_steps_by_curvature_precondition_with_one_matrix():
    """Drift and noise are scaled by the same inverse of eta gram / variance + 1 / scale**2."""
    slope, (_, pace) = scene()
    power, floor = 0.7, slope.spike_scale**-2
    inverse = np.linalg.inv(power * slope.gram + floor * np.eye(5))
    gradient = np.arange(5.0)
    moved = np.zeros(5)
    langevin.move(moved, gradient, power, floor, pace, np.zeros(5))
    np.testing.assert_allclose(moved, pace.step * inverse @ gradient, atol=1e-14)
    noise = np.zeros((5, 5))
    for row, normal in zip(noise, np.eye(5), strict=True):
        langevin.move(row, np.zeros(5), power, floor, pace, normal)
    np.testing.assert_allclose(noise.T @ noise, 2.0 * pace.step * inverse, atol=1e-14)


@pytest.mark.parametrize("size", [1, 3, 4, 9])
def test_rows_are_combined(size):
    rng = np.random.default_rng(0)
    weights, matrix, total = rng.random(size), rng.random((size, 6)), np.empty(6)
    langevin.combine(weights, matrix, total)
    np.testing.assert_allclose(total, weights @ matrix, rtol=1e-14)


def test_a_walk_modifies_nothing_it_was_given():
    arguments = walk_arguments()
    before = deepcopy(arguments[0])
    langevin.walk(*arguments)
    for now, then in zip(arguments[0], before, strict=True):
        np.testing.assert_array_equal(now, then)


@needs_two_threads
@pytest.mark.parametrize("pace", [0, 1])
def test_the_number_of_threads_changes_no_bit(monkeypatch, pace):
    arguments = walk_arguments(pace=pace)
    found = by_one_and_two_threads(lambda: langevin.walk(*arguments), monkeypatch)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("pace", [0, 1])
def test_a_compiled_walk_equals_the_plain_one(monkeypatch, pace):
    arguments = walk_arguments(pace=pace)
    compiled = langevin.walk(*arguments)
    for name in ("walk_rows", "learn", "climb", "move", "combine", "slab_probability"):
        monkeypatch.setattr(langevin, name, plain(getattr(langevin, name)))
    for ours, theirs in zip(compiled, langevin.walk(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11)
