"""Gaussian Thompson sampling: the law of its choices, and what knowing the support means."""

import numpy as np
import pytest
from scipy.stats import chi2

from soids import LinTS, OracleThompson, SparseLinearBandit, play

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (6, 3))


def taught(policy, rounds=12):
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, float(decision.action[0] + 0.5 * rng.standard_normal()))
    return policy


def law_of(policy, draws=2000):
    """How often each action is best under the conjugate posterior, and how often it is chosen."""
    evidence = policy.evidence
    precision = evidence.gram / 0.25 + np.eye(3) / 2.0
    mean = np.linalg.solve(precision, evidence.moment / 0.25)
    rng = np.random.default_rng(2)
    thetas = rng.multivariate_normal(mean, np.linalg.inv(precision), 100_000)
    expected = np.bincount((thetas @ ACTIONS.T).argmax(axis=1), minlength=6) / 100_000
    chosen = []
    before = policy.state._replace(mind=policy.state.mind._replace(belief=None))
    for _ in range(draws):
        policy.state = before  # draw anew, from the same evidence
        chosen.append(policy.choose(ACTIONS, rng).index)
    return draws * expected, np.bincount(chosen, minlength=6)


def test_lints_chooses_each_action_as_often_as_it_is_best():
    expected, seen = law_of(taught(LinTS(3, noise=0.5, variance=2.0)))
    common = expected >= 5.0
    assert common.sum() >= 2
    statistic = ((seen - expected)[common] ** 2 / expected[common]).sum()
    assert statistic < chi2.isf(1e-4, common.sum())


def test_the_oracle_is_lints_on_the_features_that_matter():
    """It sees the others, and gives them no weight whatever their values."""
    policy = taught(OracleThompson(3, [0], noise=0.5, variance=2.0))
    particles = policy.state.mind.belief.particles()
    assert (particles.thetas[:, 1:] == 0.0).all()
    assert policy.inclusion().tolist() == [1.0, 0.0, 0.0]
    evidence = policy.state.mind.believed
    variance = 1.0 / (evidence.gram[0, 0] / 0.25 + 0.5)
    mean = variance * evidence.moment[0] / 0.25
    assert particles.mean()[0] == pytest.approx(mean, abs=4.0 * (variance / 100) ** 0.5)


def test_knowing_the_support_pays():
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (50, 20))
    bandit = SparseLinearBandit(actions, np.eye(20)[3] * 3.0, noise=1.0)
    knowing, ignorant = (
        np.mean([play(bandit, make(), 150, seed).regret.sum() for seed in range(4)])
        for make in (lambda: OracleThompson(20, [3], noise=1.0), lambda: LinTS(20, noise=1.0))
    )
    assert knowing < 0.3 * ignorant


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_unit_of_reward_does_not_matter(scale):
    """Told nothing, the same choices but for what four made-up rounds of noise are worth."""
    theta = np.array([2.0, 0.0, 0.0])
    late = [
        play(SparseLinearBandit(ACTIONS, unit * theta, unit * 0.3), LinTS(3), 80, 0).regret[40:]
        for unit in (1.0, scale)
    ]
    assert late[1].mean() <= 1.5 * scale * late[0].mean() + 0.02 * scale


def test_empirical_bayes_finds_the_noise():
    rng = np.random.default_rng(0)
    policy = LinTS(30)
    theta = 3.0 * rng.standard_normal(30)
    for _ in range(200):
        decision = policy.choose(rng.uniform(-1, 1, (5, 30)), rng)
        policy.observe(decision, float(decision.action @ theta + 0.5 * rng.standard_normal()))
    assert policy.state.mind.belief.noise() == pytest.approx(0.5, rel=0.25)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinTS(3, variance=0.0), "^variance must be at least 1e-12, got 0"),
        (lambda: LinTS(3, noise=-1.0), "noise must be at least 1e-12, got -1"),
        (lambda: LinTS(0), r"dimension must be in 1\.\.10000000, got 0"),
        (lambda: OracleThompson(3, []), "support must name each feature once, and at least one"),
        (lambda: OracleThompson(3, [1, 1]), "support must name each feature once"),
        (lambda: OracleThompson(3, [3]), r"support must be in 0\.\.2, got 3"),
        (lambda: OracleThompson(3, [0.5]), "support must be a whole number, got 0.5"),
        (lambda: OracleThompson(3, [True, False, True]), "support must list columns by number"),
        (lambda: OracleThompson(3, 1), "support must be a list of features, got 1"),
        (lambda: OracleThompson(3, None), "support must be a list of features, got None"),
        (lambda: OracleThompson(3, "01"), "support must be a list of features, got '01'"),
    ],
)
def test_wrong_settings_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
