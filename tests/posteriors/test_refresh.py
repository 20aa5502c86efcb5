"""When particles are moved: if their weights ask for it, in turn, and within a budget."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import config

from judging import assert_exact, scene, target_of
from oracles import enumerate_subset_posterior
from soids import SOIDS, load, paper_instance, play, save
from soids.evidence import Evidence, Menu
from soids.posteriors import POSTERIORS, Subset, Tuning, arms, smc
from soids.posteriors.particle_system import BATCH, PER_PARTICLE, some
from soids.simulation.feedback import Feedback

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="would take hours as plain Python")


@pytest.fixture
def swept(monkeypatch):
    """How many particles each sweep moved."""
    counts, plain = [], smc.swept

    def counting(system, rewards, rng, pace):
        counts.append(len(system.thetas))
        return plain(system, rewards, rng, pace)

    monkeypatch.setattr(smc, "swept", counting)
    return counts


def settled(particles=40):
    """Particles that have just been moved, and a generator."""
    rng = np.random.default_rng(0)
    target = target_of(Subset(4, sparsity=2, radius=3.0, noise=1.0), scene(4, 6), 1.0, 0.1)
    return smc.advance(smc.start(target, particles, rng), target, rng, 2), rng


@pytest.mark.parametrize(
    ("before", "after", "due"),
    [
        (0, 0, 10),
        (199, 200, 10),
        (249, 250, 8),
        (399, 400, 5),
        (3999, 4000, 1),
        (3900, 4000, 10),
        (3990, 4000, 5),
    ],
)
def test_upkeep_is_less_where_little_is_new(before, after, due):
    """Of 200 particles a twentieth; half for one reward in 400 or ten in 4000; never none."""
    system, _ = settled(particles=200)
    system = system._replace(target=system.target._replace(rounds=float(before)))
    assert smc.upkeep(system, system.target._replace(rounds=float(after))) == due


def same_again(system):
    """The own target of the particles, as one that they have not seen."""
    return system.target._replace(rate=system.target.rate)


def test_worn_particles_make_all_their_sweeps(swept):
    system, rng = settled()
    swept.clear()
    weights = np.where(np.arange(40) < 10, 0.0, -30.0)
    smc.advance(system._replace(log_weights=weights), same_again(system), rng, 3)
    assert swept == [40, 40, 40]


def test_half_of_fresh_particles_move_at_every_tenth_target_in_turn(swept):
    system, rng = settled()
    system = system._replace(log_correction=np.zeros(40), fresh=0.0 + 1e-9)
    swept.clear()
    turns = []
    for _ in range(20):
        system = smc.advance(system, same_again(system), rng, 2)
        turns.append(system.turn)
    assert swept == [20, 20]
    assert turns == [0] * 9 + [20] * 10 + [0]


def test_what_a_budget_leaves_undone_is_owed_and_done_later(swept):
    system, rng = settled()
    worn = system._replace(log_weights=np.where(np.arange(40) < 10, 0.0, -30.0))
    swept.clear()
    system = smc.advance(worn, same_again(system), rng, 3, seconds=0.0)
    assert (swept, system.owed) == ([smc.PROBE], 120 - smc.PROBE)  # a few moves in any case
    later = smc.advance(system, same_again(system), rng, 3)
    assert (sum(swept), later.owed) == (122, 0)  # two are due to the later target itself


@pytest.mark.parametrize(("seconds", "starts"), [(math.inf, 1), (1.0, 0)])
def test_particles_taken_by_surprise_start_anew_if_there_is_time(monkeypatch, seconds, starts):
    system, rng = settled()
    posterior = Subset(4, sparsity=2, radius=3.0, noise=1.0)
    surprising = target_of(posterior, scene(4, 400), 1.0, 0.1)
    ahead = smc.aimed(system, surprising)
    assert smc.effective_share(ahead.log_weights) < smc.SURPRISE
    counted, plain = [], smc.start

    def counting(*arguments):
        counted.append(1)
        return plain(*arguments)

    monkeypatch.setattr(smc, "start", counting)
    after = smc.advance(system, surprising, rng, 2, seconds)
    assert after.target is surprising
    assert len(counted) == starts


def test_ten_rewards_at_a_time_do_not_end_on_a_support_that_explains_nothing():
    """Each of these runs ended sure of a wrong one, 27 to 190 nats behind, before particles started
    anew.
    """
    for seed in (1, 3, 6, 18):
        policy = SOIDS(20, sparsity=2, radius=10.0, noise=1.0)
        play(paper_instance(20, seed), policy, 60, seed, feedback=Feedback(batch=10))
        assert (policy.inclusion()[:2] > 0.9).all(), seed


def test_a_far_too_wide_ball_costs_a_few_new_starts(monkeypatch):
    """Optimism draws particles to the rim, a million away, and each reward to another place there:
    9000 steps from place to place in the first rounds, 280 by way of the prior.
    """
    steps, plain = [], smc.halfway

    def counting(*arguments):
        steps.append(1)
        return plain(*arguments)

    monkeypatch.setattr(smc, "halfway", counting)
    policy = SOIDS(20, sparsity=2, radius=1e6, noise=1.0)
    play(paper_instance(20, 0), policy, 40, 0)
    assert len(steps) < 20 * smc.LONG
    assert (policy.inclusion()[:2] > 0.9).all()


@pytest.mark.parametrize("seconds", [math.inf, 1.0])
@pytest.mark.parametrize("posterior", ["subset", "spike_slab", "relaxed", "ample", "broad"])
def test_the_steps_to_an_impossible_reward_are_bounded(monkeypatch, posterior, seconds):
    steps, plain = [0], smc.halfway

    def counting(*arguments):
        steps[-1] += 1
        return plain(*arguments)

    monkeypatch.setattr(smc, "halfway", counting)
    past, rng, believed = scene(4, 12), np.random.default_rng(0), None
    model, menu, evidence = (
        POSTERIORS[posterior](4, noise=1.0),
        Menu(past.menus[0]),
        Evidence.empty(4),
    )
    past.rewards[6] = 1e5
    for action, reward in zip(past.played, past.rewards, strict=True):
        evidence = evidence.add(menu, action, float(reward))
        steps.append(0)
        believed = model.update(believed, evidence, Tuning(1.0, 0.1, 40, 1, seconds), rng)
        assert believed.particles().weights.sum() == pytest.approx(1.0)
        assert np.isfinite(believed.thetas).all()
    assert smc.FREE < max(steps) <= smc.FREE + smc.LADDER


@pytest.fixture
def clock(monkeypatch):
    """Seconds since the start, by a clock that goes on a millisecond with each particle moved."""
    now, plain = [0.0], smc.swept

    def costly(system, rewards, rng, pace):
        now[0] += 0.001 * len(system.thetas)
        return plain(system, rewards, rng, pace)

    monkeypatch.setattr(smc, "swept", costly)
    monkeypatch.setattr(smc, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return now


@pytest.mark.parametrize(("budget", "least", "most"), [(20.0, 0.019, 0.036), (None, 0.2, 1.0)])
def test_a_budget_is_spent_and_kept_and_what_was_achieved_is_said(clock, budget, least, most):
    """Four steps to a surprising reward make four moves each in any case."""
    bandit, rng = paper_instance(20, seed=0), np.random.default_rng(0)
    policy = SOIDS(20, sparsity=2, radius=10.0, noise=1.0, budget_ms=budget)
    spent, infos = [], []
    for _ in range(12):
        began = clock[0]
        decision = policy.choose(bandit.actions, rng)
        spent.append(clock[0] - began)
        infos.append(decision.info)
        few = "which is too few" in str(policy.explain(decision))
        assert few == (decision.info.effective < 10.0)
        policy.observe(decision, float(bandit.means[decision.index] + rng.standard_normal()))
    assert least <= max(spent) <= most
    if budget is not None:
        assert max(info.behind for info in infos) > 0.5
        assert all(1.0 <= info.effective <= 100.0 for info in infos)


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_moving_some_particles_leaves_those_before_alone(seconds):
    system, rng = settled()
    due = system._replace(owed=25, turn=30)
    before = {name: getattr(due, name).copy() for name in PER_PARTICLE}
    after = smc.moved_for(due, rng, seconds)
    assert after.owed < due.owed
    assert (after.thetas != due.thetas).any()
    for name, values in before.items():
        np.testing.assert_array_equal(getattr(due, name), values)


def test_copies_count_once_in_the_effective_size():
    system, _ = settled()
    copies = some(system, np.zeros(40, dtype=np.int64))
    assert copies._replace(log_correction=np.zeros(40)).effective_size() == pytest.approx(1.0)
    few = some(system, np.array([3, 5, 3, 7]))._replace(log_correction=np.log([1.0, 2.0, 3.0, 4.0]))
    assert few.effective_size() == pytest.approx(1.0 / (0.4**2 + 0.2**2 + 0.4**2))


def test_without_a_budget_nothing_is_left_undone():
    policy = SOIDS(20)
    trace = play(paper_instance(20, seed=0), policy, horizon=30, seed=0)
    assert policy.state.mind.belief.owed < 100 * BATCH
    assert trace.regret.sum() > 0.0


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), "5", True])
def test_a_budget_that_is_no_time_is_refused(bad):
    with pytest.raises(ValueError, match="budget_ms must be"):
        SOIDS(3, budget_ms=bad)


@pytest.mark.parametrize("posterior", ["gaussian", "langevin"])
def test_a_budget_for_moves_that_cannot_be_put_off_is_refused(posterior):
    with pytest.raises(ValueError, match="budget_ms must be left out for"):
        SOIDS(3, posterior=posterior, budget_ms=5.0)


def test_draws_of_the_prior_are_all_different():
    policy = SOIDS(20, sparsity=2, radius=10.0, noise=1.0, budget_ms=1.0)
    decision = policy.choose(paper_instance(20, seed=0).actions, np.random.default_rng(0))
    assert decision.info.effective > 50.0


# Very many actions


def test_few_arms_are_as_exact_as_all_actions(monkeypatch):
    past = scene(3, 3)
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.25, rate=0.3, noise=1.0)
    monkeypatch.setattr(arms, "MOST", 2)
    target = target_of(Subset(3, sparsity=2, radius=2.0, noise=1.0), past, 0.25, 0.3)
    rng = np.random.default_rng(0)
    system = smc.advance(smc.start(target, 10_000, rng), target, rng, 1)
    assert system.arms.columns.shape == (3, 2)
    system = smc.moved(system, rng, 3)
    assert_exact(system.particles(), exact, past)


def test_arms_are_those_that_some_particle_holds_to_be_nearly_best(monkeypatch):
    monkeypatch.setattr(arms, "MOST", 3)
    target = target_of(Subset(4, sparsity=2, radius=3.0, noise=1.0), scene(4, 6), 1.0, 0.1)
    rewards = np.random.default_rng(1).standard_normal((5, target.columns.shape[1]))
    chosen = arms.promising(target, rewards)
    near = (rewards - rewards.max(axis=1)[:, None]).max(axis=0)
    assert chosen.indices.tolist() == sorted(np.argsort(near)[-3:].tolist())
    np.testing.assert_array_equal(chosen.columns, target.columns[:, chosen.indices])


def test_a_run_with_few_arms_is_saved_and_goes_on_bit_for_bit(monkeypatch, tmp_path):
    monkeypatch.setattr(arms, "MOST", 20)
    bandit, policy = paper_instance(20, seed=0), SOIDS(20, sparsity=2, radius=10.0, noise=1.0)
    play(bandit, policy, horizon=25, seed=0)
    save(policy, tmp_path / "policy.npz")
    again = load(tmp_path / "policy.npz")
    indices = []
    for one in (policy, again):
        rng = np.random.default_rng(5)
        for _ in range(20):
            decision = one.choose(bandit.actions, rng)
            one.observe(decision, float(bandit.means[decision.index]))
            indices.append(decision.index)
    assert indices[:20] == indices[20:]
    assert all(a.tobytes() == b.tobytes() for a, b in itertools.pairwise(
        [policy.state.mind.belief.thetas, again.state.mind.belief.thetas]))  # fmt: skip
