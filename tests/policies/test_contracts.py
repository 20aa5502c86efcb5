"""What every policy and every posterior promises, each member of the family in turn."""

import numpy as np
import pytest
from scipy.stats import chi2

from in_play import every_way_to_act
from members import COVERED, SPANNING, members, name_of
from soids import POLICIES, SparseLinearBandit, play
from soids.evidence import Evidence, Menu
from soids.posteriors import POSTERIORS, Tuning

# Few data make the relaxed posterior and PopArt warn, by design; here they are among others.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

every_policy = pytest.mark.parametrize("family", members())
# The doubly robust one regresses on the mean of all actions, which must change to teach anything.
every_learner = pytest.mark.parametrize("family", members("uniform", "dr_lasso_bandit"))
every_policy_of_changing_sets = pytest.mark.parametrize("family", members(*COVERED))
every_posterior = pytest.mark.parametrize("name", POSTERIORS)

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (10, 4))
EASY = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0, 0.0], noise=0.5)
GIVEN = {"sparsity": 1, "radius": 2.0, "noise": 0.5}


def drawn_rewards(decisions, seed=0):
    noise = np.random.default_rng(seed).standard_normal(len(decisions))
    return [float(d.action[1] + z) for d, z in zip(decisions, noise, strict=True)]


# The policies.


@every_policy
def test_the_same_seed_gives_the_same_run(family):
    once, again = (play(EASY, family(4), 20, seed=5) for _ in range(2))
    pairs = zip(once, again, strict=True)
    assert all(np.array_equal(*pair, equal_nan=True) for pair in pairs)  # some claim no ratio


@every_policy
def test_whole_numbers_do_where_numbers_are_meant(family):
    given = {"sparsity": np.int64(1), "radius": 2, "noise": 1, "norm": 2, "reward_bound": 2}
    rewards = [play(EASY, family(4, **given), 8, seed=0).reward.tolist()]
    given = {name: value if name == "sparsity" else float(value) for name, value in given.items()}
    rewards.append(play(EASY, family(4, **given), 8, seed=0).reward.tolist())
    assert rewards[0] == rewards[1]


@every_policy
def test_a_choice_is_one_of_the_actions_with_its_propensity(family):
    policy, rng = family(4, **GIVEN), np.random.default_rng(0)
    for t in range(1, 16):
        decision = policy.choose(ACTIONS, rng)
        assert decision.round == t
        assert np.array_equal(decision.action, ACTIONS[decision.index])
        assert 0.0 < decision.probability <= 1.0 + 1e-12
        assert not (np.array(decision.info) < 0.0).any()  # NaN where nothing is claimed
        policy.observe(decision, rng.standard_normal())


@every_way_to_act
def test_actions_are_drawn_as_often_as_their_propensity_says(family):
    policy, rng = family(4, sparsity=2, radius=3.0, noise=1.0), np.random.default_rng(0)
    for _ in range(30):  # some never leave it to chance
        if (decision := policy.choose(ACTIONS, rng)).probability <= 0.9:
            break
        policy.observe(decision, decision.action[1] + rng.standard_normal())
    policy.refresh(rng)
    law, state, drawn = policy.law(ACTIONS), policy.state, []
    for _ in range(1500):
        policy.state = state
        drawn.append(policy.choose(ACTIONS, rng))
    assert law.sum() == pytest.approx(1.0, abs=1e-12)
    assert all(np.array_equal(d.probabilities, law) for d in drawn)
    assert all(d.probability == law[d.index] > 0.0 for d in drawn)
    counts = np.bincount([d.index for d in drawn], minlength=len(ACTIONS))
    expected = 1500 * law
    common = expected >= 5.0
    statistic = ((counts - expected)[common] ** 2 / expected[common]).sum()
    assert statistic < chi2.isf(1e-4, common.sum())


# Worst-case bounds are slow to believe that a thing is known.
PATIENCE = {
    "frequentist_ids": 400, "popart": 2000, "popart_elimination": 4000, "lasso_bandit": 600,
    "mcp_bandit": 600, "fgts_theorem2": 600, "fgts_theorem3": 1000,
}  # fmt: skip


@every_learner
def test_an_easy_instance_is_learned(family):
    rounds = PATIENCE.get(name_of(family), 60)
    given = GIVEN if rounds == 60 else {**GIVEN, "exploration": rounds // 2}
    late = [
        play(EASY, family(4, **given), rounds, seed).regret[rounds // 2 :].mean()
        for seed in range(4)
    ]
    assert np.mean(late) < 0.15 * EASY.gaps.mean()  # of what a uniform policy would pay


@every_policy
def test_what_the_caller_passes_is_neither_changed_nor_kept(family):
    actions, rewards = ACTIONS.copy(), np.array([1.0, 2.0])
    policy, twin = family(4), family(4)
    rng, same = (np.random.default_rng(0) for _ in range(2))
    decisions = [policy.choose(actions, rng) for _ in range(2)]
    policy.observe(decisions, rewards)
    assert np.array_equal(actions, ACTIONS)
    assert rewards.tolist() == [1.0, 2.0]
    twin.observe([twin.choose(ACTIONS, same) for _ in range(2)], [1.0, 2.0])
    actions[:] = rewards[:] = 99.0
    assert policy.choose(ACTIONS, rng).index == twin.choose(ACTIONS, same).index
    assert np.array_equal(decisions[0].action, ACTIONS[decisions[0].index])


@pytest.mark.parametrize("family", members("soids_theorem3", "fgts_theorem3"))  # ask for s <= d / 2
@pytest.mark.parametrize(
    ("bandit", "given"),
    [
        (SparseLinearBandit([[1.0, 0.5]], [1.0, 0.0]), {}),
        (SparseLinearBandit([[1.0], [-1.0], [0.5]], [1.0]), {}),
        (SparseLinearBandit(np.repeat(np.eye(2), 3, axis=0), [1.0, 0.0]), {}),
        (SparseLinearBandit(np.zeros((2, 2)), [1.0, 0.0]), {}),
        (SparseLinearBandit(ACTIONS, EASY.theta, 1e-9), {}),
        (SparseLinearBandit(ACTIONS, EASY.theta, 0.05), {"noise": 0.05}),
    ],
    ids=["one action", "one feature", "twins", "nothing to choose", "no noise", "little noise"],
)
def test_odd_worlds_are_played_to_the_end(family, bandit, given):
    policy = family(len(bandit.theta), **given)
    if name_of(family) in SPANNING and np.linalg.matrix_rank(bandit.actions) < len(bandit.theta):
        with pytest.raises(ValueError, match="actions must span"):
            play(bandit, policy, 12, seed=0)
        return
    trace = play(bandit, policy, 12, seed=0)
    assert np.isfinite([trace.reward, trace.probability, trace.rate]).all()
    assert policy.evidence.rounds == 12


@every_policy_of_changing_sets
def test_batched_delayed_and_reordered_rewards_are_the_same_evidence(family):
    def decided():
        policy, rng = family(4), np.random.default_rng(1)
        menus = [ACTIONS, ACTIONS[:6], ACTIONS, -ACTIONS]
        return policy, [policy.choose(menu, rng) for menu in menus]

    prompt, decisions = decided()
    rewards = drawn_rewards(decisions)
    for decision, reward in zip(decisions, rewards, strict=True):
        prompt.observe(decision, reward)
    batched, decisions = decided()
    batched.observe(tuple(decisions), np.array(rewards))
    reordered, decisions = decided()
    reordered.observe(decisions[3], rewards[3])
    reordered.observe([decisions[2], decisions[0]], [rewards[2], rewards[0]])
    reordered.choose(ACTIONS, np.random.default_rng(9))
    reordered.observe(decisions[1], rewards[1])
    for other in (batched, reordered):
        # The round in which an intercept enters may differ; the sums do not.
        mine, theirs = prompt.evidence.about_means(), other.evidence.about_means()
        assert np.allclose(mine.gram, theirs.gram, rtol=1e-12)
        for one, another in zip(mine[1:5], theirs[1:5], strict=True):
            assert np.allclose(one, another, rtol=1e-12)
        assert sorted(other.evidence.counts) == sorted(prompt.evidence.counts)
        other.choose(ACTIONS, np.random.default_rng(0))


@every_policy_of_changing_sets
def test_a_new_menu_each_round_is_no_obstacle(family):
    policy, rng = family(4, **GIVEN), np.random.default_rng(0)
    fewest = 4 if name_of(family) in SPANNING else 1
    for count in range(fewest, fewest + 8):
        actions = rng.uniform(-1, 1, (count, 4))
        decision = policy.choose(actions, rng)
        policy.observe(decision, 2.0 * decision.action[1] + 0.5 * rng.standard_normal())
    assert len(policy.evidence.menus) == 8


@every_policy
def test_choosing_again_without_feedback_is_allowed(family):
    policy, rng = family(4), np.random.default_rng(0)
    first, second = policy.choose(ACTIONS, rng), policy.choose(ACTIONS, rng)
    policy.observe(second, 1.0)
    policy.observe(first, 2.0)
    assert policy.evidence.rounds == 2


# The posteriors.


def gathered(theta, rounds, noise=0.5, seed=0, actions=ACTIONS):
    """Evidence of each action of the menu in turn."""
    rng = np.random.default_rng(seed)
    menu, evidence = Menu(actions), Evidence.empty(len(theta))
    for t in range(rounds):
        action = actions[t % len(actions)]
        evidence = evidence.add(menu, action, action @ theta + noise * rng.standard_normal())
    return evidence


def replicated(posterior, evidence, tuning, statistic, count=16):
    """Mean of a statistic over independent beliefs, and its standard error."""
    beliefs = (
        posterior.update(None, evidence, tuning, np.random.default_rng(seed))
        for seed in range(count)
    )
    values = np.array([statistic(belief.particles()) for belief in beliefs])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / count**0.5


@every_posterior
@pytest.mark.parametrize("rounds", [0, 1, 300])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_weights_are_a_distribution(name, rounds, rate):
    posterior = POSTERIORS[name](4)
    evidence = gathered(EASY.theta, rounds)
    belief = posterior.update(None, evidence, Tuning(1.0, rate, 50, 1), np.random.default_rng(0))
    thetas, included, weights = belief.particles()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights.min() >= 0.0
    assert np.isfinite(thetas).all()
    assert thetas.shape == included.shape == (50, 4)
    assert belief.noise() > 0.0


def test_a_broken_belief_is_an_error_and_not_an_endless_loop():
    posterior, rng = POSTERIORS["subset"](4), np.random.default_rng(0)
    tuning = Tuning(1.0, 0.5, 50, 1)
    belief = posterior.update(None, gathered(EASY.theta, 2), tuning, rng)
    belief.variances[:] = np.nan
    with pytest.raises(FloatingPointError, match="rescale"):
        posterior.update(belief, gathered(EASY.theta, 3), tuning, rng)


@every_posterior
def test_settings_may_be_whole_numbers(name):
    posterior = POSTERIORS[name](4, sparsity=1, radius=2, noise=1)
    posterior.update(None, gathered(EASY.theta, 3), Tuning(1, 0, 50, 1), np.random.default_rng(0))


@every_posterior
@pytest.mark.parametrize("eta", [1.0, 0.5])
def test_without_optimism_it_is_the_prior_times_the_powered_likelihood(name, eta):
    posterior = POSTERIORS[name](2, sparsity=1, radius=2.0, noise=1.0)
    menu, rewards = Menu(np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]])), [1.5, 0.2, -0.4]
    evidence = Evidence.empty(2)
    for action, reward in zip(menu.actions, rewards, strict=True):
        evidence = evidence.add(menu, action, reward)

    def features(particles):
        return np.hstack([particles.thetas, particles.thetas**2, particles.included])

    def moments(particles):
        return particles.weights @ features(particles)

    found, error = replicated(posterior, evidence, Tuning(eta, 0.0, 300, 3), moments)
    nothing, rng = Evidence.empty(2), np.random.default_rng(99)
    prior = posterior.update(None, nothing, Tuning(eta, 0.0, 10_000, 1), rng).particles()
    misfits = ((prior.thetas @ menu.actions.T - rewards) ** 2).sum(axis=1)
    weights = prior.weights * np.exp(-0.5 * eta * misfits)
    weights /= weights.sum()
    expected = weights @ features(prior)
    noise = np.sqrt(weights**2 @ (features(prior) - expected) ** 2)
    assert (np.abs(found - expected) < 4.0 * np.hypot(error, noise) + 1e-12).all()


@every_posterior
@pytest.mark.parametrize("given", [{}, GIVEN], ids=["given nothing", "given all"])
def test_much_data_leave_no_doubt(name, given):
    belief, rng = None, np.random.default_rng(0)
    posterior = POSTERIORS[name](4, **given)
    for rounds in (10, 100, 3000):
        evidence = gathered(EASY.theta, rounds)
        belief = posterior.update(belief, evidence, Tuning(1.0, 0.01, 100, 2), rng)
    particles = belief.particles()
    covariance = 0.25 * np.linalg.inv(evidence.gram)
    assert np.abs(particles.mean() - EASY.theta).max() < 4 * np.sqrt(covariance.max())
    assert belief.noise() == pytest.approx(0.5, rel=4 / np.sqrt(2 * 3000))
    assert particles.inclusion()[1] == pytest.approx(1.0)


@every_posterior
def test_more_optimism_never_lowers_the_best_reward(name):
    # Each action is played as often as its opposite: the optimistic term is the best reward alone.
    actions = np.vstack([ACTIONS, -ACTIONS])
    evidence = gathered(EASY.theta, 20, noise=1.0, actions=actions)
    posterior = POSTERIORS[name](4, sparsity=1, radius=3.0, noise=1.0)

    def best_reward(particles):
        return particles.weights @ (particles.thetas @ actions.T).max(axis=1)

    rates = (0.0, 0.1, 0.4)
    found = [
        replicated(posterior, evidence, Tuning(0.5, rate, 100, 3), best_reward) for rate in rates
    ]
    means, errors = np.array(found).T
    assert (np.diff(means) > 4.0 * np.hypot(errors[1:], errors[:-1])).all()


@every_posterior
def test_without_alternatives_there_is_nothing_to_be_optimistic_about(name):
    evidence = gathered(EASY.theta, 3, actions=ACTIONS[:1])
    posterior = POSTERIORS[name](4, sparsity=1, radius=3.0, noise=1.0)
    (plain, error), (optimistic, other_error) = (
        replicated(posterior, evidence, Tuning(1.0, rate, 100, 3), lambda belief: belief.mean())
        for rate in (0.0, 1.0)
    )
    assert (np.abs(plain - optimistic) < 4.0 * np.hypot(error, other_error)).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@every_posterior
def test_given_nothing_it_learns_whatever_the_unit_of_reward(name, scale):
    bandit = SparseLinearBandit(ACTIONS, scale * EASY.theta, scale * EASY.noise)
    late = [
        play(bandit, POLICIES["soids"](4, posterior=name), 60, seed).regret[30:].mean()
        for seed in range(4)
    ]
    assert np.mean(late) < 0.15 * bandit.gaps.mean()
