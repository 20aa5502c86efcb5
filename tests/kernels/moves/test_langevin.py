"""Langevin steps: the gradient against differences, the recursion against its plain statement."""

import math
from copy import deepcopy

import numpy as np
import pytest

from compiled import plain
from soids.kernels.gram_rows import whole
from soids.kernels.moves import langevin
from soids.kernels.moves.langevin import Learning, Pace, State
from soids.kernels.moves.target import PriorNumbers, TargetArrays
from thread_counts import by_one_and_two_threads, needs_two_threads

SHARE, VARIANCE, ETA = 0.3, 0.8, 0.5
SLAB_VARIANCE, SPIKE_SCALE = 4.0, 0.2


def scene(dimension=5):
    """A target with two action sets, and paces for it: equal steps, and steps by curvature."""
    rng = np.random.default_rng(dimension)
    played, columns = rng.uniform(-1, 1, (8, dimension)), rng.uniform(-1, 1, (dimension, 7))
    gram = played.T @ played
    none = np.zeros(dimension)
    prior = PriorNumbers(none, 0, 1.0 / SLAB_VARIANCE, SPIKE_SCALE, False, 0.0, none)
    target = TargetArrays(
        whole(gram), played.sum(axis=0), 0.3 * played.sum(axis=0), columns, np.array([0, 4, 7]),
        np.array([1.5, 0.9]), prior,
    )  # fmt: skip
    curvatures, axes = np.linalg.eigh(gram)
    curvatures, rows_of_axes = np.maximum(curvatures, 0.0), np.ascontiguousarray(axes.T)
    equal = Pace(0.4, curvatures[-1:], np.empty((0, 0)), np.empty((0, 0)))
    return target, (equal, Pace(0.4, curvatures, np.ascontiguousarray(axes), rows_of_axes))


def learned(weight, learns=True):
    return Learning(weight, learns, learns, SLAB_VARIANCE, SPIKE_SCALE, ETA, 9.0, 8.0, 2.0, 0.1)


def walk_arguments(weight=0.1, pace=0, chains=6, steps=5, dimension=5):
    target, paces = scene(dimension)
    rng = np.random.default_rng(1)
    shape = (chains, dimension)
    state = State(
        rng.standard_normal(shape), rng.random(shape), rng.random(shape),
        rng.uniform(0.1, 0.9, chains), rng.uniform(0.5, 2.0, chains),
    )  # fmt: skip
    normals = rng.standard_normal((chains, steps, dimension))
    return state, target, paces[pace], learned(weight), normals


def log_target(theta, target):
    """The log density by its definition, up to a constant."""
    fit = theta @ target.gram.rows @ theta - 2.0 * target.moment @ theta
    slab = np.exp(-0.5 * theta**2 / SLAB_VARIANCE) / math.sqrt(2 * math.pi * SLAB_VARIANCE)
    spike = np.exp(-np.abs(theta) / SPIKE_SCALE) / (2.0 * SPIKE_SCALE)
    rewards = theta @ target.columns
    best = target.tilts @ [rewards[:4].max(), rewards[4:].max()]
    log_prior = np.log(SHARE * slab + (1.0 - SHARE) * spike).sum()
    return log_prior - 0.5 * ETA / VARIANCE * fit + best - target.drift @ theta


def gradient_at(theta, target):
    """What one step climbs when all running values are those of the moment."""
    smoothed, gradient = np.empty(theta.size), np.empty(theta.size)
    for j, x in enumerate(theta):
        smoothed[j] = langevin.slab_probability(x, SHARE, SLAB_VARIANCE, SPIKE_SCALE)
    fitted, power = target.gram.rows @ theta, ETA / VARIANCE
    langevin.climb(theta, fitted, smoothed, power, target, np.empty(7), gradient)
    return gradient


@pytest.mark.parametrize("size", [0.1, 0.5, 3.0])
def test_the_gradient_is_that_of_the_log_density(size):
    target, _ = scene()
    rng = np.random.default_rng(0)
    for _ in range(10):
        theta = size * rng.standard_normal(5)
        theta += np.copysign(1e-3, theta)  # off the kinks of the spike
        shifts = 1e-6 * np.eye(5)
        differences = [
            (log_target(theta + shift, target) - log_target(theta - shift, target)) / 2e-6
            for shift in shifts
        ]
        assert gradient_at(theta, target) == pytest.approx(np.array(differences), abs=1e-6)


@pytest.mark.parametrize("x", [0.0, 0.4, -3.0, 1e3, -1e8])
def test_far_values_have_a_slab_probability_too(x):
    assert 0.0 <= langevin.slab_probability(x, 0.1, 10.0, 0.1) <= 1.0


def test_the_walk_is_the_published_recursion():
    """One chain, step by step, in the order and the words of Deng et al. 2019."""
    state, target, pace, learning, normals = walk_arguments(chains=1)
    gram = target.gram.rows
    theta, rho, smooth, share, variance = (each[0] for each in state)
    slab_variance, spike_scale, omega = SLAB_VARIANCE, SPIKE_SCALE, learning.weight

    def adapt(theta, rho, smooth, share, variance):
        slab = share * np.exp(-0.5 * theta**2 / slab_variance) / np.sqrt(2 * np.pi * slab_variance)
        spike = (1 - share) * np.exp(-np.abs(theta) / spike_scale) / (2 * spike_scale)
        rho = (1 - omega) * rho + omega * slab / (slab + spike)
        smooth = (1 - omega) * smooth + omega * rho
        share = (1 - omega) * share + omega * (rho.sum() + 1) / (theta.size + 2)
        misfit = 9.0 + theta @ gram @ theta - 2.0 * target.moment @ theta
        found = (0.1 + 0.5 * ETA * misfit) / (2.0 + 0.5 * ETA * 8.0)
        return rho, smooth, share, (1 - omega) * variance + omega * found

    rho, smooth, share, variance = adapt(theta, rho, smooth, share, variance)
    for normal in normals[0]:
        power = ETA / variance
        rewards = theta @ target.columns
        pull = 1.5 * target.columns[:, rewards[:4].argmax()]
        pull = pull + 0.9 * target.columns[:, 4 + rewards[4:].argmax()]
        gradient = power * (target.moment - gram @ theta) + pull - target.drift
        gradient -= smooth * theta / slab_variance + (1 - smooth) * np.sign(theta) / spike_scale
        step = pace.step / (power * pace.curvatures[0] + spike_scale**-2)
        theta = theta + step * gradient + np.sqrt(2 * step) * normal
        rho, smooth, share, variance = adapt(theta, rho, smooth, share, variance)
    found = langevin.walk(state, target, pace, learning, normals)
    for mine, theirs in zip((theta, rho, smooth, share, variance), found, strict=True):
        assert theirs[0] == pytest.approx(mine, rel=1e-10)


def test_steps_by_curvature_precondition_with_one_matrix():
    """Drift and noise are scaled by the same inverse of eta gram / variance + 1 / scale**2."""
    target, (_, pace) = scene()
    power, floor = 0.7, SPIKE_SCALE**-2
    inverse = np.linalg.inv(power * target.gram.rows + floor * np.eye(5))
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
