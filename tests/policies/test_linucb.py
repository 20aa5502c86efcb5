"""LinUCB: an ellipsoid that holds the true parameter as often as it says, and optimism over it."""

import math

import numpy as np
import pytest

from soids import FrequentistIDS, LinUCB
from soids.evidence import Menu
from soids.kernels.inverse_norms import lengths_of
from soids.policies import linucb
from soids.policies.linucb import Bounds, most_optimistic
from soids.regression.ridge import Ellipsoid

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (12, 4))


@pytest.mark.parametrize(("ridge", "noise"), [(1.0, 1.0), (0.05, 0.3)])
def test_linucbs_ellipsoid_holds_the_parameter_at_all_times(ridge, noise):
    """In 400 runs at delta = 0.1 at most 40 may fail on average, 64 is four standard errors more.

    A radius of a quarter must fail often: the test can tell.
    """
    failures, smaller = 0, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        theta = rng.standard_normal(4)
        policy = LinUCB(4, noise=noise, norm=float(np.linalg.norm(theta)), ridge=ridge, delta=0.1)
        held = held_quarter = True
        for _ in range(40):
            decision = policy.choose(ACTIONS, rng)
            ellipsoid = policy.rule.ellipsoid(policy.evidence)
            held &= ellipsoid.holds(theta)
            held_quarter &= ellipsoid._replace(radius=0.25 * ellipsoid.radius).holds(theta)
            policy.observe(decision, decision.action @ theta + noise * rng.standard_normal())
        failures += not held
        smaller += not held_quarter
    assert failures <= 64
    assert smaller > 200


def test_linucb_plays_the_largest_upper_bound():
    policy, rng = LinUCB(4, alpha=1.5, ridge=0.5), np.random.default_rng(0)
    for _ in range(20):
        decision = policy.choose(ACTIONS, rng)
        evidence = policy.evidence
        inverse = np.linalg.inv(evidence.gram + 0.5 * np.eye(4))
        upper = ACTIONS @ inverse @ evidence.moment
        upper += 1.5 * np.sqrt(np.einsum("ki,ij,kj->k", ACTIONS, inverse, ACTIONS))
        assert decision.index == upper.argmax()
        assert decision.probability == 1.0
        policy.observe(decision, rng.standard_normal())


def test_a_bound_of_earlier_rounds_rules_out_no_action_that_is_best_now():
    """All lengths anew in each round, beside those that the policy remembers; twins among them."""
    rng = np.random.default_rng(3)
    actions = np.vstack([rng.uniform(-1, 1, (60, 4)), ACTIONS, ACTIONS])
    for alpha in (0.0, 0.3, 5.0):
        policy = LinUCB(4, alpha=alpha, ridge=0.1)
        for t in range(60):
            ellipsoid = policy.rule.ellipsoid(policy.evidence)
            upper = actions @ ellipsoid.centre + alpha * ellipsoid.lengths(actions)
            decision = policy.choose(actions if t % 20 else actions[::-1], rng)
            assert decision.action @ ellipsoid.centre + 0.5 * decision.info.regret == (
                pytest.approx(upper.max(), rel=1e-9)
            )
            anew = most_optimistic(ellipsoid, decision.menu, np.full(len(actions), 1e9))
            assert (decision.index, decision.info.gain) == (anew[0], 0.5 * math.log1p(anew[1] ** 2))
            assert (np.array(decision.info[:4]) >= 0.0).all()
            policy.observe(decision, decision.action[0] + rng.standard_normal())


def test_few_actions_are_looked_at_in_late_rounds(monkeypatch):
    looked_at = []

    def counted(chosen, *arguments):
        looked_at.append(len(chosen))
        return lengths_of(chosen, *arguments)

    monkeypatch.setattr(linucb, "lengths_of", counted)
    rng = np.random.default_rng(4)
    actions = rng.uniform(-1, 1, (500, 4))
    policy = LinUCB(4, alpha=1.0)
    for _ in range(100):
        decision = policy.choose(actions, rng)
        policy.observe(decision, decision.action[0] + 0.1 * rng.standard_normal())
    assert sum(looked_at) < 0.05 * 100 * 500


def test_bounds_are_the_extremes_over_the_ellipsoid():
    rng = np.random.default_rng(1)
    root = np.tril(rng.standard_normal((4, 4))) + 2.0 * np.eye(4)
    ellipsoid = Ellipsoid(rng.standard_normal(4), root, radius=1.3)
    rim = rng.standard_normal((50_000, 4))
    rim = ellipsoid.centre + 1.3 * np.linalg.solve(root.T, (rim.T / np.linalg.norm(rim, axis=1))).T
    rewards = rim @ ACTIONS.T
    bounds = Bounds.on(ellipsoid, Menu(ACTIONS))
    assert (rewards.max(axis=0) <= bounds.upper + 1e-12).all()
    assert rewards.max(axis=0) == pytest.approx(bounds.upper, abs=0.02)
    assert rewards.min(axis=0) == pytest.approx(bounds.upper.max() - bounds.regret, abs=0.02)
    shortfalls = (rewards.max(axis=1, keepdims=True) - rewards).max(axis=0)
    assert (shortfalls <= bounds.regret + 1e-12).all()


@pytest.mark.parametrize("family", [LinUCB, FrequentistIDS])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"norm must be given .*, or alpha \(a fixed radius\)"),
        ({"norm": 1.0, "delta": 0.0}, "delta must lie strictly between 0 and 1, got 0"),
        ({"norm": 1.0, "delta": 1.0}, "delta must lie strictly between 0 and 1, got 1"),
        ({"norm": 1.0, "delta": "low"}, "delta must be a real number, got 'low'"),
        ({"norm": -1.0}, "norm must be at least 0, got -1"),
        ({"alpha": 1.0, "norm": 2.0}, "norm must be left out beside a fixed radius alpha, got 2"),
        ({"alpha": -0.1}, "alpha must be at least 0, got -0.1"),
        ({"alpha": np.nan}, "alpha must be finite"),
        ({"norm": 1.0, "ridge": 0.0}, "ridge must be at least 1e-12, got 0"),
        ({"norm": 1.0, "noise": -1.0}, "noise must be at least 1e-12, got -1"),
        ({"norm": 1.0, "dimension": 0}, r"dimension must be in 1\.\.10000000, got 0"),
    ],
)
def test_wrong_settings_are_named(family, settings, message):
    with pytest.raises(ValueError, match=message):
        family(**{"dimension": 3, **settings})
