"""Policies with one sparse parameter for all arms that fit a lasso anew in every round."""

import math

import numpy as np
import pytest

from scikit_lasso import scikit_lasso
from soids import DRLassoBandit, SALassoBandit, ThresholdedLassoBandit, play
from soids.bandits import FAMILIES


def played(policy, rounds, dimension=8, arms=4, seed=0):
    """A policy after some rounds of changing actions, and all that it saw."""
    rng = np.random.default_rng(seed)
    theta = np.zeros(dimension)
    theta[:2] = 1.0, -1.0
    decisions, rewards = [], []
    for _ in range(rounds):
        decisions.append(policy.choose(rng.standard_normal((arms, dimension)), rng))
        rewards.append(float(decisions[-1].action @ theta + 0.1 * rng.standard_normal()))
        policy.observe(decisions[-1], rewards[-1])
    return decisions, np.array(rewards)


def test_the_sparsity_agnostic_estimate_is_the_lasso_of_the_paper():
    policy = SALassoBandit(8, penalty=0.4)
    decisions, rewards = played(policy, 40)
    alpha = 0.4 * math.sqrt((4 * math.log(40) + 2 * math.log(8)) / 40)
    expected = scikit_lasso([d.action for d in decisions], rewards, alpha)
    assert policy.mind.theta == pytest.approx(expected, abs=1e-4)


def test_it_is_greedy_from_the_sixth_reward_on_and_any_action_is_as_good_before():
    decisions, _ = played(SALassoBandit(8, penalty=0.01), 12)
    assert [d.probability for d in decisions] == [0.25] * 6 + [1.0] * 6


def test_the_thresholded_estimate_is_least_squares_on_large_coefficients():
    policy = ThresholdedLassoBandit(8, penalty=0.05)
    decisions, rewards = played(policy, 40)
    alpha = 0.05 * math.sqrt(2 * math.log(40) * math.log(8) / 40)
    rows = np.array([d.action for d in decisions])
    sizes = np.abs(scikit_lasso(rows, rewards, alpha))
    first = sizes > 4 * alpha
    second = first & (sizes > 4 * alpha * math.sqrt(first.sum()))
    assert np.flatnonzero(second).tolist() == [0, 1]
    expected = np.linalg.lstsq(rows[:, second], rewards)[0]
    assert policy.mind.theta[second] == pytest.approx(expected)
    assert not policy.mind.theta[~second].any()


def test_where_no_coefficient_is_large_any_action_is_as_good():
    decisions, _ = played(ThresholdedLassoBandit(8, penalty=10.0), 10)
    assert {d.probability for d in decisions} == {0.25}


def test_pseudo_rewards_are_regressed_on_mean_contexts():
    policy, rng = DRLassoBandit(8, uniform=3, clip=1.5, penalty=0.5), np.random.default_rng(0)
    contexts, answers = [], []
    for t in range(1, 31):
        theta = policy.mind.theta.copy()
        decision = policy.choose(rng.standard_normal((4, 8)), rng)
        imputed = decision.menu.actions @ theta
        reward = float(decision.action[0] + 0.1 * rng.standard_normal())
        policy.observe(decision, reward)
        surprise = (reward - imputed[decision.index]) / (4 * decision.probability)
        contexts.append(decision.menu.actions.mean(axis=0))
        answers.append(np.clip(imputed.mean() + surprise, -1.5, 1.5))
        if t > 5:
            alpha = 0.5 * math.sqrt((math.log(t) + math.log(8)) / t)
            expected = scikit_lasso(contexts, answers, alpha)
            assert policy.mind.theta == pytest.approx(expected, abs=1e-4)


def test_the_pseudo_reward_is_unbiased_for_the_mean_of_all_actions():
    """Whatever was imputed: the sum over actions of propensity times pseudo-reward is the mean."""
    policy = DRLassoBandit(8, clip=1e6, penalty=0.01)
    played(policy, 30)
    rng = np.random.default_rng(1)
    theta, actions = rng.standard_normal(8), rng.standard_normal((4, 8))
    total, law, before = 0.0, policy.law(actions), policy.state
    context = actions.mean(axis=0)
    for index in range(4):
        policy.state = before
        policy.learn(actions, index, float(actions[index] @ theta), probability=law[index])
        step = policy.state.mind.pseudo.moment - before.mind.pseudo.moment
        total += law[index] * step @ context / (context @ context)
    assert total == pytest.approx(actions.mean(axis=0) @ theta)


def test_it_explores_with_the_probability_of_the_paper():
    decisions, _ = played(DRLassoBandit(8, penalty=0.05), 200)
    assert {d.probability for d in decisions[:9]} == {0.25}
    for t, decision in enumerate(decisions[20:], start=21):
        share = min(1.0, math.sqrt((math.log(t) + math.log(8)) / t))
        assert decision.probability in (
            pytest.approx(share / 4), pytest.approx(share / 4 + 1 - share)
        )  # fmt: skip


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        (SALassoBandit, {"penalty": 0.0}, "penalty must be at least 1e-12, got 0"),
        (ThresholdedLassoBandit, {"penalty": "1"}, "penalty must be a real number, got '1'"),
        (DRLassoBandit, {"chance": -1.0}, "chance must be at least 0, got -1"),
        (DRLassoBandit, {"uniform": 1.5}, "uniform must be a whole number, got 1.5"),
        (DRLassoBandit, {"clip": 0.0}, "clip must be above 0, got 0"),
        (DRLassoBandit, {"penalty": -1.0}, "penalty must be at least 1e-12, got -1"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused(family, settings, message):
    with pytest.raises(ValueError, match=message):
        family(4, **settings)


@pytest.mark.parametrize(
    ("policy", "family", "world", "rounds", "share"),
    [
        (SALassoBandit(30), "oh", {"dimension": 30, "sparsity": 3}, 200, 0.2),
        (DRLassoBandit(30), "kim_paik", {"dimension": 30, "sparsity": 3, "actions": 20}, 300, 0.45),
        (ThresholdedLassoBandit(100), "ariu", {"dimension": 100, "sparsity": 5}, 200, 0.25),
    ],
    ids=["Oh et al.", "Kim and Paik", "Ariu et al."],
)
def test_on_its_own_papers_setting_it_beats_chance_by_far(policy, family, world, rounds, share):
    bandit = FAMILIES[family](seed=0, **world)
    offers = bandit.rounds(300, np.random.default_rng(9))
    chance = np.mean([(offer.means.max() - offer.means).mean() for offer in offers])
    assert play(bandit, policy, rounds, seed=0).regret.mean() < share * chance
