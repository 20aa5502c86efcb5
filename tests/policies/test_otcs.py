"""OTCS: its sets hold the parameter as often as they say, and wrong settings are named."""

import numpy as np
import pytest

from soids import OTCS, SparseLinearBandit, load, play, save
from soids.posteriors import Broad, Langevin, Relaxed, SpikeSlab, Subset

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (8, 4))
KNOWN = {"sparsity": 1, "radius": 1.0, "noise": 0.5, "delta": 0.1}


def set_of(policy):
    """Where a policy takes the parameter to be, by all rewards so far."""
    return policy.rule.ellipsoid(policy.mind)


def failures(share, noise=0.5, size=1.0, runs=400, **settings):
    """In how many runs the set, and the one of a share of its radius, misses the parameter."""
    failed, smaller = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        theta = np.zeros(4)
        theta[rng.integers(4)] = rng.choice([-size, size])
        given = {**KNOWN, "radius": size, "noise": noise, **settings}
        policy = OTCS(4, **given, horizon=15, particles=30)
        held = held_share = True
        for _ in range(15):
            decision = policy.choose(ACTIONS, rng)
            ellipsoid = set_of(policy)
            held &= ellipsoid.holds(theta)
            held_share &= ellipsoid._replace(radius=share * ellipsoid.radius).holds(theta)
            policy.observe(decision, decision.action @ theta + noise * rng.standard_normal())
        failed += not held
        smaller += not held_share
    return failed, smaller


@pytest.mark.parametrize(
    ("settings", "share"),
    [
        ({"width": "likelihood_ratio"}, 0.3),
        ({"width": "likelihood_ratio", "posterior": "relaxed"}, 0.3),
        ({"width": "likelihood_ratio", "posterior": "spike_slab(slab_variance = 0.5)"}, 0.3),
        ({"width": "clerico"}, 0.2),
        ({"width": "rescaled"}, 0.2),
        ({"width": "unit_ball", "noise": 1.0}, 0.2),
        ({"width": "aps2012"}, 0.05),
    ],
    ids=str,
)
def test_the_set_holds_the_parameter_at_all_times(settings, share):
    """In 400 runs at delta = 0.1 at most 40 may fail on average, 64 is four standard errors more.

    A share of the radius must fail often: the test can tell.
    """
    failed, smaller = failures(share, **settings)
    assert failed <= 64
    assert smaller > 200


@pytest.mark.filterwarnings("ignore:the confidence set is empty")
def test_the_width_of_the_unit_ball_fails_where_rewards_are_large():
    """Mean rewards of up to 20 times the noise; within the ball, too small a factor fails."""
    failed, _ = failures(1.0, size=10.0, runs=40, width="unit_ball")
    assert failed > 20
    failed, _ = failures(1.0, noise=1.0, runs=40, width="unit_ball", factor=0.001, norm=0.5)
    assert failed > 20


def indices(policy, bandit, rounds=30, unit=1.0):
    """What a policy chooses where rewards are counted in a unit."""
    rng, noise = np.random.default_rng(3), np.random.default_rng(4)
    chosen = []
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        chosen.append(decision.index)
        reward = decision.action @ bandit.theta + bandit.noise * noise.standard_normal()
        policy.observe(decision, reward / unit)
    return chosen


def test_rescaling_is_the_theorem_on_rewards_in_its_unit():
    """In units of 8, a radius of 8 is 1, and the theorem allows a noise of 1."""
    bandit = SparseLinearBandit(ACTIONS, [0.0, 8.0, 0.0, 0.0], 1.0)
    ours = OTCS(4, sparsity=1, radius=8.0, noise=1.0, width="rescaled")
    theirs = OTCS(4, sparsity=1, radius=1.0, noise=1.0, width="clerico")
    assert indices(ours, bandit) == indices(theirs, bandit, unit=8.0)
    assert ours.rule.power() == theirs.rule.power() == 0.5
    assert set_of(ours).radius == pytest.approx(8.0 * set_of(theirs).radius)
    assert set_of(ours).centre == pytest.approx(8.0 * set_of(theirs).centre)


@pytest.mark.parametrize("noise", [1.0, 3.0])
def test_within_the_unit_ball_all_readings_of_the_theorem_are_one(noise):
    bandit = SparseLinearBandit(ACTIONS, [0.0, noise, 0.0, 0.0], noise)
    given = {"sparsity": 1, "radius": noise, "noise": noise}
    seen = []
    for width in ("clerico", "rescaled", "unit_ball"):
        policy = OTCS(4, **given, width=width)
        seen.append((indices(policy, bandit), set_of(policy).radius))
    assert seen[0] == seen[1] == seen[2]


def test_the_unit_ball_does_not_depend_on_the_radius():
    """Neither its width nor its bound on the l2 norm does, and the relaxed prior has no ball."""
    bandit = SparseLinearBandit(ACTIONS, [0.0, 3.0, 0.0, 0.0], 0.5)
    given = {"sparsity": 1, "noise": 0.5, "posterior": "relaxed", "width": "unit_ball"}
    small, large = (OTCS(4, **given, radius=radius) for radius in (0.5, 50.0))
    assert indices(small, bandit) == indices(large, bandit)
    assert set_of(small).radius == set_of(large).radius
    wider = OTCS(4, **given, radius=50.0, norm=3.0)
    narrower = OTCS(4, **given, radius=50.0)
    assert set_of(wider).radius ** 2 - set_of(narrower).radius ** 2 == (
        pytest.approx(3.0**2 - 0.5**2)
    )


def test_a_factor_multiplies_the_width_and_not_the_bound_on_the_norm():
    squares = [set_of(OTCS(4, **KNOWN, width="clerico", factor=f)).radius ** 2 for f in (1, 3)]
    assert squares[1] - 1.0 == pytest.approx(3.0 * (squares[0] - 1.0))


@pytest.mark.parametrize("posterior", ["relaxed", "broad", "spike_slab", Relaxed(4, 1, None, 0.5)])
def test_the_likelihood_ratio_takes_every_prior_with_evidence(posterior):
    """And it learns: the last forty of 100 rounds cost less than the first twenty."""
    bandit, regret = SparseLinearBandit(ACTIONS, [0.0, 3.0, 0.0, 0.0], 0.5), np.zeros(100)
    for seed in range(3):
        policy = OTCS(4, sparsity=1, radius=3.0, noise=0.5, posterior=posterior)
        regret += play(bandit, policy, 100, seed=seed).regret
    assert regret[-40:].sum() < regret[:20].sum()


@pytest.mark.parametrize(
    "settings",
    [
        {"posterior": "relaxed", "width": "unit_ball"},
        {"posterior": "langevin(steps = 3)", "width": "unit_ball", "factor": 0.5},
        {"posterior": "gaussian", "width": "rescaled"},
        {"posterior": SpikeSlab(4, 1, 1.0, 0.5), "width": "likelihood_ratio"},
    ],
    ids=str,
)
def test_with_any_prior_a_policy_goes_on_from_its_file(tmp_path, settings):
    bandit = SparseLinearBandit(ACTIONS, [0.0, 1.0, 0.0, 0.0], 0.5)
    policy = OTCS(4, **KNOWN, **settings)
    indices(policy, bandit, 5)
    save(policy, tmp_path / "policy")
    again = load(tmp_path / "policy")
    assert repr(again) == repr(policy)
    assert indices(again, bandit, 10) == indices(policy, bandit, 10)
    assert set_of(again).centre.tolist() == set_of(policy).centre.tolist()


def test_the_likelihood_ratio_is_the_narrowest():
    def radius(width):
        policy = OTCS(4, **KNOWN, width=width, horizon=100)
        play(SparseLinearBandit(ACTIONS, [0.0, 1.0, 0.0, 0.0], 0.5), policy, 100, seed=0)
        return set_of(policy).radius

    assert radius("likelihood_ratio") < radius("clerico") < radius("aps2012")


def test_a_power_of_ones_own_is_taken():
    policy = OTCS(4, **KNOWN, width="clerico", eta=0.05)
    assert policy.rule.power() == policy.rule.forecaster.tuning.eta == 0.05
    assert OTCS(4, sparsity=1, radius=1.0, width="clerico").rule.power() == 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": "wide"}, "width must be one of aps2012, .*, unit_ball, got 'wide'"),
        ({"width": "unitball"}, "did you mean 'unit_ball'"),
        ({"radius": np.inf}, "radius must be finite"),
        ({"factor": 0.5}, "factor must be left out for a likelihood ratio, which is 1, got 0.5"),
        ({"width": "clerico", "factor": 0.0}, "factor must be above 0, got 0"),
        (
            {"width": "clerico", "radius": 10.0, "eta": 0.5},
            r"at most 0.00250\d+ for the width clerico where .* reach 10 times .* got 0.5",
        ),
        ({"width": "unit_ball", "radius": 10.0, "eta": 0.51}, "eta must be at most 0.5 for"),
        ({"width": "aps2012", "horizon": 10, "eta": 0.4}, "eta must be at most 0.026"),
        ({"width": "clerico", "posterior": "relaxed"}, "posterior must be 'subset' for .* clerico"),
        ({"width": "clerico", "posterior": Broad(4, 1, 1.0, 1.0)}, "must be 'subset' for .*Broad"),
        ({"width": "aps2012", "horizon": 9, "posterior": Subset(4, 2, 1.0, 1.0)}, "own sparsity"),
        ({"posterior": "gaussian"}, "posterior must estimate its evidence .*, got 'gaussian'"),
        ({"posterior": Langevin(4, noise=1.0)}, "posterior must estimate its evidence .*Langevin"),
        ({"posterior": SpikeSlab(4, noise=1.0)}, "posterior must have a radius .*SpikeSlab"),
        ({"posterior": Relaxed(4)}, "posterior must have the noise 1 .*Relaxed"),
        (
            {"width": "rescaled", "radius": 3.0, "posterior": Relaxed(4, noise=1.0)},
            "posterior must have the noise 3 of the width rescaled",
        ),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0"),
        ({"delta": 1.5}, "delta must lie strictly between 0 and 1, got 1.5"),
        ({"eta": 0.5}, "eta must be left out for a likelihood ratio"),
        ({"width": "clerico", "eta": 1.0}, "eta must lie strictly between 0 and 1, got 1"),
        ({"width": "aps2012"}, "horizon must be given for the width aps2012"),
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


def test_features_are_at_most_as_large_as_given_where_that_matters():
    rng = np.random.default_rng(0)
    known = {"sparsity": 1, "radius": 1.0}
    with pytest.raises(ValueError, match="at most feature_bound = 1 in size, got 2"):
        OTCS(2, **known, width="clerico").choose(2.0 * np.eye(2), rng)
    OTCS(2, **known, width="clerico", feature_bound=2.0).choose(2.0 * np.eye(2), rng)
    OTCS(2, **known).choose(2.0 * np.eye(2), rng)


def test_the_end_of_the_horizon_is_said():
    policy, rng = OTCS(4, **KNOWN, width="aps2012", horizon=3), np.random.default_rng(0)
    for _ in range(3):
        policy.observe(policy.choose(ACTIONS, rng), 0.0)
    with pytest.warns(RuntimeWarning, match="horizon of 3 rounds is over"):
        policy.choose(ACTIONS, rng)


def test_before_any_reward_the_set_is_certain():
    policy, rng = OTCS(4, **KNOWN), np.random.default_rng(0)
    policy.choose(ACTIONS, rng)
    assert policy.rule.forecaster.log_evidence_of(policy.mind.foresight) == 0.0
    assert not policy.mind.foresight.mean().any()


def test_what_was_given_too_small_is_noticed():
    policy = OTCS(2, sparsity=1, radius=3.0, noise=0.01, width="unit_ball", norm=0.1)
    bandit = SparseLinearBandit(np.eye(2), [1.0, 1.0], 1.0)
    with pytest.warns(RuntimeWarning, match="confidence set is empty"):
        play(bandit, policy, 30, seed=0)
