"""OTCS: its sets hold the truth as often as they say, and wrong settings are named."""

import numpy as np
import pytest

from soids import OTCS, SparseLinearBandit, play

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4))
TOLD = {"sparsity": 1, "radius": 1.0, "noise": 0.5, "delta": 0.1}


@pytest.mark.parametrize(
    ("width", "share"), [("likelihood_ratio", 0.3), ("clerico", 0.2), ("aps2012", 0.05)]
)
def test_the_set_holds_the_parameter_at_all_times(width, share):
    """In 400 runs at delta = 0.1 at most 40 may fail on average, 64 is four standard errors more.

    A share of the radius must fail often: the test can tell.
    """
    failures, smaller = 0, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        theta = np.zeros(4)
        theta[rng.integers(4)] = rng.choice([-1.0, 1.0])
        policy = OTCS(4, **TOLD, width=width, horizon=15, particles=30)
        held = held_share = True
        for _ in range(15):
            decision = policy.choose(ACTIONS, rng)
            ellipsoid = policy.ellipsoid()
            held &= ellipsoid.holds(theta)
            held_share &= ellipsoid._replace(radius=share * ellipsoid.radius).holds(theta)
            policy.observe(decision, decision.action @ theta + 0.5 * rng.standard_normal())
        failures += not held
        smaller += not held_share
    assert failures <= 64
    assert smaller > 200


def test_the_likelihood_ratio_is_the_narrowest():
    def radius(width):
        policy = OTCS(4, **TOLD, width=width, horizon=100)
        play(SparseLinearBandit(ACTIONS, [0.0, 1.0, 0.0, 0.0], 0.5), policy, 100, seed=0)
        return policy.ellipsoid().radius

    assert radius("likelihood_ratio") < radius("clerico") < radius("aps2012")


def test_a_power_of_ones_own_is_taken():
    policy = OTCS(4, **TOLD, width="clerico", eta=0.25)
    assert policy.power() == policy.forecaster.tuning.eta == 0.25
    assert OTCS(4, sparsity=1, radius=1.0, width="clerico").power() == 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": "wide"}, "width must be one of aps2012, clerico, likelihood_ratio, got 'wide'"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0"),
        ({"delta": 1.5}, "delta must lie strictly between 0 and 1, got 1.5"),
        ({"eta": 0.5}, "eta must be left out for a likelihood ratio"),
        ({"width": "clerico", "eta": 1.0}, "eta must lie strictly between 0 and 1, got 1"),
        ({"width": "aps2012"}, "horizon must be told for the width aps2012"),
        ({"sparsity": 5}, r"sparsity must be in 1\.\.4, got 5"),
        ({"radius": -1.0}, "radius must be above 0, got -1"),
        ({"ridge": 0.0}, "ridge must be at least 1e-12, got 0"),
        ({"feature_bound": 0.0}, "feature_bound must be above 0, got 0"),
        ({"norm": -1.0}, "norm must be at least 0, got -1"),
        ({"norm": 3.0}, "norm must be at most the radius of 1, .* got 3"),
        ({"noise": 0.0}, "noise must be at least 1e-12, got 0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        OTCS(4, **{"sparsity": 1, "radius": 1.0, **settings})


def test_features_are_at_most_as_large_as_told_where_that_matters():
    rng = np.random.default_rng(0)
    told = {"sparsity": 1, "radius": 1.0}
    with pytest.raises(ValueError, match="at most feature_bound = 1 in size, got 2"):
        OTCS(2, **told, width="clerico").choose(2.0 * np.eye(2), rng)
    OTCS(2, **told, width="clerico", feature_bound=2.0).choose(2.0 * np.eye(2), rng)
    OTCS(2, **told).choose(2.0 * np.eye(2), rng)


def test_the_end_of_the_horizon_is_said():
    policy, rng = OTCS(4, **TOLD, width="aps2012", horizon=3), np.random.default_rng(0)
    for _ in range(3):
        policy.observe(policy.choose(ACTIONS, rng), 0.0)
    with pytest.warns(RuntimeWarning, match="horizon of 3 rounds is over"):
        policy.choose(ACTIONS, rng)


def test_before_any_reward_the_set_is_certain():
    policy, rng = OTCS(4, **TOLD), np.random.default_rng(0)
    policy.choose(ACTIONS, rng)
    assert policy.forecaster.log_evidence() == 0.0
    assert not policy.forecaster.mean().any()


def test_what_was_told_too_small_is_noticed():
    policy = OTCS(2, sparsity=1, radius=3.0, noise=0.01, width="clerico", eta=0.5, norm=0.1)
    bandit = SparseLinearBandit(np.eye(2), [1.0, 1.0], 1.0)
    with pytest.warns(RuntimeWarning, match="confidence set is empty"):
        play(bandit, policy, 30, seed=0)
