"""Bandits as Gymnasium environments: its checker passes, and rewards are those of play."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from realdata import FILES
from soids import SOIDS, SparseLinearBandit, Uniform, paper_instance, play
from soids.bandits import FAMILIES
from soids.gym import BanditEnv
from soids.simulation.trial import Problem

BANDIT = SparseLinearBandit(np.random.default_rng(0).uniform(-3, 3, (8, 3)), [1.0, 0.0, 0.0], 0.5)


def rewards_through(env, policy, seed, horizon):
    """What a policy earns and loses in one episode, its random numbers those of ``play``."""
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
    actions, _ = env.reset(seed=seed)
    rewards, regrets = [], []
    for _ in range(horizon):
        decision = policy.choose(actions, rng)
        actions, reward, _, truncated, info = env.step(decision.index)
        policy.observe(decision, reward)
        rewards.append(reward)
        regrets.append(info["regret"])
    assert truncated
    return rewards, regrets


@pytest.mark.parametrize(
    "bandit",
    [BANDIT, SparseLinearBandit(np.zeros((2, 1)), [1.0])],
    ids=["eight actions", "nothing to see"],
)
def test_gymnasiums_checker_accepts_every_bandit(bandit):
    env = BanditEnv(bandit, horizon=200)  # warnings are errors here
    check_env(env, skip_render_check=True)  # which warns of whatever was not made by name


def test_gymnasiums_checker_accepts_the_registered_environment():
    check_env(gymnasium.make("soids/Paper-v0", dimension=20, seed=3).unwrapped)


def test_a_policy_has_the_same_rewards_as_in_play():
    bandit = paper_instance(20, seed=4)
    trace = play(bandit, SOIDS(20), horizon=40, seed=4)
    env = gymnasium.make("soids/Paper-v0", dimension=20, seed=4, horizon=40)
    rewards, regrets = rewards_through(env, SOIDS(20), 4, 40)
    assert rewards == trace.reward.tolist()
    assert regrets == trace.regret.tolist()


def test_the_first_episode_has_the_seed_of_the_environment_and_later_ones_have_others():
    env = BanditEnv(BANDIT, horizon=5, seed=7)
    rewards = []
    for seed in (None, None, 7, None):
        env.reset(seed=seed)
        rewards.append([env.step(0)[1] for _ in range(5)])
    assert rewards[0] == rewards[2] != rewards[1]
    assert rewards[1] == rewards[3]  # the seeds of later episodes are a function of the first


@pytest.mark.parametrize("family", [one for one in FAMILIES if one not in FILES])
def test_every_family_is_registered_and_has_the_rewards_of_play(family):
    name = f"soids/{family.title().replace('_', '')}-v0"
    of_its_own = {"bastani": {"covariates": 5}, "clinic": {"layout": "arms"}}
    settings = of_its_own.get(family, {"dimension": 10})
    sparse = {"sparsity": 2} if family == "ariu" else {}
    env = gymnasium.make(name, **settings, **sparse, seed=2, horizon=20)
    bandit = Problem(family, settings | sparse, 20).make(2)
    policy, same = Uniform(bandit.dimension), Uniform(bandit.dimension)
    rewards, _ = rewards_through(env, policy, 2, 20)
    assert rewards == play(bandit, same, 20, seed=2).reward.tolist()


def test_gymnasiums_checker_accepts_changing_action_sets():
    check_env(gymnasium.make("soids/KimPaik-v0", dimension=20, actions=4).unwrapped)


def test_heavy_tails_are_the_same_as_in_play():
    bandit = paper_instance(20, seed=0, degrees=3.0)
    env = gymnasium.make("soids/Paper-v0", dimension=20, seed=0, degrees=3.0, horizon=30)
    rewards, _ = rewards_through(env, Uniform(20), 5, 30)
    assert rewards == play(bandit, Uniform(20), 30, seed=5).reward.tolist()


def test_the_first_episode_has_the_seed_of_the_instance():
    env = gymnasium.make("soids/Paper-v0", dimension=30, seed=1)
    bandit = paper_instance(30, seed=1)
    actions, _ = env.reset()
    assert np.array_equal(actions, bandit.actions)
    rewards = [env.step(action)[1] for action in play(bandit, Uniform(30), 5, seed=1).chosen]
    assert rewards == play(bandit, Uniform(30), 5, seed=1).reward.tolist()


def test_an_observation_is_a_copy():
    env = BanditEnv(BANDIT, horizon=2)
    actions, _ = env.reset(seed=0)
    actions[:] = 0.0
    assert np.array_equal(env.step(0)[0], BANDIT.actions)


def test_no_round_is_played_before_the_first_reset_nor_after_the_last():
    env = BanditEnv(BANDIT, horizon=1)
    with pytest.raises(ValueError, match="reset to begin"):
        env.step(0)
    env.reset(seed=0)
    assert env.step(0)[3]
    with pytest.raises(ValueError, match="an episode has 1 rounds"):
        env.step(0)


@pytest.mark.parametrize("action", [8, -1, 0.5, "first"])
def test_an_unknown_action_is_refused(action):
    env = BanditEnv(BANDIT)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action must be"):
        env.step(action)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"horizon": 0}, "horizon must be"), ({"seed": -1}, "seed must be")],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        BanditEnv(BANDIT, **settings)
    with pytest.raises(ValueError, match="bandit must be a SparseLinearBandit"):
        BanditEnv("paper")


def test_without_gymnasium_the_error_names_the_remedy():
    code = "import sys; sys.modules['gymnasium'] = None; import soids.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == (
        'ImportError: soids.gym needs Gymnasium: pip install "soids[gym]"'
    )


def test_a_missing_setting_is_named():
    with pytest.raises(ValueError, match=r"paper: dimension is missing: give .*gymnasium\.make"):
        gymnasium.make("soids/Paper-v0")
