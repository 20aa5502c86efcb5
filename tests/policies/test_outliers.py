"""A reward that cannot be true is reported once, with its round and its value."""

import warnings

import numpy as np
import pytest

from soids import SOIDS, LinTS, load, paper_instance, save

BANDIT = paper_instance(20, seed=0)


def reports(policy, rounds, outliers=()):
    """The warnings of impossible rewards in a run in which some rounds have another reward."""
    rng, found = np.random.default_rng(0), []
    for turn in range(1, rounds + 1):
        decision = policy.choose(BANDIT.actions, rng)
        reward = float(BANDIT.means[decision.index] + rng.standard_normal())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            policy.observe(decision, 1e5 if turn in outliers else reward)
        found += [(turn, str(one.message), one.filename) for one in caught]
    return found


@pytest.mark.parametrize(
    "policy",
    [SOIDS(20), SOIDS(20, noise=1.0), SOIDS(20, noise=1.0, posterior="gaussian"), LinTS(20)],
    ids=["given nothing", "given the noise", "gaussian", "lints"],
)
def test_an_outlier_is_reported_once_with_its_round_and_value(policy):
    ((turn, message, filename),) = reports(policy, 15, outliers=(9, 12))
    assert turn == 9
    assert message.startswith("the reward of round 9, 100000, is")
    assert filename == __file__


def test_a_noise_that_is_far_too_small_is_reported():
    ((_, message, _),) = reports(SOIDS(20, noise=1e-4, particles=20), 14)
    assert "give a larger noise" in message


def test_ordinary_rewards_are_not_reported():
    assert not reports(SOIDS(20, noise=1.0), 30)


@pytest.mark.parametrize("level", [0.0, 0.1])
def test_the_first_reward_that_differs_is_not_reported(level):
    """Most visitors buy nothing, until one does."""
    policy, rng = SOIDS(20, particles=50), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for reward in [level] * 10 + [5000.0]:
            policy.observe(policy.choose(BANDIT.actions, rng), reward)


def test_what_was_reported_is_not_reported_again_by_a_loaded_policy(tmp_path):
    policy = SOIDS(20, noise=1.0)
    assert reports(policy, 8, outliers=(8,))
    save(policy, tmp_path / "policy")
    assert not reports(load(tmp_path / "policy"), 4, outliers=(2,))


def test_ordinary_rewards_after_an_early_outlier_are_not_blamed():
    """The first rewards say too little to tell an outlier; a warning here would be an error."""
    policy, rng = SOIDS(4, sparsity=2, radius=5.0, noise=1.0), np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (8, 4))
    for t in range(12):
        decision = policy.choose(actions, rng)
        policy.observe(decision, 1e8 if t == 0 else float(rng.standard_normal()))
    assert not policy.state.mind.warned
