"""Watching a trial: it changes nothing, and what is seen is what was there."""

import math

import numpy as np
import pytest

from members import members
from oracles import exploration_mixture
from soids import (
    E2D,
    FGTS,
    SOIDS,
    LinTS,
    LinUCB,
    SparseIDS,
    SparseLinearBandit,
    Thompson,
    Uniform,
    paper_instance,
    play,
    rates,
)
from soids.bandits import FAMILIES
from soids.designs import exploratory_design
from soids.information import (
    half_variance,
    information_ratio,
    probability_matching,
    shortfall,
)
from soids.policies.posterior_rule import PosteriorRule
from soids.policies.uniform import UniformRule
from soids.posteriors import Langevin, Subset, smc
from soids.rates import Progress
from soids.simulation import diagnosis
from soids.simulation.diagnosis import Watched, diagnose, surviving
from soids.simulation.findings import find
from soids.simulation.ratios import exploration, most_features, ratio_bounds, regime
from soids.theory import cubic_ratio, mixture_ratio

RNG = np.random.default_rng(0)
BANDIT = SparseLinearBandit(RNG.uniform(-1, 1, (12, 4)), [2.0, 0.0, 0.0, 0.0], 0.5)
WITH_POSTERIOR = [
    one for one in members() if isinstance(one.values[0](4, noise=0.5).rule, PosteriorRule)
]
SPARSE = FAMILIES["hao"](8, 0, horizon=200)  # its best actions have s - 1 features


@pytest.mark.parametrize("family", members())
def test_watching_a_policy_changes_nothing(family):
    plain, seen = (how(BANDIT, family(4, noise=0.5), 12, seed=3) for how in (play, diagnose))
    for one, other in zip(plain, seen.trace, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_what_is_noted_is_what_the_belief_says():
    policy = SOIDS(4)
    seen = diagnose(BANDIT, policy, 25, seed=1)
    belief, last = policy.state.mind.belief, {n: v[-1] for n, v in seen.beliefs._asdict().items()}
    particles = belief.particles()
    assert np.array_equal(last["inclusion"], particles.inclusion())
    assert last["effective"] == particles.effective_size()
    assert last["features"] == particles.inclusion().sum()
    assert last["error"] == pytest.approx(np.abs(particles.mean() - BANDIT.theta).sum())
    norms = [np.abs(theta).sum() for theta in particles.thetas]
    assert last["norm"] == pytest.approx(np.average(norms, weights=particles.weights))
    assert last["noise"] == belief.noise()
    assert last["distinct"] == len(np.unique(particles.thetas, axis=0))
    assert last["supports"] == len(np.unique(particles.included, axis=0))
    regret, gain = (f(belief.rewards_on(policy.state.past.menu), particles.weights)
                    for f in (shortfall, half_variance))  # fmt: skip
    assert regret.min() <= seen.surrogate_regret[-1] <= regret.max()
    assert gain.min() <= seen.information_gain[-1] * belief.noise() ** 2 <= gain.max()
    paid, learned = seen.surrogate_regret[-1] / belief.noise(), seen.information_gain[-1]
    assert seen.trace.ratio[-1] == pytest.approx(paid**2 / learned)
    assert last["cubed"] == pytest.approx(paid**3 / learned)


def noted_laws(monkeypatch, policy, horizon):
    """A diagnosis, and for each choice the law that the belief noted implies, and the decision."""
    laws, note = [], Watched._note

    def noted(watched, rule, before, mind, decision):
        then = before.mind._replace(belief=mind.belief, believed=mind.believed)
        laws.append((rule.law(then, before.past, decision.menu).mixture, decision))
        return note(watched, rule, before, mind, decision)

    monkeypatch.setattr(Watched, "_note", noted)
    return diagnose(BANDIT, policy, horizon, seed=3), laws


@pytest.mark.parametrize("family", WITH_POSTERIOR)
def test_the_belief_noted_is_the_one_that_the_choice_was_drawn_by(family, monkeypatch):
    policy = family(4, noise=0.5)
    _, laws = noted_laws(monkeypatch, policy, 12)
    assert len(laws) == 12
    for law, decision in laws:
        assert law.probability(decision.index) == decision.probability
        assert np.array_equal(law.probabilities(12), decision.probabilities)


@pytest.mark.parametrize("policy", [SOIDS(4), SOIDS(4, gain="shannon"), FGTS(4), SparseIDS(4)])
def test_the_gains_are_those_of_the_paper_whatever_the_policy_counts(policy, monkeypatch):
    seen, laws = noted_laws(monkeypatch, policy, 25)
    belief = policy.state.mind.belief
    rewards, weights = belief.rewards_on(policy.state.past.menu), belief.particles().weights
    masses = np.array([laws[-1][0].probability(k) for k in range(len(BANDIT.actions))])
    means, unit = weights @ rewards, belief.noise() ** 2
    surrogate = 0.5 * masses @ (weights @ (rewards - means) ** 2) / unit
    true = 0.5 * masses @ (weights @ (rewards - BANDIT.actions @ BANDIT.theta) ** 2) / unit
    assert seen.beliefs.surrogate_gain[-1] == pytest.approx(surrogate)
    assert seen.beliefs.true_gain[-1] == pytest.approx(true)
    # equation TIG less equation SIG: half the squared error of the mean on what is played
    assert true - surrogate == pytest.approx(0.5 * masses @ (means - BANDIT.means) ** 2 / unit)
    same = np.allclose(seen.information_gain, seen.beliefs.surrogate_gain, rtol=1e-9)
    assert same == (policy.rule.gain == "full")


def test_the_rounds_counted_as_resampled_are_those_in_which_the_sampler_does(monkeypatch):
    calls, really = [], smc.resampled

    def resampled(cloud, rng):
        calls.append(len(watched.seen))
        return really(cloud, rng)

    monkeypatch.setattr(smc, "resampled", resampled)
    bandit = paper_instance(20, seed=0)
    watched = Watched(SOIDS(20), bandit)
    play(bandit, watched, 60, seed=0)
    share = np.array([noted["surviving"] for noted in watched.seen]) / 100
    assert set(np.flatnonzero(share < smc.ALIVE)) == set(calls)
    several = {t for t in calls if calls.count(t) > 1}
    assert several <= set(np.flatnonzero(share < smc.ABRUPT))
    assert several


def test_a_belief_that_is_not_reweighted_survives_nothing():
    assert math.isnan(surviving(None, None))
    seen = diagnose(BANDIT, SOIDS(4, posterior=Langevin(4, noise=0.5)), 5, seed=0)
    assert np.isnan(seen.beliefs.surviving).all()
    assert find(seen).resampled is None


# The lemma on information ratios


@pytest.mark.parametrize("policy", [SOIDS, SparseIDS])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("bandit", [BANDIT, SPARSE], ids=["dense", "sparse"])
def test_both_ratios_keep_to_their_bounds_in_all_units(policy, scale, bandit):
    scaled = SparseLinearBandit(scale * bandit.actions, bandit.theta, scale * bandit.noise)
    dimension, noise = len(bandit.theta), scale * bandit.noise
    seen = diagnose(scaled, policy(dimension, radius=3.0, noise=noise), 60, seed=0)
    findings = find(seen)
    assert findings.square_excess == findings.cubic_excess == 0
    assert np.isfinite(seen.beliefs.cubic_bound).all()


def test_the_bound_on_the_3_ratio_does_not_depend_on_units():
    bounds = []
    for size, unit in ((1.0, 1.0), (0.1, 1.0), (1.0, 30.0)):
        bandit = SparseLinearBandit(size * SPARSE.actions, unit / size * SPARSE.theta, unit)
        policy = SOIDS(8, sparsity=2, radius=3.0 * unit / size, noise=unit)
        bounds.append(diagnose(bandit, policy, 1, seed=0).beliefs.cubic_bound[0])
    assert bounds == pytest.approx([bounds[0]] * 3)


def test_the_bound_is_the_papers_where_its_assumptions_hold():
    policy = SOIDS(8, sparsity=1, radius=1.0, noise=1.0)
    unit = SparseLinearBandit(np.vstack([np.eye(8), -np.eye(8)]), np.eye(8)[0], 1.0)
    beliefs = diagnose(unit, policy, 20, seed=0).beliefs
    assert (beliefs.densest == 1).all()
    paper = cubic_ratio(1, exploration(unit.actions)[0])
    assert (beliefs.cubic_bound <= paper * (1.0 + 1e-12)).all()
    assert beliefs.cubic_bound.max() > 0.9 * paper  # some parameter is nearly of norm 1


def test_the_mixture_of_the_proof_keeps_to_half_the_bound_for_the_cloud_itself():
    policy = SOIDS(8, noise=1.0)
    seen = diagnose(SPARSE, policy, 15, seed=2)
    menu, belief = policy.state.past.menu, policy.state.mind.belief
    rewards, weights = belief.rewards_on(menu), belief.particles().weights
    regret, gain = shortfall(rewards, weights), half_variance(rewards, weights)
    design = exploratory_design(menu.actions).weights
    mixture = exploration_mixture(
        probability_matching(rewards, weights, menu.actions), design, regret
    )
    ratio = information_ratio(mixture @ regret, mixture @ gain, 3) / belief.noise()
    assert ratio <= 0.5 * seen.beliefs.cubic_bound[-1]
    assert mixture_ratio(2, 0.5) == 0.5 * cubic_ratio(2, 0.5)


@pytest.mark.parametrize(
    ("policy", "square", "cubic"),
    [(SOIDS, 8.0, True), (SparseIDS, 8.0, True), (FGTS, 8.0, False), (Thompson, 8.0, False),
     (LinTS, 8.0, False), (E2D, math.nan, False)],
)  # fmt: skip
def test_a_bound_is_shown_only_where_the_lemma_is_about_the_policy(policy, square, cubic):
    beliefs = diagnose(BANDIT, policy(4, noise=0.5), 3, seed=0).beliefs
    assert np.array_equal(beliefs.square_bound, [square] * 3, equal_nan=True)
    assert np.isfinite(beliefs.cubic_bound).all() == cubic


def test_actions_that_do_not_span_leave_the_3_ratio_without_a_bound():
    flat = SparseLinearBandit([[1.0, 0.0], [-1.0, 0.0]], [1.0, 0.0], 0.5)
    seen = diagnose(flat, SOIDS(2), 5, seed=0)
    assert np.isinf(seen.beliefs.cubic_bound).all()
    assert find(seen).cubic_excess == 0


def test_ties_for_the_best_action_go_to_the_sparsest():
    actions = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    assert most_features(np.array([[1.0, 1.0, 0.0]]), actions) == 1
    assert most_features(np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]), actions) == 2
    assert most_features(np.array([[-1.0, -1.0, 0.0]]), actions) == 0


@pytest.mark.parametrize(
    ("actions", "theta"),
    [([[0.0, 0.0]], [1.0, 0.0]), ([[1.0]], [1.0]), ([[1.0], [1.0]], [0.0])],
    ids=["nothing to see", "one action", "nothing to find"],
)
def test_corners_are_diagnosed_like_anything_else(actions, theta):
    seen = diagnose(SparseLinearBandit(actions, theta, 0.1), SOIDS(len(theta)), 8, seed=0)
    findings = find(seen)
    assert findings.regret == 0.0
    assert findings.square_excess == findings.cubic_excess == 0


# Regimes


def some_progress(rng):
    """Any stage of any trial."""
    dimension = int(rng.integers(2, 60))
    return Progress(
        int(rng.integers(0, 3000)), dimension, rng.uniform(1, dimension), rng.uniform(0, 500),
        rng.uniform(0, 500), np.eye(dimension),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["experiment", "theorem2", "theorem3"])
def test_the_larger_term_is_the_rate(name):
    rng = np.random.default_rng(1)
    for progress in (some_progress(rng) for _ in range(200)):
        assert rates.RATES[name](progress) == pytest.approx(
            min(0.5, max(rates.TERMS[name](progress)))
        )


@pytest.mark.parametrize("name", rates.TERMS)
def test_the_regime_names_the_term_in_force(name):
    rng, told = np.random.default_rng(2), set()
    for progress in (some_progress(rng) for _ in range(500)):
        rich, poor = rates.TERMS[name](progress)
        said = regime(name, progress)
        capped = rates.RATES[name](progress) == 0.5 or max(rich, poor) >= 0.5
        assert said == ("cap" if capped else "data-poor" if poor > rich else "data-rich")
        told.add(said)
    assert {"data-rich", "data-poor"} <= told


@pytest.mark.parametrize("rate", ["zero", 0.1, rates.experiment])
def test_rates_without_terms_have_no_regime(rate):
    assert regime(rate, some_progress(np.random.default_rng(0))) == ""
    assert regime("rich", some_progress(np.random.default_rng(0))) == "data-rich"


@pytest.mark.parametrize("settings", [{}, {"sparsity": 2}, {"posterior": Subset(4, 3)}])
def test_the_regime_is_judged_by_what_the_rate_went_by(settings, monkeypatch):
    used, judged = [], []

    def rate(progress):
        used.append(progress)
        return 0.1

    monkeypatch.setattr(diagnosis, "regime", lambda rate, progress: judged.append(progress) or "")
    diagnose(BANDIT, SOIDS(4, rate=rate, **settings), 10, seed=0)
    for one, other in zip(used, judged, strict=True):
        assert np.array_equal(one.actions, other.actions)
        for name in ("rounds", "dimension", "sparsity", "ratios", "root_ratios"):
            assert getattr(one, name) == getattr(other, name)


# Findings


def test_what_was_found_and_lost_is_counted():
    seen = diagnose(BANDIT, SOIDS(4), 5, seed=0)
    inclusion = np.zeros((5, 4))
    inclusion[:, 0] = [0.5, 0.96, 0.2, 0.99, 1.0]  # the one that matters
    inclusion[-1, 2] = 0.6
    effective = np.array([10.0, 49.0, 50.0, 51.0, 100.0])
    surviving = np.array([math.nan, 49.0, 9.0, 50.0, 100.0])
    beliefs = seen.beliefs._replace(
        inclusion=inclusion, effective=effective, surviving=surviving,
        square_bound=np.full(5, 0.5), cubic_bound=np.full(5, math.nan),
        regime=["cap", "", "data-poor", "data-poor", ""],
    )  # fmt: skip
    trace = seen.trace._replace(ratio=np.array([0.0, 0.5, 0.51, 2.0, 0.5 * (1 + 1e-12)]))
    findings = find(seen._replace(beliefs=beliefs, trace=trace))
    assert (findings.found, findings.lost, findings.intruders) == (2, 1, 1)
    assert (findings.thin, findings.resampled, findings.tempered) == (2, 2, 1)
    assert (findings.square_excess, findings.cubic_excess) == (2, None)
    assert findings.regimes == {"cap": 1, "data-poor": 2}
    never = find(seen._replace(beliefs=beliefs._replace(inclusion=np.zeros((5, 4)))))
    assert (never.found, never.lost, never.intruders) == (None, None, 0)


def test_easy_trials_find_their_support():
    findings = find(diagnose(BANDIT, SOIDS(4, noise=0.5), 150, seed=0))
    assert findings.found is not None
    assert findings.found < 60
    assert findings.intruders == 0
    assert findings.error < 0.5


@pytest.mark.parametrize("policy", [Uniform(4), LinUCB(4, alpha=1.0)])
def test_a_policy_without_a_posterior_says_what_it_can(policy):
    seen = diagnose(BANDIT, policy, 10, seed=0)
    assert seen.beliefs is None
    assert np.isnan(seen.surrogate_regret).all() == isinstance(policy.rule, UniformRule)
    assert find(seen).thin is None
    assert find(seen).regret == seen.trace.regret.sum()


def test_a_policy_of_others_may_choose_a_bare_index():
    class Last:
        def choose(self, actions, rng):
            return len(actions) - 1

        def observe(self, decision, reward):
            assert decision == 11

    seen = diagnose(BANDIT, Last(), 4, seed=0)
    assert np.isnan(seen.surrogate_regret).all()
    assert find(seen).actions == 1


def test_a_posterior_that_selects_nothing_finds_nothing():
    findings = find(diagnose(BANDIT, LinTS(4), 10, seed=0))
    assert findings.found is None
    assert findings.intruders is None


def test_the_bounds_on_the_ratios_by_hand():
    told = {"sparsity": 2, "radius": 1.0, "noise": 1.0}
    square, cubic = ratio_bounds(SOIDS(4, **told).rule, sparsity=3, c_min=0.5, reach=2.0)
    assert (square, cubic) == pytest.approx((8.0, 54.0 * 3.0 * 2.0 / 0.5))  # 2 d, 54 k R / C_min
    assert ratio_bounds(SOIDS(4, **told).rule, sparsity=3, c_min=0.0, reach=2.0) == (8.0, math.inf)
    assert math.isnan(ratio_bounds(FGTS(4, **told).rule, sparsity=3, c_min=0.5, reach=2.0)[1])
    heeding_noise = SOIDS(4, gain="shannon", **told)
    assert np.isnan(ratio_bounds(heeding_noise.rule, sparsity=3, c_min=0.5, reach=2.0)).all()
