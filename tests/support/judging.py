"""Chains and clouds of the samplers, and how they are judged against exact answers.

Every chain starts far away and moves alone, so last states are independent draws, and weighted
averages of them have the standard errors of plain importance sampling. The p-values of all averages
of one scene are pooled into one (Cauchy combination, Liu & Xie 2020, which allows for any
dependence). A scene whose pooled value is below ALPHA is drawn again, by another seed and with four
times the particles, and fails if that value is below ALPHA, too: chance goes away, a bug grows. So
right moves fail with probability ALPHA squared, 1e-6 a scene; the tests draw some 100 scenes. What
is not drawn again must exceed ALONE. The oracles' own errors are below 1e-3 of a posterior standard
deviation, a tenth of a standard error.
"""

import itertools
import math

import numpy as np
from scipy.stats import cauchy, norm

from oracles import Exact, Past
from referee.sampler import refereed
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.particles import Particles
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.smc import moved, placed
from soids.posteriors.target import Target
from soids.posteriors.unknowns import draw_variances

Z = 4.0  # standard errors within which single averages must agree
ALPHA, ALONE = 1e-3, 1e-5  # of the pooled p-value of a scene: with a second draw, and without
PARTICLES, SWEEPS = 3000, 20
COMMON = 0.05  # what is rarer is compared together, or not at all: too few draws to be Gaussian


def scene(
    dimension: int, rounds: int, *, noise: float = 1.0, menus: int = 1, actions: int = 7
) -> Past:
    """A past in which a sparse parameter earned the rewards of actions played at random."""
    rng = np.random.default_rng([dimension, rounds])
    theta = np.array([0.8, -0.6, *[0.0] * dimension])[:dimension]
    offers = tuple(rng.uniform(-1, 1, (actions, dimension)) for _ in range(menus))
    offered = tuple(int(n) for n in rng.integers(menus, size=rounds))
    played = np.array([offers[n][rng.integers(actions)] for n in offered])
    return Past(offers, offered, played, played @ theta + noise * rng.standard_normal(rounds))


def evidence_of(past: Past) -> Evidence:
    menus = [Menu(actions) for actions in past.menus]
    evidence = Evidence.empty(past.played.shape[1])
    for offer, action, reward in zip(past.offered, past.played, past.rewards, strict=True):
        evidence = evidence.add(menus[offer], action, float(reward))
    return evidence


def target_of(posterior, past: Past, eta: float, rate: float) -> Target:
    evidence = evidence_of(past)
    return Target.of(evidence, posterior.prior(evidence), eta, rate)


def first_states(target: Target, particles: int, rng: np.random.Generator) -> ParticleSystem:
    """Independent states far from the posterior: zero, or one feature at random if one must be."""
    prior = target.prior
    thetas = np.zeros((particles, len(target.moment)))
    if prior.smallest == 1:
        thetas[range(particles), rng.integers(thetas.shape[1], size=particles)] = prior.radius.low
    variances = draw_variances(prior.noise, np.zeros(particles), 0.0, rng)
    return placed(target, thetas, thetas != 0.0, variances)


def chains(
    target: Target, particles: int = PARTICLES, sweeps: int = SWEEPS, seed: int = 8
) -> ParticleSystem:
    """The last states of the fast engine's chains."""
    rng = np.random.default_rng(seed)
    system = first_states(target, particles, rng)
    return moved(system, rng, 2 * sweeps)  # half of the moves each


def refereed_chains(target: Target, particles: int = 1500, sweeps: int = 30) -> Particles:
    """The last states of the referee's chains."""
    rng = np.random.default_rng(2)
    first = first_states(target, particles, rng)
    states = refereed(target, first.thetas, first.included, sweeps=sweeps, rng=rng)
    return Particles(*states, np.full(particles, 1.0 / particles))


def observables(particles: Particles, exact: Exact, menu: Floats) -> tuple[Floats, Floats]:
    """What is compared: values (M, n) under each particle, and their exact means (n,)."""
    thetas, included, _ = particles
    size = sum(p * len(support) for support, p in exact.supports.items())
    values, means = [included.sum(axis=1)], [[size]]
    for i, j in itertools.combinations_with_replacement(range(thetas.shape[1]), 2):
        if sum(p for support, p in exact.supports.items() if {i, j} <= set(support)) > COMMON:
            values.append(thetas[:, i] * thetas[:, j])
            means.append([exact.second[i, j]])
            if i == j:
                values.append(thetas[:, i])
                means.append([exact.mean[i]])
    if not math.isnan(exact.best):
        values.append((thetas @ menu.T).max(axis=1))
        means.append([exact.best])
    found = [tuple(np.flatnonzero(label).tolist()) for label in included]
    common = [support for support, p in exact.supports.items() if COMMON < p < 1.0 - COMMON]
    for support in common:
        values.append(np.array([own == support for own in found]))
        means.append([exact.supports[support]])
    rare = 1.0 - sum(exact.supports[support] for support in common)
    if COMMON < rare < 1.0 - COMMON:
        values.append(np.array([own not in common for own in found]))
        means.append([rare])
    return np.column_stack(values), np.concatenate(means)


def standard_errors(weights: Floats, values: Floats, means: Floats) -> Floats:
    """Of weighted averages of independent draws: values (M, n) spread around their means (n,)."""
    return np.sqrt(weights**2 @ (values - means) ** 2)


def pooled_p_value(particles: Particles, exact: Exact, past: Past) -> float:
    """One p-value for all averages of a scene."""
    values, means = observables(particles, exact, past.menus[0])
    errors = standard_errors(particles.weights, values, means)
    z = (particles.weights @ values - means) / errors
    p_values = np.clip(2.0 * norm.sf(np.abs(z)), 1e-15, 0.99)
    return float(cauchy.sf(np.mean(1.0 / np.tan(np.pi * p_values))))


def assert_exact(particles: Particles, exact: Exact, past: Past) -> None:
    assert pooled_p_value(particles, exact, past) > ALONE


def assert_chains_exact(target: Target, exact: Exact, past: Past) -> None:
    """Chains for a target have the exact posterior, if need be those of a second draw."""
    if not pooled_p_value(chains(target).particles(), exact, past) > ALPHA:
        again = chains(target, 4 * PARTICLES, seed=9).particles()
        assert pooled_p_value(again, exact, past) > ALPHA


def assert_mean(cloud: ParticleSystem, values: Floats, mean: float) -> None:
    weights = cloud.particles().weights
    error = standard_errors(weights, values[:, None], np.array([mean]))[0]
    assert abs(weights @ values - mean) <= Z * error  # both are zero if the values are known
