"""Policies with rewards that are 0 or 1: choices, late rewards, files, reasons."""

import numpy as np
import pytest

import soids
from soids import FGTS, SOIDS, SparseIDS, Thompson, play
from soids.bandits import clicks
from soids.information import nats_of_rates
from soids.simulation.feedback import Feedback

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4))


def played(policy, rounds=30, seed=1):
    """The policy after some rounds in which the first feature decides."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, float(rng.random() < (decision.action[0] > 0.0) * 0.8))
    return policy


def taught(count=320, seed=1):
    """A policy that learned as often from each action of what the first feature decides."""
    policy, rng = SOIDS(4, rewards="binary"), np.random.default_rng(seed)
    for index in np.resize(np.arange(len(ACTIONS)), count):
        rate = 1.0 / (1.0 + np.exp(1.0 - 3.0 * ACTIONS[index, 0]))
        policy.learn(ACTIONS, index=int(index), reward=float(rng.random() < rate))
    return policy


@pytest.mark.parametrize("family", [SOIDS, FGTS, SparseIDS, Thompson])
def test_every_rule_with_a_posterior_learns_from_clicks(family):
    bandit = clicks(0, dimension=6, sparsity=2, actions=10, rate=0.2)
    feedback = Feedback(delay="fixed(10)", loss=0.1)
    trace = play(bandit, family(6, rewards="binary"), horizon=300, seed=0, feedback=feedback)
    even = (bandit.rates.max() - bandit.rates).mean()
    assert trace.regret[100:].mean() < 0.8 * even


def test_contexts_exclusions_and_floors_work_as_with_other_rewards():
    bandit = clicks(0, dimension=6, sparsity=2, actions=5, rate=0.2, catalogue=12)
    policy, rng = SOIDS(6, rewards="binary", contexts=4, floor=0.1), np.random.default_rng(0)
    for offer in bandit.rounds(40, rng):
        decision = policy.choose(offer.actions, rng, excluded=[1])
        policy.observe(decision, offer.reward(decision.index))
        assert decision.probabilities[1] == 0.0
        assert decision.probabilities.min(initial=1.0, where=np.arange(5) != 1) >= 0.1 / 4 - 1e-12
        assert decision.probabilities.sum() == pytest.approx(1.0)


def test_the_feature_that_decides_is_found():
    inclusion = taught().inclusion()
    assert inclusion.argmax() == 0
    assert inclusion[0] > 0.9


def test_late_rewards_in_any_order_lead_to_the_same_counts():
    rewards, counts = np.random.default_rng(2).integers(0, 2, 12).astype(float), []
    for order in (range(12), range(11, -1, -1)):
        policy, rng = SOIDS(4, rewards="binary"), np.random.default_rng(3)
        decisions = [policy.choose(ACTIONS, rng) for _ in range(12)]
        policy.observe([decisions[i] for i in order], [rewards[i] for i in order])
        tally = policy.evidence.tally
        keys = [row.tobytes() for row in tally.actions]
        counts.append({k: (n, y) for k, n, y in zip(keys, *tally[1:], strict=True)})
    assert counts[0] == counts[1]
    assert sum(n for n, _ in counts[0].values()) == 12


def test_pending_rewards_spread_the_choices():
    policy, rng = SOIDS(4, rewards="binary"), np.random.default_rng(0)
    assert len({policy.choose(ACTIONS, rng).index for _ in range(40)}) > 3


def test_a_loaded_policy_goes_on_bit_for_bit(tmp_path):
    policy = played(SOIDS(4, rewards="binary"))
    soids.save(policy, tmp_path / "policy")
    other = soids.load(tmp_path / "policy")
    assert repr(other) == repr(policy)
    for one, same in zip(played(policy).state.mind.belief[1:], played(other).state.mind.belief[1:],
                         strict=True):  # fmt: skip
        assert np.array_equal(one, same)


def test_choices_of_others_are_learned_from():
    policy = SOIDS(4, rewards="binary")
    for _ in range(40):
        policy.learn(ACTIONS, index=2, reward=1.0)
        policy.learn(ACTIONS, index=5, reward=0.0)
    law = policy.law(ACTIONS)
    assert law[2] > law[5]


def test_a_log_learned_at_once_leads_to_the_same_belief_as_round_by_round():
    """Rates of well-played actions agree within 4 posterior standard deviations of particles."""
    rng = np.random.default_rng(0)
    at_once, by_round = SOIDS(4, rewards="binary"), SOIDS(4, rewards="binary")
    for index in np.resize(np.arange(8), 400):
        reward = float(rng.random() < 0.05 + 0.5 * (ACTIONS[index, 0] > 0.0))
        for policy in (at_once, by_round):
            policy.learn(ACTIONS, index=int(index), reward=reward)
        by_round.refresh(rng)
    one, other = (policy.mind.belief for policy in (at_once, by_round))
    menu = at_once.state.past.menu
    rates, others = one.rewards_on(menu), other.rewards_on(menu)
    means = one.weights @ rates
    error = np.sqrt(one.weights @ (rates - means) ** 2)
    assert np.abs(means - other.weights @ others).max() < error.max()


@pytest.mark.parametrize("reward", [2.0, 0.5, -1])
def test_other_rewards_are_refused_and_change_nothing(reward):
    policy, rng = SOIDS(4, rewards="binary"), np.random.default_rng(0)
    decision = policy.choose(ACTIONS, rng)
    before = policy.state
    wrong = rf"reward must be 0 or 1 .* got {float(reward)}: correct it, .*, in round "
    with pytest.raises(ValueError, match=f"{wrong}1$"):
        policy.observe(decision, reward)
    with pytest.raises(ValueError, match=f"{wrong}3, in row 1$"):
        policy.learn(ACTIONS, [0, 0], [1, reward])
    assert policy.state is before


def test_a_reward_may_be_a_flag():
    for rewards in ("binary", "real"):
        one, other = (SOIDS(4, rewards=rewards) for _ in range(2))
        one.observe(one.choose(ACTIONS, np.random.default_rng(0)), True)
        one.learn(ACTIONS, [1, 2], np.array([True, False]))
        other.observe(other.choose(ACTIONS, np.random.default_rng(0)), 1.0)
        other.learn(ACTIONS, [1, 2], [1.0, 0.0])
        assert np.array_equal(one.evidence.moment, other.evidence.moment)


@pytest.mark.parametrize(
    "settings", [{"noise": 1.0}, {"posterior": "ample"}, {"action_bound": 1.0}]
)
def test_settings_of_the_linear_model_are_refused(settings):
    with pytest.raises(ValueError, match="must be left out beside rewards='binary'"):
        SOIDS(4, rewards="binary", **settings)


def test_an_explanation_speaks_of_probabilities_and_log_odds():
    policy = taught()
    decision = policy.choose(ACTIONS, np.random.default_rng(0))
    explained = policy.explain(decision)
    assert 0.0 < explained.reward < 1.0
    assert explained.features[0].column == 0
    assert "log odds" in explained.sentence


def test_a_reward_that_is_surely_known_tells_nothing():
    weights = np.array([0.25, 0.75])
    rates = np.array([[0.0, 1.0, 0.3, 1.0], [0.0, 1.0, 0.3, 0.0]])
    nats = nats_of_rates(rates, weights)
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert nats == pytest.approx([0.0, 0.0, 0.0, entropy], abs=1e-12)


def test_discounted_rewards_count_less():
    policy = played(SOIDS(4, rewards="binary", discount=0.9), rounds=30)
    assert policy.evidence.tally.trials.sum() == pytest.approx((1.0 - 0.9**30) / 0.1)
