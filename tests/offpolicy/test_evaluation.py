"""Off-policy evaluation: estimates, overlap, and refusals of unreliable intervals."""

import math

import numpy as np
import pytest

from soids.logs import Entry, FrameLog, LogError, rewarded
from soids.offpolicy import (
    NAMED,
    Candidate,
    evaluate,
    ips,
    overlap,
    snips,
)
from soids.offpolicy.models import BLOCK, fit_model
from some_logs import Listed, made_log

# Overlap


def test_the_effective_size_is_that_of_equal_weights():
    assert overlap(np.ones(50)).effective == pytest.approx(50.0)
    assert overlap(np.array([1.0, 1.0, 0.0, 0.0])).effective == pytest.approx(2.0)
    assert overlap(np.zeros(4)).effective == 0.0


def test_weights_of_a_million_are_handled_and_flagged():
    weights = np.append(np.ones(9999), 1e6)
    seen = overlap(weights)
    assert seen.largest == 1e6
    assert seen.largest_at == 9999
    assert seen.effective == pytest.approx((1e6 + 9999) ** 2 / (1e12 + 9999), rel=1e-12)
    assert any("below 100" in doubt for doubt in seen.doubts())
    assert any("1e+06" in remark for remark in seen.remarks())
    rewards = np.append(np.zeros(9999), 1.0)
    for estimate in (ips(weights, rewards), snips(weights, rewards)):
        assert math.isfinite(estimate.value)
        assert math.isfinite(estimate.error)
        assert estimate.low is None


def test_weights_at_the_largest_that_a_log_may_hold_do_not_overflow():
    seen = overlap(np.full(1000, 1e12))
    assert seen.effective == pytest.approx(1000.0)
    assert math.isfinite(ips(np.full(1000, 1e12), np.arange(1000.0)).high)


def test_mass_on_actions_of_probability_zero_is_detected():
    log = made_log(probabilities=[0.5, 0.5, 0.0, 0.0, 0.0])
    report = evaluate(log, [NAMED["uniform"]]).reports[0]
    assert report.overlap.unseen == pytest.approx(0.6)
    assert report.overlap.unseen_rounds == 1.0
    assert not report.reliable
    assert any("never tried" in doubt for doubt in report.doubts)
    assert all(estimate.low is None for estimate in report.estimates)


@pytest.mark.parametrize("target", [np.array([0.9, 0.1]), 0.9])
def test_a_propensity_of_one_says_that_nothing_else_was_tried(target):
    """Also if other rounds of the log say nothing of what was not chosen."""
    log = Listed([
        Entry(str(i), 2, 0, 1.0 if i % 2 else 0.5, float(i % 3), line=i + 2) for i in range(1000)
    ])  # fmt: skip
    report = evaluate(log, [Candidate("else", lambda rounds: lambda entry: target)]).reports[0]
    assert report.overlap.unseen == pytest.approx(0.05)
    assert report.overlap.unseen_rounds == 0.5
    assert not report.reliable
    logged = evaluate(log, [NAMED["logged"]]).reports[0]
    assert logged.overlap.unseen is None
    assert logged.reliable


def test_a_small_mass_on_untried_actions_prevents_an_interval():
    """Half of the true value comes from rewards of 1 on an action that the log never tries."""
    law, target = np.array([0.5, 0.5, 0.0]), np.array([0.495, 0.495, 0.01])
    rng = np.random.default_rng(0)
    log = Listed([
        Entry(str(i), 3, int(k), 0.5, float(rng.random() < 0.01), law, line=i + 2)
        for i, k in enumerate(rng.choice(2, 5000))
    ])  # fmt: skip
    report = evaluate(log, [Candidate("rare", lambda rounds: lambda entry: target)]).reports[0]
    assert not report.reliable
    assert (
        "1% of its probability is on actions that the log never tried, in 100% of the rounds"
        in report.doubts[0]
    )
    rounded = np.array([0.5 - 1e-6, 0.5 - 1e-6, 2e-6])
    again = evaluate(log, [Candidate("none", lambda rounds: lambda entry: rounded)]).reports[0]
    assert again.reliable


def test_wrong_propensities_show_in_the_mean_weight():
    log = Listed([entry._replace(propensity=0.5, probabilities=None) for entry in made_log()])
    report = evaluate(log, [NAMED["uniform"]]).reports[0]
    assert report.overlap.mean_weight == pytest.approx(0.4)
    assert any("and not 1" in doubt for doubt in report.doubts)


def test_below_the_floor_there_is_no_interval_and_a_lower_one_gives_it():
    log = made_log(90)
    strict = evaluate(log, [NAMED["uniform"]])
    assert not strict.reliable
    assert all(estimate.low is None for estimate in strict.reports[0].estimates)
    assert evaluate(log, [NAMED["uniform"]], floor=50).reliable


# Evaluation


def test_the_logging_policy_earned_what_it_earned():
    log = made_log(probabilities=[0.4, 0.3, 0.1, 0.1, 0.1])
    found = evaluate(log, [NAMED["logged"]])
    weighted, normalised, model, robust = found.reports[0].estimates
    for estimate in (weighted, normalised):  # by algebra, if the chain is whole
        assert estimate.value == pytest.approx(found.mean_reward, rel=1e-12)
    truth = float(np.array([0.4, 0.3, 0.1, 0.1, 0.1]) @ [1.0, 0.5, 0.0, -0.5, 0.2])
    for estimate in (model, robust):  # from the whole distributions
        assert abs(estimate.value - truth) < 4 * robust.error
    assert found.reports[0].overlap.effective == pytest.approx(600)
    assert found.reliable


def test_all_four_agree_on_a_policy_that_is_easy():
    found = evaluate(made_log(4000, seed=3), [NAMED["uniform"]])
    truth = np.mean([1.0, 0.5, 0.0, -0.5, 0.2])
    for estimate in found.reports[0].estimates:
        assert abs(estimate.value - truth) < 4 * 0.6 / math.sqrt(4000)


def test_doubly_robust_is_less_variable_than_ips():
    log = made_log(2000, seed=1, noise=0.1)
    always = Candidate("first", lambda rounds: lambda entry: np.eye(5)[0])
    weighted, _, model, robust = evaluate(log, [always]).reports[0].estimates
    assert robust.error < 0.3 * weighted.error
    assert robust.low < 1.0 < robust.high
    assert model.value == pytest.approx(1.0, abs=0.05)


def test_no_round_is_predicted_from_its_own_reward():
    log = made_log(50)
    model = fit_model(rewarded(log))
    changed = Listed([
        entry._replace(reward=100.0) if i == 7 else entry for i, entry in enumerate(log)
    ])  # fmt: skip
    again = fit_model(rewarded(changed))
    actions = log.entries[7].features
    assert np.allclose(model.predict(7, actions), again.predict(7, actions), atol=1e-9)
    assert not np.allclose(model.predict(8, actions), again.predict(8, actions))


@pytest.mark.parametrize("rounds", [3, 5 * BLOCK, 5 * BLOCK + 7])
def test_the_model_is_a_ridge_regression_on_the_other_folds(rounds):
    log = made_log(rounds)
    model = fit_model(rewarded(log))
    rows = np.array([[*entry.features[entry.chosen], 1.0] for entry in log])
    rewards = np.array([entry.reward for entry in log])
    for fold in range(5):
        others = np.arange(rounds) % 5 != fold
        gram = rows[others].T @ rows[others] + np.diag([1.0, 1.0, 1.0, 1e-9])
        theta = np.linalg.solve(gram, rows[others].T @ rewards[others])
        promised = log.entries[0].features @ theta[:-1] + theta[-1]
        assert model.predict(fold, log.entries[0].features) == pytest.approx(promised, abs=1e-9)


def test_the_best_constant_is_chosen_on_rounds_that_do_not_count():
    found = evaluate(made_log(2000), [NAMED["best-constant"], NAMED["uniform"]], train=0.25)
    assert (found.trained, found.rounds) == (500, 1500)
    best, uniform = found.reports
    assert best.estimates[1].value == pytest.approx(1.0, abs=0.1)
    assert best.overlap.unused == pytest.approx(0.8, abs=0.05)
    assert uniform.overlap.rounds == 1500


def test_decisions_without_a_reward_are_left_out_and_counted():
    log = made_log(300)
    log.entries += [entry._replace(reward=None) for entry in made_log(20)]
    found = evaluate(log, [NAMED["logged"]])
    assert (found.rounds, found.unrewarded) == (300, 20)
    first = str(found).partition("\n")[0]
    assert first == "Mean reward on 300 rounds of list (20 decisions without a reward are left out)"
    assert "left out" not in str(evaluate(made_log(300), [NAMED["logged"]]))


def test_a_log_without_any_reward_is_refused():
    with pytest.raises(LogError, match="none of 5 decisions has a reward"):
        evaluate(Listed([e._replace(reward=None) for e in made_log(5)]), [NAMED["logged"]])


def test_a_missing_target_is_refused_with_its_line():
    with pytest.raises(LogError, match="list, line 2: target must be there"):
        evaluate(made_log(), [NAMED["target"]])


@pytest.mark.parametrize(
    ("masses", "message"),
    [
        (np.full(5, 0.3), "line 2: the target's probabilities .* must sum to 1, got the sum 1.5"),
        (np.array([1.5, -0.5, 0, 0, 0]), "the least -0.5"),
        (np.array([1.0, np.nan, 0, 0, 0]), "must sum to 1, got the sum nan"),
        (np.full(4, 0.25), "the target must have 5 probabilities"),
    ],
)
def test_a_target_must_be_a_distribution(masses, message):
    with pytest.raises(LogError, match=message):
        evaluate(made_log(), [Candidate("odd", lambda rounds: lambda entry: masses)])


@pytest.mark.parametrize("log", ["decisions.jsonl", 3, [1, 2]])
def test_what_is_no_log_is_refused_with_a_remedy(log):
    with pytest.raises(ValueError, match=r"log must be a log, such as read_log\(path\)"):
        evaluate(log, [NAMED["uniform"]])


def test_a_log_that_grows_is_read_as_far_as_it_went():
    class Growing(Listed):
        def __iter__(self):
            yield from list(self.entries)
            self.entries.append(self.entries[-1]._replace(reward=1e6))

    found = evaluate(Growing(made_log(200).entries), [NAMED["uniform"]])
    assert found.rounds == found.reports[0].overlap.rounds == 200
    assert abs(found.reports[0].estimates[3].value) < 10.0


def test_a_frame_is_evaluated_in_one_call():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    chosen = rng.integers(2, size=1000)
    frame = pandas.DataFrame(
        {"arm": chosen, "p": 0.5, "click": chosen * 1.0, "new": np.where(chosen == 1, 0.9, 0.1)}
    )
    log = FrameLog(frame, reward="click", propensity="p", chosen="arm", target="new")
    report = evaluate(log, [NAMED["target"]]).reports[0]
    assert report.estimates[1].value == pytest.approx(0.9, abs=0.02)
    assert abs(report.estimates[0].value - 0.9) < 4 * report.estimates[0].error
    assert report.reliable


def test_a_frame_alone_is_refused_with_an_example_and_its_columns():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"click": [0, 1], "p": [0.5] * 2})
    for arguments in ((frame,), (frame, [NAMED["uniform"]])):
        with pytest.raises(ValueError, match=r"log = FrameLog\(frame, .*columns are click, p"):
            evaluate(*arguments)
    with pytest.raises(ValueError, match=r"evaluate\(log, \[NAMED\['logged'\].*got \(\)"):
        evaluate(FrameLog(frame, reward="click", propensity="p"))


@pytest.mark.parametrize("candidates", [[], ["uniform"]])
def test_only_candidates_are_evaluated(candidates):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"reward": [0, 1], "propensity": [0.5] * 2})
    with pytest.raises(ValueError, match=r"^candidates must be a list of at least one Candidate"):
        evaluate(FrameLog(frame), candidates)


@pytest.mark.parametrize("answer", [1, np.int64(1), True, 1.5, [0.5, 0.5], None])
def test_a_target_that_returns_no_probabilities_is_refused(answer):
    with pytest.raises(ValueError, match=r"line .*the target must return probabilities, .* got "):
        evaluate(made_log(), [Candidate("Z", lambda rounds: lambda entry: answer)])


def test_two_candidates_of_one_label_are_refused():
    with pytest.raises(ValueError, match="labels of candidates must differ, got 'uniform' twice"):
        evaluate(made_log(), [NAMED["uniform"], NAMED["uniform"]])
