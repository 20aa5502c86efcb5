"""Chains and clouds of the samplers, and how they are judged against exact answers.

Every chain starts far away and moves alone, so last states are independent draws, and weighted
averages of them have the standard errors of plain importance sampling. The p-values of all averages
of one scene are pooled into one. Chains are drawn twice before they fail (`p_values.py`: right
moves fail with probability 1e-6 per scene). Particles that a test draws only once fail if their
pooled p-value is below ALONE: right ones with probability 1e-5 per scene. The oracles' own errors
are below 1e-3 of a posterior standard deviation, a tenth of a standard error.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np

from oracles import Exact, Past
from p_values import assert_plausible, pooled, two_sided
from referee.sampler import refereed
from soids.arrays import Floats
from soids.evidence import Evidence, Menu
from soids.particles import Particles
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.smc import moved, placed
from soids.posteriors.target import Target
from soids.posteriors.unknowns import draw_variances

ALONE = 1e-5  # the least pooled p-value of particles that are drawn only once
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
    return evidence.about_means() if past.intercept else evidence


def target_of(
    posterior, past: Past, eta: float, rate: float, own_odds: Floats | None = None
) -> Target:
    evidence = evidence_of(past)
    prior = posterior.prior(evidence)
    if own_odds is not None:
        prior = prior._replace(own_odds=own_odds)
    return Target.of(evidence, prior, eta, rate)


def first_states(target: Target, particles: int, rng: np.random.Generator) -> ParticleSystem:
    """Independent states far from the posterior: zero, or one feature at random if one must be."""
    prior = target.prior
    thetas = np.zeros((particles, len(target.moment)))
    if prior.smallest == 1:
        thetas[range(particles), rng.integers(thetas.shape[1], size=particles)] = prior.radius.low
    variances = draw_variances(prior.noise, np.zeros(particles), 0.0, rng)
    return placed(target, thetas, thetas != 0.0, variances)


def chains(target: Target, rng: np.random.Generator, particles: int = PARTICLES) -> ParticleSystem:
    """The last states of the fast engine's chains."""
    system = first_states(target, particles, rng)
    return moved(system, rng, 2 * SWEEPS)  # half of the moves each


def refereed_chains(target: Target, rng: np.random.Generator, particles: int = 1500) -> Particles:
    """The last states of the referee's chains."""
    first = first_states(target, particles, rng)
    states = refereed(target, first.thetas, first.included, sweeps=30, rng=rng)
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


def p_values(weights: Floats, values: Floats, means: Floats) -> Floats:  # (n,)
    """The p-values of weighted averages of independent draws with these exact means."""
    differences = weights @ values - means
    errors = standard_errors(weights, values, means)
    known = np.where(differences == 0.0, 0.0, math.inf)  # values that are all the same
    return two_sided(np.divide(differences, errors, out=known, where=errors > 0.0))


def exact_p_values(particles: Particles, exact: Exact, past: Past) -> Floats:
    """The p-values of all averages of a scene."""
    return p_values(particles.weights, *observables(particles, exact, past.menus[0]))


def mean_p_value(system: ParticleSystem, values: Floats, mean: float) -> Floats:  # (1,)
    """The p-value of the average of one more value of each particle."""
    return p_values(system.particles().weights, values[:, None], np.array([mean]))


def assert_exact(particles: Particles, exact: Exact, past: Past, *others: Floats) -> None:
    """Particles that are drawn once have the exact posterior; ``others`` are more p-values."""
    assert pooled(np.concatenate([exact_p_values(particles, exact, past), *others])) > ALONE


def assert_chains_exact(
    target: Target,
    exact: Exact,
    past: Past,
    others: Callable[[ParticleSystem], Floats] = lambda system: np.empty(0),
) -> None:
    """Chains for a target have the exact posterior; ``others`` returns more p-values of them."""

    def p_values_of_chains(rng: np.random.Generator, times: int) -> Floats:
        system = chains(target, rng, times * PARTICLES)
        return np.concatenate([exact_p_values(system.particles(), exact, past), others(system)])

    assert_plausible(p_values_of_chains)
