"""The theorems on a played trial: the numbers, the units, and what is said to be missing."""

import numpy as np
import pytest

from soids import FGTS, SOIDS, SparseIDS, SparseLinearBandit, Uniform, paper_instance, theory
from soids.posteriors import Subset
from soids.simulation.diagnosis import diagnose
from soids.simulation.feedback import Feedback
from soids.simulation.guarantees import guarantees, so_far

D = 8
SIGNED = np.vstack([np.eye(D), -np.eye(D)])  # the best one is sparse for every parameter
UNIT = SparseLinearBandit(SIGNED, 0.9 * np.eye(D)[2], 1.0)
COVERED = {"sparsity": 1, "radius": 1.0, "noise": 1.0}
SETTINGS = {**COVERED, "eta": 0.25, "rate": "theorem2", "intercept": False}


def watched(policy, bandit=UNIT, horizon=60, **more):
    seen = diagnose(bandit, policy, horizon, seed=0, **more)
    return seen, guarantees(seen)


@pytest.mark.parametrize("preset", [SOIDS.theorem2, SOIDS.theorem3, FGTS.theorem2, FGTS.theorem3])
def test_the_presets_lack_nothing_and_their_bounds_follow_the_proofs(preset):
    found = watched(preset(D, **COVERED))[1]
    assert found.unmet1 == []
    assert (found.unmet3 == []) == (preset.__name__ == "theorem3")
    if preset == SOIDS.theorem2:  # the chain of the proof, on this history
        c_min = theory.theorem2(D, 1, 60, 1.0 / D)
        assert found.theorem1.value <= c_min.value
    if preset.__name__ == "theorem3":
        assert found.theorem1.value <= found.theorem3.value


def test_theorem_1_is_evaluated_on_what_was_noted():
    seen, found = watched(SOIDS.theorem2(D, **COVERED))
    tally = theory.theorem1(
        D, 1, seen.trace.rate, seen.beliefs.surrogate_gain, seen.surrogate_regret, gap=2.0
    )
    assert found.theorem1 == pytest.approx(tally)
    true = theory.theorem1(
        D, 1, seen.trace.rate, seen.beliefs.true_gain, seen.surrogate_regret, gap=2.0
    )
    assert found.theorem1_true == pytest.approx(true)
    assert (found.unit, found.widest, found.trivial) == (1.0, 2.0, 120.0)


def test_theorem_3_is_evaluated_on_the_ratios_that_occurred():
    seen, found = watched(SOIDS.theorem3(D, **COVERED))
    squares = seen.trace.ratio[:-1].sum()
    roots = np.sqrt(seen.beliefs.cubed[:-1]).sum()
    assert (found.ratios, found.root_ratios) == pytest.approx((squares, roots))
    assert found.theorem3 == pytest.approx(theory.theorem3(D, 1, 60, squares, roots, 1.0 / D))
    # the rate of the next round is made of the same sums
    next_rate = np.sqrt(1.0 / (2.0 * D + squares)), (
        1.0 / (3.0 * np.sqrt(6.0 * D) + roots)
    ) ** (2 / 3)  # fmt: skip
    assert seen.trace.rate[-1] == pytest.approx(max(next_rate))
    rich = watched(FGTS.theorem3(D, **COVERED))[1].theorem3
    assert rich.poor == np.inf


def test_theorem_1_for_rates_from_history_takes_the_bounds_that_are_known_in_advance():
    seen, found = watched(SOIDS.theorem3(D, **COVERED))
    slowest = theory.slowest(D, 1, 60)
    tally = theory.theorem1_adaptive(
        D, 1, seen.trace.rate, seen.beliefs.surrogate_gain, seen.surrogate_regret,
        rise=slowest, peak=slowest, gap=2.0,
    )  # fmt: skip
    assert found.theorem1 == pytest.approx(tally)


@pytest.mark.parametrize("preset", [SOIDS.theorem2, SOIDS.theorem3])
def test_bounds_are_in_units_of_the_rewards(preset):
    scaled = SparseLinearBandit(2.0 * SIGNED, 5.0 * UNIT.theta, 10.0)  # rewards ten times as large
    one = watched(preset(D, **COVERED))[1]
    ten = watched(preset(D, 1, radius=5.0, noise=10.0, action_bound=2.0), scaled)[1]
    assert ten.unit == 10.0
    for name in ("theorem1", "theorem1_true", "theorem3", "trivial", "widest"):
        assert np.array(getattr(ten, name)) == pytest.approx(10.0 * np.array(getattr(one, name)))
    assert (ten.unmet1, ten.unmet3) == (one.unmet1, one.unmet3)


@pytest.mark.parametrize("preset", [SOIDS.theorem2, SOIDS.theorem3])
def test_the_bounds_so_far_end_with_those_of_the_trial(preset):
    seen, found = watched(preset(D, **COVERED))
    bounds = so_far(seen)
    assert bounds["Theorem 1"][-1] == pytest.approx(found.theorem1.value)
    assert bounds["Theorem 3"][-1] == pytest.approx(found.theorem3.value)
    less = watched(preset(D, **COVERED), horizon=20)[1]
    assert bounds["Theorem 1"][19] == pytest.approx(less.theorem1.value)
    assert bounds["Theorem 3"][19] == pytest.approx(less.theorem3.value)
    assert so_far(diagnose(UNIT, Uniform(D), 5, seed=0)) == {}


def rising(progress):
    """A rate that rises, and is a function."""
    return 0.1 + 0.001 * progress.rounds


@pytest.mark.filterwarnings("ignore:rate '.*' without the theorem")
@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"eta": 1.0}, "eta must be 0.25, it is 1"),
        ({"posterior": "broad"}, "the posterior must have the prior 'subset', it is 'broad'"),
        ({"radius": None}, "radius must be given to the policy"),
        ({"sparsity": None, "noise": None}, "sparsity, noise must be given to the policy"),
        ({"radius": 0.5}, "the radius given must be at least the true 0.9, it is 0.5"),
        ({"noise": 0.95}, "the noise given must be at least the true 1, it is 0.95"),
        ({"radius": 3.0}, "the noise given must be at least 3, the radius times the largest entr"),
        ({"discount": 0.9}, "all rewards must count the same, the discount is 0.9"),
        ({"budget_ms": 1e9}, "the particles must be those of all rewards, with budget_ms the"),
    ],
)
def test_what_a_policy_lacks_is_said_for_both_theorems(settings, missing):
    found = watched(SOIDS(D, **SETTINGS | settings), horizon=12)[1]
    for unmet in (found.unmet1, found.unmet3):
        assert any(reason.startswith(missing) for reason in unmet)


@pytest.mark.filterwarnings("ignore:rate '.*' without the theorem")
@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"rate": 0.7}, "the learning rates must be at most 1/2, the largest is 0.7"),
        ({"rate": rising}, "the learning rates must never rise, one does in round 2"),
        ({"rate": rising}, "the learning rates must not depend on rewards, a function's may"),
        ({"sparsity": None, "rate": "cautious"}, "the learning rates must not depend on rewards, "),
        ({"rate": "theorem3", "gain": "shannon"}, "the 2-ratio must have a bound, that of gain='"),
    ],
)
def test_what_theorem_1_asks_of_the_rates(settings, missing):
    found = watched(SOIDS(D, **SETTINGS | settings), horizon=12)[1]
    assert any(reason.startswith(missing) for reason in found.unmet1)
    assert not any(reason.startswith(missing) for reason in found.unmet3)


@pytest.mark.parametrize("rate", ["experiment", "balanced", "cautious", 0.2])
def test_theorem_1_covers_other_rates_than_the_theorems(rate):
    found = watched(SOIDS(D, **SETTINGS | {"rate": rate}), horizon=12)[1]
    assert found.unmet1 == []
    assert found.unmet3 == [f"the rate must be 'theorem3' or 'theorem3_rich', it is {rate!r}"]


def test_theorem_3_asks_for_its_rate_few_features_and_sparse_optimal_actions():
    dense = paper_instance(20, seed=0)
    found = watched(SOIDS.theorem3(20, 2, radius=10.0, noise=1.0), dense, horizon=12)[1]
    assert found.unmet1 == []
    assert found.unmet3 == ["optimal actions must be sparse, Definition 1 fails for these actions"]
    rich = SOIDS(
        20,
        sparsity=2,
        radius=10.0,
        noise=10.0,
        rate="theorem3_rich",
        eta=0.25,
        action_bound=1.0,
        intercept=False,
    )
    assert watched(rich, dense, horizon=12)[1].unmet3 == []
    many = watched(SOIDS.theorem2(20, 15, radius=10.0, noise=1.0), dense, horizon=12)[1]
    assert many.theorem3 is None
    assert "the sparsity must be at most d / 2, it is 15 of 20" in many.unmet3
    half = watched(SOIDS.theorem3(2, 1, 1.0, 1.0), SparseLinearBandit(np.eye(2), [0.5, 0.0], 1.0))
    assert half[1].unmet3 == []  # at a rate of one half, but with gaps of at most one
    wide = SparseLinearBandit(np.vstack([np.eye(2), -np.eye(2)]), [0.5, 0.0], 1.0)
    (reason,) = watched(SOIDS.theorem3(2, 1, 1.0, 1.0), wide)[1].unmet3
    assert reason.startswith("2 rate gap must be at most 1.2564 from round 2 on, it reaches")


def test_worlds_outside_of_the_theorems_are_named():
    heavy = SparseLinearBandit(SIGNED, UNIT.theta, 1.0, degrees=5.0)
    assert "the noise must be sub-Gaussian, it is Student's t of 5 degrees" in (
        watched(SOIDS.theorem2(D, **COVERED), heavy)[1].unmet1
    )
    late = watched(SOIDS.theorem2(D, **COVERED), feedback=Feedback(batch=5))[1]
    assert late.unmet1 == ["each reward must come before the next choice, some come later"]


def test_without_optimism_there_is_no_bound():
    found = watched(SparseIDS(D, **COVERED))[1]
    assert found.theorem1 is found.theorem1_true is found.theorem3 is None
    assert "the learning rates must be positive, here the posterior is not opt" in str(found.unmet1)
    assert "the policy must be SOIDS or FGTS, it is SparseIDS" in found.unmet3
    assert watched(Uniform(D))[1] is None


def test_a_posterior_given_as_an_object_is_read_for_its_settings():
    model = Subset(D, **COVERED)
    assert watched(SOIDS(D, posterior=model, eta=0.25, rate=0.1))[1].unmet1 == []


@pytest.mark.parametrize("bandit", [UNIT, paper_instance(20, seed=0)], ids=["sparse", "dense"])
@pytest.mark.parametrize("rate", ["experiment", "theorem3"])
@pytest.mark.parametrize("wrong", [{}, {"radius": 0.5}, {"sparsity": 1}, {"noise": 0.1}], ids=str)
@pytest.mark.filterwarnings("ignore:rate '.*' without the theorem")
def test_the_call_that_is_named_is_covered(bandit, rate, wrong):
    truth = {name: bandit.truth[name] for name in ("sparsity", "radius", "noise")}
    given = SOIDS(bandit.dimension, rate=rate, **truth | wrong)
    call = watched(given, bandit, horizon=3)[1].call
    found = watched(eval(call, {"SOIDS": SOIDS}), bandit, horizon=3)[1]
    assert found.unmet1 == []
    assert (found.unmet3 == []) == (rate == "theorem3")


def test_what_is_given_too_small_is_replaced_by_the_truth():
    bandit = paper_instance(20, seed=0)  # norm 10, sparsity 2
    small = watched(SOIDS(20, sparsity=1, radius=5.0, noise=1.0), bandit, horizon=3)[1]
    assert small.trivial == watched(SOIDS(20), bandit, horizon=3)[1].trivial
    assert 3 * bandit.means.max() < small.trivial
    assert "the sparsity given must be at least the true 2, it is 1" in small.unmet1
    assert "the radius given must be at least the true 10, it is 5" in small.unmet1
    assert "sparsity=2, radius=10, noise=10" in small.call
    large = watched(SOIDS(20, sparsity=3, radius=20.0, noise=1.0), bandit, horizon=3)[1]
    assert "sparsity=3, radius=20, noise=20" in large.call


@pytest.mark.filterwarnings("ignore:rate '.*' without the theorem")
def test_no_call_is_named_where_none_is_covered():
    heavy = SparseLinearBandit(SIGNED, UNIT.theta, 1.0, degrees=5.0)
    assert watched(SOIDS(D, **COVERED), heavy, horizon=3)[1].call is None
    late = watched(SOIDS(D, **COVERED), horizon=3, feedback=Feedback(batch=2))[1]
    assert late.call is None
    many = SOIDS(D, **COVERED | {"sparsity": 5}, rate="theorem3_rich", eta=0.5, posterior="broad")
    found = watched(many, horizon=3)[1]
    assert found.call.startswith("SOIDS.theorem2(8, 5, ")  # half of the features may matter
    assert watched(eval(found.call, {"SOIDS": SOIDS}), horizon=3)[1].unmet1 == []
