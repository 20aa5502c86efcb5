"""Geweke's joint-distribution test of the moves, in the form of Gandy and Scott: what starts in
equilibrium must stay in it.

A state drawn from the prior is a draw from the moves' target once it carries the weight

    likelihood**eta * exp(sum over action sets of log-sum-exp(tilt * rewards) - <theta, drift>)

so for any function g of the state, weight * (g after the moves - g before) has mean zero, whatever
rewards were seen. These differences are independent between particles: their standard error is
honest, without the autocorrelation of one long chain. Priors and weights are written here from
their definitions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp

from p_values import assert_plausible, two_sided
from soids.arrays import Bools, Floats
from soids.evidence import Evidence
from soids.kernels.moves.sweep import CHAIN, PARTICLES, PINNED_CHAIN
from soids.posteriors import Relaxed, SpikeSlab, smc
from soids.posteriors.particle_system import ParticleSystem
from soids.posteriors.prior import Prior
from soids.posteriors.target import Target
from soids.posteriors.unknowns import Noise, Span, draw_radii
from tilted_priors import (
    ACTIONS,
    DIMENSION,
    MENUS,
    NOISE,
    PLAYED,
    POSTERIORS,
    RADIUS,
    SHARE,
    SLAB,
    SPARSITY,
    Draws,
    Rng,
    relaxed_draws,
    spike_slab_draws,
    subset_draws,
)

pytestmark = pytest.mark.usefixtures("one_thread")

SPREAD = 0.5  # of the values that are alike, over their size
WIDE = 0.4  # enough for wrong spikes to show, too much where a whole run must stay proper


def alike_draws(count: int, rng: Rng) -> Draws:
    """Independent spikes, and slabs of two bumps, all drawn again if outside the ball."""
    size = RADIUS / SPARSITY
    thetas = np.full((count, DIMENSION), np.inf)
    while (outside := np.abs(thetas).sum(axis=1) > RADIUS).any():
        shape = (outside.sum(), DIMENSION)
        slabs = rng.normal(size * rng.choice([-1.0, 1.0], shape), SPREAD * size)
        thetas[outside] = np.where(rng.random(shape) < SHARE, slabs, 0.0)
    return thetas, thetas != 0.0


class Law(NamedTuple):
    """A prior as the sampler knows it, and as it is drawn here given the radii of its balls."""

    prior: Prior
    draw: Callable[[Floats, Rng], Draws]


def laws() -> dict[str, Law]:
    """Every prior, and what can be unknown about it."""
    nothing = Evidence.empty(DIMENSION)
    subset, spike_slab = (POSTERIORS[name].prior(nothing) for name in ("subset", "spike_slab"))
    wide = {"noise": NOISE, "slab_variance": SLAB**2, "spike_scale": WIDE}
    relaxed = Relaxed(DIMENSION, sparsity=SPARSITY, **wide).prior(nothing)
    any_share = SpikeSlab(DIMENSION, radius=RADIUS, noise=NOISE, slab_variance=SLAB**2)
    alike = SpikeSlab(DIMENSION, sparsity=SPARSITY, radius=RADIUS, noise=NOISE, spread=SPREAD)
    any_label = Relaxed(DIMENSION, **wide)
    vague = Noise(5.0, 5.0 * NOISE**2)

    def draw_subset(radii: Floats, rng: Rng) -> Draws:
        # The moves visit one size more than allowed, ten times rarer than by the prior.
        return subset_draws(radii, SPARSITY + 1, rng, last=0.1)

    def draw_spike_slab(radii: Floats, rng: Rng) -> Draws:
        return spike_slab_draws(len(radii), rng)

    def draw_alike(radii: Floats, rng: Rng) -> Draws:
        return alike_draws(len(radii), rng)

    def draw_any_share(radii: Floats, rng: Rng) -> Draws:
        return spike_slab_draws(len(radii), rng, share=None)

    def draw_relaxed(radii: Floats, rng: Rng) -> Draws:
        return relaxed_draws(len(radii), rng, spike=WIDE)

    def draw_any_label(radii: Floats, rng: Rng) -> Draws:
        return relaxed_draws(len(radii), rng, share=None, spike=WIDE)

    return {
        "subset": Law(subset, draw_subset),
        "spike_slab": Law(spike_slab, draw_spike_slab),
        "spike_slab, alike": Law(alike.prior(nothing), draw_alike),
        "relaxed": Law(relaxed, draw_relaxed),
        "subset, radius unknown": Law(subset._replace(radius=Span(0.5, 2.5)), draw_subset),
        "subset, noise unknown": Law(subset._replace(noise=vague), draw_subset),
        "relaxed, noise unknown": Law(relaxed._replace(noise=vague), draw_relaxed),
        "spike_slab, sparsity unknown": Law(any_share.prior(nothing), draw_any_share),
        "relaxed, sparsity unknown": Law(any_label.prior(nothing), draw_any_label),
    }


LAWS = laws()


def log_uniform(span: Span, count: int, rng: Rng) -> Floats:
    if span.known:
        return np.full(count, span.low)
    return np.exp(rng.uniform(np.log(span.low), np.log(span.high), count))


def inverse_gamma(noise: Noise, count: int, rng: Rng) -> Floats:
    if noise.known:
        return np.full(count, noise.scale)
    return noise.scale / rng.gamma(noise.shape, size=count)


class Scene(NamedTuple):
    """A target, and draws from its prior that the definition of the target weighs."""

    target: Target
    draws: tuple[Floats, Bools, Floats]  # thetas, included, variances
    radii: Floats  # (M,)  of the balls in which the thetas were drawn
    log_weights: Floats  # (M,)  of the moves' target over the prior

    def system(self) -> ParticleSystem:
        return smc.placed(self.target, *self.draws)

    def weights(self) -> Floats:
        return np.exp(self.log_weights - logsumexp(self.log_weights))


def scene(law: Law, count: int, eta: float, rate: float, rng: Rng) -> Scene:
    """What the law believes after six rounds; any rewards will do, for all are possible."""
    rewards = np.array([0.4, -0.3, 0.6, 0.1, -0.8, 0.9])
    evidence = Evidence.empty(DIMENSION)
    for (index, arm), reward in zip(PLAYED, rewards, strict=True):
        evidence = evidence.add(MENUS[index], MENUS[index].actions[arm], reward)

    radii = log_uniform(law.prior.radius, count, rng)
    variances = inverse_gamma(law.prior.noise, count, rng)
    thetas, included = law.draw(radii, rng)
    earned = thetas @ ACTIONS.T  # (M, t)
    misfits = ((rewards - earned) ** 2).sum(axis=1)
    log_weights = -0.5 * eta * (misfits / variances + len(PLAYED) * np.log(variances))
    log_weights -= rate * earned.sum(axis=1)
    for index, menu in enumerate(MENUS):
        tilt = rate * sum(offered == index for offered, _ in PLAYED)
        log_weights += logsumexp(tilt * thetas @ menu.actions.T, axis=1)

    target = Target.of(evidence, law.prior, eta, rate)
    return Scene(target, (thetas, included, variances), radii, log_weights)


def aspects(system: ParticleSystem, radii: Floats) -> dict[str, Floats]:  # (M,) each
    """Functions of the state and of the radii drawn with it, by name."""
    thetas, prior = system.thetas, system.target.prior
    values = {
        "size squared": system.included.sum(axis=1) ** 2.0,
        "length": np.abs(thetas).sum(axis=1),
        "product": thetas[:, 0] * thetas[:, 1],
        "log density": system.log_density,
    }
    for j in range(DIMENSION):
        values[f"theta {j}"] = thetas[:, j]
        values[f"theta {j} squared"] = thetas[:, j] ** 2
        values[f"included {j}"] = system.included[:, j].astype(float)
    for index, menu in enumerate(MENUS):
        values[f"best of set {index}"] = (thetas @ menu.actions.T).max(axis=1)
    if not prior.radius.known:
        values["log radius"] = np.log(radii)
        values["room"] = radii - np.abs(thetas).sum(axis=1)
    if not prior.noise.known:
        values["log variance"] = np.log(system.variances)
    return values


def reached(system: ParticleSystem, rng: Rng) -> dict[str, Floats]:
    """The aspects of particles, with radii drawn given its parameters."""
    radii = draw_radii(system.target.prior.radius, system.thetas, rng)
    assert (np.abs(system.thetas).sum(axis=1) <= radii * (1 + 1e-12)).all()
    return aspects(system, radii)


def differences(found: dict[str, Floats], wanted: dict[str, Floats], weights: Floats) -> Floats:
    """The p-values of the claim that plain means and weighted ones are the same."""
    z = []
    for name, values in found.items():
        mean = weights @ wanted[name]
        variance = (weights**2 * (wanted[name] - mean) ** 2).sum() + values.var() / len(values)
        z.append((values.mean() - mean) / np.sqrt(variance))
    return two_sided(np.array(z))


# As much optimism as leaves the prior's draws enough weight: more where a known ball holds them.
BOLD = dict.fromkeys(LAWS, 0.4) | {"subset": 0.8, "spike_slab": 0.8}

TARGETS = [(law, eta, rate) for law in LAWS for eta in (0.5, 1.0) for rate in (0.0, BOLD[law])]
every_target = pytest.mark.parametrize(("law", "eta", "rate"), TARGETS)


@pytest.mark.parametrize(
    ("law", "eta", "rate", "pace"),
    [
        pytest.param(*target, pace, id="-".join([*map(str, target), name]))
        for target in TARGETS
        for name, pace in {
            "particles": PARTICLES,
            "chain": CHAIN,
            "pinned chain": PINNED_CHAIN,
        }.items()
        if pace == PARTICLES or "relaxed" not in target[0]  # which has but one
    ],
)
def test_moves_leave_their_target_invariant(law, eta, rate, pace):
    def p_values(rng: Rng, times: int) -> Floats:
        start = scene(LAWS[law], 20_000 * times, eta, rate, rng)
        system, weights = start.system(), start.weights()
        assert 1.0 / (weights**2).sum() > 2_000  # under a few heavy weights no z would be normal
        before = aspects(system, start.radii)
        for _ in range(3):
            system = smc.moved(system, rng, pace=pace)
        after = reached(system, rng)
        shifts = np.array([weights * (after[name] - before[name]) for name in before])
        return two_sided(shifts.sum(axis=1) / np.sqrt((shifts**2).sum(axis=1)))

    assert_plausible(p_values)


@pytest.mark.parametrize("law", ["subset", "spike_slab", "relaxed"])
def test_moves_forget_where_they_started(law):
    def p_values(rng: Rng, times: int) -> Floats:
        known, count = scene(LAWS[law], 40_000 * times, 0.5, 0.4, rng), 4_000 * times
        system = smc.placed(known.target, *(each[:count] for each in known.draws))  # not weighted
        for _ in range(30):
            system = smc.moved(system, rng)
        wanted = aspects(known.system(), known.radii)
        return differences(reached(system, rng), wanted, known.weights())

    assert_plausible(p_values)


@pytest.mark.parametrize("law", LAWS)
def test_particles_start_from_the_prior(law):
    def p_values(rng: Rng, times: int) -> Floats:
        known = scene(LAWS[law], 40_000 * times, 1.0, 0.0, rng)
        start = smc.start(known.target, 4_000 * times, rng)
        system = smc.aimed(start, known.target)  # not weighted
        weights = np.full(40_000 * times, 1 / (40_000 * times))
        return differences(reached(system, rng), aspects(known.system(), known.radii), weights)

    assert_plausible(p_values)


@every_target
def test_new_evidence_weighs_particles_by_the_ratio_of_the_targets(law, eta, rate):
    known = scene(LAWS[law], 1_000, eta, rate, np.random.default_rng(1))
    nothing = Target.of(Evidence.empty(DIMENSION), known.target.prior, eta, rate)
    system = smc.aimed(smc.placed(nothing, *known.draws), known.target)
    assert np.ptp(system.log_weights - known.log_weights) < 1e-11  # one constant for all


@every_target
def test_the_true_target_has_a_maximum_for_the_log_sum_exp_and_a_largest_size(law, eta, rate):
    system = scene(LAWS[law], 1_000, eta, rate, np.random.default_rng(2)).system()
    log_correction = np.zeros(1_000)
    for index, menu in enumerate(MENUS):
        tilt = rate * sum(offered == index for offered, _ in PLAYED)
        tilted = tilt * system.thetas @ menu.actions.T
        log_correction += tilted.max(axis=1) - logsumexp(tilted, axis=1)
    allowed = system.included.sum(axis=1) <= (SPARSITY if "subset" in law else DIMENSION)
    assert np.ptp((system.log_correction - log_correction)[allowed]) < 1e-12  # one constant for all
    assert (system.log_correction[~allowed] == -np.inf).all()
