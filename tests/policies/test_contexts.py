"""Sets of actions that change: what is remembered of them, and decisions that look beyond one."""

import numpy as np
import pytest
from numba import config
from scipy.optimize import minimize

from judging import ALONE, assert_exact, evidence_of, scene
from oracles import enumerate_subset_posterior
from p_values import pooled, two_sided
from soids import SOIDS, SparseIDS, Thompson, information, load, save
from soids.evidence import Evidence, Menu, random_key
from soids.information import appraise, minimise_contextual_ratio, minimise_ratio
from soids.kernels.hull import frontiers
from soids.policies import appraisal
from soids.policies.appraisal import GAINS, Appraiser
from soids.posteriors import Subset, Tuning
from soids.posteriors.target import Target

compiled = pytest.mark.skipif(config.DISABLE_JIT, reason="would take minutes as plain Python")


def offers(count, seed=0, actions=4, dimension=3):
    rng = np.random.default_rng(seed)
    return [Menu(rng.uniform(-1, 1, (actions, dimension))) for _ in range(count)]


def offered(menus, sets):
    """Evidence of one round for each menu, in which its first action earned nothing."""
    evidence = Evidence.empty(3, sets)
    for menu in menus:
        evidence = evidence.add(menu, menu.actions[0], 0.0)
    return evidence


def test_few_sets_are_all_remembered_with_their_counts():
    menus = offers(8)
    evidence = offered([*menus, *menus[:3]], sets=8)
    assert evidence.menus == tuple(menus)
    assert evidence.counts == (2, 2, 2, 1, 1, 1, 1, 1)
    np.testing.assert_array_equal(evidence.offered, evidence.counts)


def test_of_many_sets_the_same_rounds_stay_in_any_order():
    menus = [*offers(60), *offers(60), *offers(60)[:10]]  # twins: known by their actions
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(5):
        evidence = Evidence.empty(3, sets=16)
        for turn in rng.permutation(len(menus)):
            menu = menus[turn]
            evidence = evidence.add(menu, menu.actions[0], 0.0, int(turn))
        kept.append(
            {menu.fingerprint: n for menu, n in zip(evidence.menus, evidence.counts, strict=True)}
        )
        assert sum(evidence.counts) == 16
        assert evidence.offered.sum() == pytest.approx(len(menus))
    assert all(one == kept[0] for one in kept[1:])


def test_each_round_is_as_likely_to_stay_as_another():
    """Of 40 rounds 10 stay; over 400 lots of them a place stays 100 times, with a spread of 8.7."""
    lots = np.array([random_key(turn) for turn in range(16_000)]).reshape(400, 40)
    stayed = (lots.argsort(axis=1).argsort(axis=1) < 10).sum(axis=0)
    assert np.abs(stayed - 100.0).max() < 4.0 * 8.7
    assert lots.mean() == pytest.approx(0.5, abs=4.0 * 0.2887 / 16_000**0.5)


def test_a_set_that_is_offered_most_of_the_time_weighs_most():
    """One set in nine rounds of ten, the others once each: its share in a sample of 64."""
    often, *rare = offers(101, seed=4)
    rng = np.random.default_rng(5)
    menus = [often] * 900 + rare
    evidence = offered([menus[i] for i in rng.permutation(1_000)], sets=64)
    share = evidence.offered[evidence.menus.index(often)] / 1_000
    assert abs(share - 0.9) < 4.0 * (0.09 / 64) ** 0.5


def test_where_rounds_fade_the_recent_sets_stay():
    menus = offers(50, seed=6)
    evidence = Evidence.empty(3, sets=8)
    for menu in menus:
        evidence = evidence.faded(0.7).add(menu, menu.actions[0], 0.0)
    assert evidence.menus == tuple(menus[-8:])
    assert evidence.counts == pytest.approx(0.7 ** np.arange(7, -1, -1))


@pytest.mark.parametrize("theta", np.eye(3))
def test_the_bias_of_a_sample_vanishes_as_it_grows(theta):
    """The sum of best rewards over 400 rounds and 300 sets, by samples of 25, 100 and all."""
    menus = offers(300, seed=3)
    menus += menus[:100]
    best = np.array([(menu.actions @ theta).max() for menu in menus])
    for sets in (25, 100, 300):
        evidence = offered(menus, sets)
        found = sum(
            n * (menu.actions @ theta).max()
            for n, menu in zip(evidence.offered, evidence.menus, strict=True)
        )
        kept = 400 if sets == 300 else sets
        spread = 400 * best.std() * np.sqrt((1 / kept) * (1 - kept / 400))  # drawn without return
        assert abs(found - best.sum()) <= 4.0 * spread + 1e-9


@compiled
@pytest.mark.parametrize("sets", [128, 2])
def test_a_belief_follows_changing_sets_exactly(sets):
    """Three different sets, one after the other, against an integral over the ball.

    With room for two the third takes the place of another: the target is then that of the two.
    """
    past = scene(2, 9, menus=3)
    posterior = Subset(2, sparsity=2, radius=2.0, noise=1.0)
    menus = [Menu(actions) for actions in past.menus]
    evidence, belief = Evidence.empty(2, sets), None
    rng = np.random.default_rng(4)
    tuning = Tuning(eta=0.5, rate=0.4, particles=6_000, sweeps=4)
    for offer, action, reward in zip(past.offered, past.played, past.rewards, strict=True):
        evidence = evidence.add(menus[offer], action, float(reward))
        belief = posterior.update(belief, evidence, tuning, rng)
    if sets == 128:
        exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.4)
        assert_exact(belief.particles(), exact, past)
        return
    assert len(evidence.menus) == 2
    whole = Target.of(evidence, posterior.prior(evidence), 0.5, 0.4)
    np.testing.assert_allclose(belief.target.tilts, whole.tilts)
    fresh = posterior.update(None, evidence, tuning, np.random.default_rng(5))
    one, two = belief.particles(), fresh.particles()
    error = np.sqrt(2.0 / 3_000) * one.thetas.std(axis=0)  # half of the particles are effective
    assert pooled(two_sided((one.mean() - two.mean()) / error)) > ALONE


@compiled
def test_dozens_of_different_sets_weigh_together_exactly():
    past = scene(2, 60, menus=50)
    assert len(set(past.offered)) > 30
    exact = enumerate_subset_posterior(past, sparsity=2, radius=2.0, eta=0.5, rate=0.1)
    tuning = Tuning(eta=0.5, rate=0.1, particles=3_000, sweeps=8)
    posterior = Subset(2, sparsity=2, radius=2.0, noise=1.0)
    belief = posterior.update(None, evidence_of(past), tuning, np.random.default_rng(6))
    assert_exact(belief.particles(), exact, past)


def smallest_ratio(regrets, gains):
    """The smallest ratio of averages over all maps from contexts to distributions, by descent."""
    sizes = [len(regret) for regret in regrets]

    def laws(scores):
        parts = np.split(scores, np.cumsum(sizes)[:-1])
        return [np.exp(part - part.max()) / np.exp(part - part.max()).sum() for part in parts]

    def ratio(scores):
        paid = np.mean([law @ r for law, r in zip(laws(scores), regrets, strict=True)])
        learned = np.mean([law @ g for law, g in zip(laws(scores), gains, strict=True)])
        return paid**2 / learned

    rng = np.random.default_rng(0)
    starts = [4.0 * rng.standard_normal(sum(sizes)) for _ in range(12)]
    return min(minimize(ratio, start, tol=1e-12).fun for start in starts)


@pytest.mark.parametrize("seed", range(6))
def test_the_contextual_ratio_is_the_smallest_over_all_maps(seed):
    rng = np.random.default_rng(seed)
    regrets = [rng.uniform(0.1, 1.0, size) for size in (3, 4, 2)]
    gains = [rng.uniform(0.0, 1.0, size) for size in (3, 4, 2)]
    found = minimise_contextual_ratio(regrets, gains).ratio
    assert found == pytest.approx(smallest_ratio(regrets, gains), rel=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_with_one_context_it_is_the_plain_ratio(seed):
    rng = np.random.default_rng(seed)
    regret, gain = rng.uniform(0.05, 1.0, 6), rng.uniform(0.0, 1.0, 6)
    one, plain = minimise_contextual_ratio([regret], [gain]), minimise_ratio(regret, gain)
    assert one.ratio == pytest.approx(plain.ratio, rel=1e-9)
    laws = [[law.probability(k) for k in range(6)] for law in (one, plain)]
    assert laws[0] == pytest.approx(laws[1], abs=1e-6)


def test_a_menu_that_comes_back_is_looked_at_once(monkeypatch):
    seen, rng = [], np.random.default_rng(3)
    pairs = [(rng.uniform(0.1, 1.0, 5), rng.uniform(0.0, 1.0, 5)) for _ in range(3)]
    come = [pairs[k] for k in (0, 1, 0, 2, 1, 0)]
    copied = [(regret.copy(), gain.copy()) for regret, gain in come]
    apart = minimise_contextual_ratio(*zip(*copied, strict=True))

    def watched(regret, gain, starts):
        seen.append(len(regret))
        return frontiers(regret, gain, starts)

    monkeypatch.setattr(information, "frontiers", watched)
    assert minimise_contextual_ratio(*zip(*come, strict=True)) == apart
    assert seen == [15]


def test_information_is_bought_where_it_is_cheap():
    """Alone, a context pays whatever its lesson costs; with a cheaper one around it waits."""
    dear, cheap, gain = np.array([1.0, 3.0]), np.array([1.0, 1.01]), np.array([0.0, 1.0])
    assert minimise_contextual_ratio([dear], [gain]).share > 0.4
    assert minimise_contextual_ratio([cheap, dear], [gain, gain]).probability(1) < 0.01
    assert minimise_contextual_ratio([dear, cheap], [gain, gain]).probability(1) > 0.99


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_without_regret_or_gain_the_least_regret_is_chosen(gain):
    regret = np.array([0.3, 0.0, 0.2]) + (gain == 0.0) * 0.1
    chosen = minimise_contextual_ratio([regret, regret], [np.full(3, gain)] * 2)
    assert chosen.probability(1) == 1.0


@compiled
@pytest.mark.parametrize("family", [SOIDS, SparseIDS])
def test_a_policy_that_looks_at_recent_contexts_goes_on_from_a_file(family, tmp_path):
    rng = np.random.default_rng(6)
    policy = family(3, sparsity=1, radius=2.0, noise=0.5, contexts=4, sets=3)
    for menu in offers(8, seed=7):
        decision = policy.choose(menu.actions, rng)
        policy.observe(decision, 1.5 * decision.action[0])
    assert len(policy.state.mind.recent) == 3
    save(policy, tmp_path / "policy")
    twin = load(tmp_path / "policy")
    for menu in offers(4, seed=8):
        one, other = (
            mine.choose(menu.actions, np.random.default_rng(9)) for mine in (policy, twin)
        )
        assert (one.index, one.probability, one.info) == (
            other.index,
            other.probability,
            other.info,
        )
        policy.observe(one, 1.0)
        twin.observe(other, 1.0)


@compiled
def test_many_actions_on_several_menus_go_on_from_a_file(tmp_path):
    """More than are arms: which of them are promising must not be asked anew."""
    rng, menus = np.random.default_rng(11), offers(3, seed=12, actions=1_200)
    policy = SOIDS(3, sparsity=1, radius=2.0, noise=0.5)
    for turn in range(9):
        decision = policy.choose(menus[turn % 3].actions, rng)
        policy.observe(decision, 1.5 * decision.action[0] + 0.5 * rng.standard_normal())
    save(policy, tmp_path / "policy")
    twin = load(tmp_path / "policy")
    for turn in range(6):
        rngs, noise = [np.random.default_rng(turn) for _ in range(2)], rng.standard_normal()
        one, other = (
            mine.choose(menus[turn % 3].actions, mind)
            for mine, mind in zip((policy, twin), rngs, strict=True)
        )
        assert (one.index, one.probability, one.info) == (
            other.index,
            other.probability,
            other.info,
        )
        for mine, decision in ((policy, one), (twin, other)):
            mine.observe(decision, 1.5 * decision.action[0] + 0.5 * noise)


@compiled
@pytest.mark.parametrize("together", [1, 20_000])
def test_every_recent_context_is_appraised_by_itself(monkeypatch, together):
    monkeypatch.setattr(appraisal, "TOGETHER", together)
    rng, policy = np.random.default_rng(3), SOIDS(3, sparsity=1, radius=2.0, noise=0.5, contexts=5)
    menus = [offers(1, seed=seed, actions=4 + seed)[0] for seed in (0, 1, 2, 1)]
    for menu in menus:
        policy.observe(policy.choose(menu.actions, rng), rng.standard_normal())
    belief = policy.state.mind.belief
    weights = belief.particles().weights
    found = Appraiser.of(belief, GAINS["full"]).elsewhere(policy.state.mind.recent)
    assert len(found) == 4
    for menu, answers in zip(menus, found, strict=True):
        expected = appraise(belief.rewards_on(Menu(menu.actions)), weights)
        np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-12)


def test_a_policy_that_obeys_looks_at_no_other_context(monkeypatch):
    def refuse(*_):
        raise AssertionError("nobody asked")

    monkeypatch.setattr(Appraiser, "elsewhere", refuse)
    rng, menu = np.random.default_rng(3), offers(1, seed=0, actions=4)[0]
    Thompson(3, contexts=3, particles=5).choose(menu.actions, rng)
    with pytest.raises(AssertionError, match="nobody asked"):
        SparseIDS(3, contexts=3, particles=5).choose(menu.actions, rng)


@compiled
def test_averaging_over_copies_of_one_context_changes_nothing():
    menu = offers(1, seed=2, actions=6)[0]
    policies = [SOIDS(3, sparsity=1, radius=2.0, noise=0.5, contexts=n) for n in (1, 5)]
    for turn in range(6):
        one, other = (
            policy.choose(menu.actions, np.random.default_rng(turn)) for policy in policies
        )
        assert one.index == other.index
        assert one.probability == pytest.approx(other.probability, abs=1e-6)
        for policy, decision in zip(policies, (one, other), strict=True):
            policy.observe(decision, decision.action[0])


def test_faded_evidence_is_that_of_weighted_rounds():
    past, share = scene(3, 12, menus=2), 0.8
    evidence = Evidence.empty(3)
    menus = [Menu(actions) for actions in past.menus]
    for offer, action, reward in zip(past.offered, past.played, past.rewards, strict=True):
        evidence = evidence.faded(share).add(menus[offer], action, float(reward))
    weights = share ** np.arange(11, -1, -1)
    assert evidence.gram == pytest.approx((past.played.T * weights) @ past.played)
    assert evidence.moment == pytest.approx(past.played.T @ (weights * past.rewards))
    assert evidence.total == pytest.approx(weights @ past.played)
    assert evidence.energy == pytest.approx(weights @ past.rewards**2)
    assert evidence.rounds == pytest.approx(weights.sum())
    assert evidence.offered.sum() == pytest.approx(weights.sum())
    assert evidence_of(past).rounds == 12  # untouched


@compiled
def test_a_policy_with_a_discount_follows_rewards_that_change():
    """Action 0 is best for 150 rounds, then action 1; without a discount the past outweighs."""
    played = {}
    for discount in (1.0, 0.95):
        policy = SOIDS(2, sparsity=2, radius=3.0, noise=0.5, discount=discount)
        rng, late = np.random.default_rng(10), []
        for t in range(200):
            decision = policy.choose(np.eye(2), rng)
            best = 0 if t < 150 else 1
            policy.observe(decision, float(decision.index == best) + 0.5 * rng.standard_normal())
            late.append(decision.index)
        played[discount] = np.mean(np.array(late[-20:]) == 1)
    assert played[0.95] >= 0.9
    assert played[0.95] > played[1.0]


@pytest.mark.parametrize(("name", "value"), [
    ("discount", 0.0), ("discount", 1.1), ("discount", "much"), ("sets", 0), ("sets", 1.5),
    ("contexts", 0), ("contexts", "all"),
])  # fmt: skip
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name} must"):
        SOIDS(3, **{name: value})
