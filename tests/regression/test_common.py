"""What all actions of a round have in common, against a regression on all columns at once."""

import numpy as np
import pytest

from soids.evidence import Evidence, Menu
from soids.features import disjoint
from soids.regression.common import separated

DIRECTIONS = np.array([[0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]])


def gathered(rng, rounds=9, centred=True):
    evidence, played, contexts, rewards = Evidence.empty(6), [], [], []
    evidence = evidence.about_means() if centred else evidence
    for _ in range(rounds):
        contexts.append(np.append(1.0, rng.standard_normal(2)))
        played.append(disjoint(contexts[-1], 2)[rng.integers(2)])
        rewards.append(4.0 + contexts[-1][1] + rng.standard_normal())
        evidence = evidence.note(played[-1], rewards[-1])
    return evidence, np.array(played), np.array(contexts)[:, 1:], np.array(rewards)


@pytest.mark.parametrize("centred", [False, True])
def test_sums_are_those_of_a_model_with_normal_effects_integrated_out(centred):
    evidence, played, contexts, rewards = gathered(np.random.default_rng(0), centred=centred)
    rest, common = separated(evidence, DIRECTIONS)
    if centred:
        played, contexts, rewards = (x - x.mean(axis=0) for x in (played, contexts, rewards))
    ridge = 2.0 * (contexts**2).mean(axis=0)  # two contexts
    inverse = np.linalg.inv(np.eye(9) + contexts / ridge @ contexts.T)
    np.testing.assert_allclose(rest.gram, played.T @ inverse @ played, atol=1e-9)
    np.testing.assert_allclose(rest.moment, played.T @ inverse @ rewards, atol=1e-9)
    assert rest.energy == pytest.approx(rewards @ inverse @ rewards)
    effects = np.linalg.solve(contexts.T @ contexts + np.diag(ridge), contexts.T @ rewards)
    np.testing.assert_allclose(common.effects, effects)


def test_an_action_s_reward_is_what_is_common_and_what_it_adds():
    """At any parameter: the level, the effects given it, and the parameter's own reward."""
    rng = np.random.default_rng(1)
    evidence, played, contexts, rewards = gathered(rng)
    _, common = separated(evidence, DIRECTIONS)
    theta, context = rng.standard_normal(6), np.array([1.0, 0.7, -0.4])
    middle, centre = contexts.mean(axis=0), played.mean(axis=0)
    apart, ridge = contexts - middle, 2.0 * ((contexts - middle) ** 2).mean(axis=0)
    left = rewards - rewards.mean() - (played - centre) @ theta
    effects = np.linalg.solve(apart.T @ apart + np.diag(ridge), apart.T @ left)
    for action in disjoint(context, 2):
        expected = rewards.mean() + effects @ (context[1:] - middle) + theta @ (action - centre)
        level, point = common.at(action)
        assert level + theta @ (action - point) == pytest.approx(expected)
        assert common.rewards(theta[None], action[:, None])[0, 0] == pytest.approx(theta @ point)


def test_without_contexts_the_evidence_stays_as_it_is():
    evidence = Evidence.empty(3).add(Menu(np.eye(3)), np.eye(3)[0], 1.0)
    assert separated(evidence, np.empty((0, 3))) == (evidence, None)
    rest, common = separated(evidence.about_means(), np.empty((0, 3)))
    assert common.at(np.eye(3)[1])[0] == 1.0
    assert rest.centred
