"""What actions cost and teach beside what is awaited, and what a policy says of it."""

import numpy as np
import pytest

from soids import SOIDS, SparseIDS, paper_instance
from soids.evidence import Menu
from soids.information import (
    half_explained_variance,
    half_variance,
    share_left,
    shortfall,
    through_noise,
)
from soids.policies.appraisal import GAINS, Appraiser
from soids.policies.pending_information import awaited

BANDIT = paper_instance(20, 0)
KNOWN = {"sparsity": 2, "radius": 10.0, "noise": 1.0}


def waiting(policy, decisions=3):
    """A policy some of whose decisions wait for their reward."""
    rng = np.random.default_rng(0)
    policy.observe(policy.choose(BANDIT.actions, rng), 4.0)
    for _ in range(decisions):
        policy.choose(BANDIT.actions, rng)
    return policy


def test_a_noisy_reward_is_rated_by_what_those_under_way_leave_to_learn():
    """To count the noise first would rate the share of a logarithm."""
    policy = waiting(SOIDS(20, gain="shannon", **KNOWN))
    belief, menu = policy.state.mind.belief, Menu(BANDIT.actions)
    rewards, weights = belief.rewards_on(menu), belief.particles().weights
    appraiser = Appraiser.of(belief, GAINS["shannon"])
    under_way = awaited(None, appraiser, policy.state.past.pending, menu, rewards)
    regret, gain = appraiser._replace(directions=under_way.directions).appraise(rewards)
    left = share_left(under_way.resolved, half_variance(rewards, weights))
    assert left.min() < 0.5
    np.testing.assert_allclose(regret, shortfall(rewards, weights), rtol=1e-9)
    np.testing.assert_allclose(
        gain, through_noise(left * half_variance(rewards, weights), 1.0), rtol=1e-9
    )


@pytest.mark.parametrize("gain", GAINS)
def test_other_contexts_are_rated_like_the_one_on_offer(gain):
    policy = waiting(SOIDS(20, gain=gain, **KNOWN))
    belief = policy.state.mind.belief
    menu = Menu(BANDIT.actions)
    appraiser, rewards = Appraiser.of(belief, GAINS[gain]), belief.rewards_on(menu)
    under_way = awaited(None, appraiser, policy.state.past.pending, menu, rewards)
    appraiser = appraiser._replace(directions=under_way.directions)
    menus = [Menu(BANDIT.actions[:5]), Menu(BANDIT.actions[5:])]
    for menu, found in zip(menus, appraiser.elsewhere(menus), strict=True):
        np.testing.assert_allclose(
            found, appraiser.appraise(belief.rewards_on(menu)), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(
    "policy",
    [SOIDS(20, **KNOWN), SOIDS(20, gain="shannon", **KNOWN), SparseIDS(20, **KNOWN)],
    ids=["full", "shannon", "conditional"],
)
def test_what_a_choice_teaches_is_explained_as_it_was_counted(policy):
    decision = waiting(policy, decisions=0).choose(BANDIT.actions, np.random.default_rng(1))
    belief = policy.state.mind.belief
    rewards, weights = belief.rewards_on(decision.menu), belief.particles().weights
    lessons = {
        "full": half_variance,
        "shannon": lambda *particles: through_noise(half_variance(*particles), 1.0),
        "conditional": half_explained_variance,
    }
    explanation = policy.explain(decision)
    expected = lessons[policy.rule.gain](rewards, weights)[decision.index]
    assert explanation.gain == pytest.approx(float(expected), rel=1e-9)
    assert explanation.deviation == pytest.approx(
        float(np.sqrt(2.0 * half_variance(rewards, weights)[decision.index])), rel=1e-9
    )
