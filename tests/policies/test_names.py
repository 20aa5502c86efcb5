"""Actions and features have names: in choices, in what is expected of them, and in reasons."""

import inspect

import numpy as np
import pandas
import polars
import pytest

from members import COVERED, members, name_of
from soids import SOIDS, LinUCB, SALassoBandit, Thompson, Uniform, load, save
from soids.logs import FrameLog, JsonLog, LogWriter, ParquetLog, write_parquet
from soids.policies.explanation import Feature, against
from soids.policies.lasso_per_arm import MCPBandit
from soids.policies.policy import Policy

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

BY_PLACE = ("lasso_bandit", "mcp_bandit")  # they know actions by their place in the list
every_policy = pytest.mark.parametrize("family", members())
every_policy_of_changing_sets = pytest.mark.parametrize(
    "family", members(*COVERED, *BY_PLACE, "popart_elimination")
)

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (6, 4))
NAMES = ["zdv", "ddI", "zal", "low", "mid", "high"]
FEATURES = ["age", "weight", "dose", "cd4"]
FRAME = pandas.DataFrame(ACTIONS, index=NAMES, columns=FEATURES)
NOTHING_TO_PREDICT = ("uniform",)


def taught(policy, rounds=12, level=0.0):
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, level + 2.0 * decision.action[1] + 0.1 * rng.standard_normal())
    return policy


@every_policy
def test_names_change_nothing_but_what_an_action_is_called(family):
    plain, named = taught(family(4, particles=20)), taught(family(4, particles=20))
    one = plain.choose(ACTIONS, np.random.default_rng(2))
    other = named.choose(ACTIONS, np.random.default_rng(2), names=NAMES)
    assert (one.name, other.name) == (None, NAMES[other.index])
    assert one.index == other.index
    assert np.array_equal(one.probabilities, other.probabilities)
    assert named.pending[-1].name == other.name
    assert np.array_equal(named.law(ACTIONS, names=NAMES), plain.law(ACTIONS))
    decided = named.decide(ACTIONS, 0.3, names=NAMES)
    assert decided.name == NAMES[decided.index]


@every_policy
def test_a_policy_predicts_and_lists_coefficients_or_says_that_it_cannot(family):
    policy = taught(family(4, particles=20), rounds=45)
    state = policy.state
    name = policy.rule.name
    if name_of(family) in NOTHING_TO_PREDICT:
        for ask in (lambda: policy.predict(ACTIONS), policy.coefficients):
            with pytest.raises(ValueError, match=f"{name} estimates no coefficients: SOIDS"):
                ask()
        return
    predicted = policy.predict(ACTIONS, names=NAMES)
    assert predicted.mean.shape == predicted.sd.shape == (6,)
    assert np.isfinite(predicted.mean).all()
    assert not (predicted.sd < 0.0).any()
    assert predicted.names == tuple(NAMES)
    assert [line.split()[0] for line in str(predicted).splitlines()[1:]] == NAMES
    assert policy.state is state
    if name_of(family) in BY_PLACE:  # an action's features are all rows
        with pytest.raises(ValueError, match=f"{name} estimates coefficients of all rows"):
            policy.coefficients()
        return
    found = policy.coefficients(FEATURES)
    level = predicted.mean - ACTIONS @ found.mean
    assert np.allclose(level, level[0] if policy.evidence.centred else 0.0, rtol=1e-9, atol=1e-9)
    assert np.isnan(predicted.sd).all() == np.isnan(found.sd).all()
    assert found.names == tuple(FEATURES)
    for frame in (pandas, polars):
        table = frame.DataFrame(found._asdict())
        assert list(table.columns) == ["names", "mean", "sd", "inclusion"]
        assert len(table) == 4
    with pytest.raises(ValueError, match="one for each of 4 features, got 1"):
        policy.coefficients(["age"])


def test_before_its_exploration_is_over_a_policy_of_two_phases_predicts_nothing():
    (family,) = (one.values[0] for one in members() if one.id == "estc")
    with pytest.raises(ValueError, match=r"ESTC estimates no coefficients .* 3 of 20 rounds"):
        taught(family(4), rounds=3).predict(ACTIONS)


@pytest.mark.parametrize("level", [0.0, 50.0])
@pytest.mark.parametrize("make", [SOIDS, Thompson])
def test_a_prediction_is_the_mean_over_the_particles(make, level):
    policy = taught(make(4, intercept=True), level=level)
    policy.refresh(np.random.default_rng(0))
    evidence, belief = policy.evidence, policy.mind.belief
    thetas, _, weights = belief.particles()
    rewards = thetas @ ACTIONS.T
    if evidence.centred:
        rewards = evidence.level + rewards - (thetas @ evidence.centre)[:, None]
    mean = weights @ rewards
    predicted = policy.predict(ACTIONS)
    assert np.allclose(predicted.mean, mean)
    assert np.allclose(predicted.sd**2, weights @ (rewards - mean) ** 2)
    if level:
        assert evidence.centred
        assert np.abs(predicted.mean - 50.0).max() < 3.0
    assert np.allclose(policy.coefficients().sd ** 2, weights @ (thetas - weights @ thetas) ** 2)
    assert np.array_equal(policy.coefficients().inclusion, policy.inclusion())


def test_a_ridge_regression_predicts_with_the_deviation_of_its_gaussian_posterior():
    policy = taught(LinUCB(4, norm=2.0, noise=0.5, ridge=2.0))
    precision = policy.evidence.gram + 2.0 * np.eye(4)
    covariance = 0.25 * np.linalg.inv(precision)
    mean = np.linalg.solve(precision, policy.evidence.moment)
    predicted, found = policy.predict(ACTIONS), policy.coefficients()
    assert np.allclose(predicted.mean, ACTIONS @ mean)
    assert np.allclose(predicted.sd, np.sqrt(np.diag(ACTIONS @ covariance @ ACTIONS.T)))
    assert np.allclose(found.mean, mean)
    assert np.allclose(found.sd, np.sqrt(np.diag(covariance)))


def test_with_an_intercept_a_ridge_regression_doubts_the_level_too():
    policy = taught(LinUCB(4, norm=2.0, intercept=True), level=50.0)
    evidence = policy.evidence
    middle = policy.predict(evidence.centre[None])
    assert evidence.centred
    assert middle.mean == pytest.approx([evidence.level])
    assert middle.sd == pytest.approx([1.0 / np.sqrt(evidence.rounds)])


def test_arms_with_a_parameter_each_list_the_coefficients_of_all():
    policy, actions = MCPBandit(4, arms=2, penalty=0.001), np.kron(np.eye(2), [[1.0, 0.5]])
    policy.learn(actions, 0, 3.0)
    found, predicted = policy.coefficients(), policy.predict(actions)
    assert found.mean[:2].any()
    assert not found.mean[2:].any()
    assert np.allclose(predicted.mean, actions @ found.mean)


def test_a_printed_table_has_the_features_that_matter_first_and_only_known_columns():
    shown = str(taught(SOIDS(4), rounds=30).coefficients(FEATURES)).splitlines()
    assert shown[0].split() == ["mean", "sd", "inclusion"]
    assert shown[1].startswith("weight ")
    wide = LinUCB(30, norm=1.0).coefficients()
    assert str(wide).splitlines()[0].split() == ["mean", "sd"]
    assert str(wide).endswith("... and 10 more")
    assert str(SALassoBandit(4).coefficients()).splitlines()[0].split() == ["mean"]


@every_policy_of_changing_sets
def test_exclusions_may_be_names(family):
    policy, rng = taught(family(4, particles=20)), np.random.default_rng(0)
    by_name = policy.law(ACTIONS, names=NAMES, excluded=["ddI", "zdv"])
    assert np.array_equal(by_name, policy.law(ACTIONS, excluded=[0, 1]))
    with pytest.raises(ValueError, match=r"excluded must be one of zdv, .*'ddi': did you mean"):
        policy.choose(ACTIONS, rng, names=NAMES, excluded=["ddi"])
    with pytest.raises(ValueError, match="excluded must be a list of indices or names, got 'ddI'"):
        policy.choose(ACTIONS, rng, names=NAMES, excluded="ddI")


def test_a_data_frame_brings_the_names_of_its_rows_and_columns():
    policy, rng = taught(SOIDS(4)), np.random.default_rng(0)
    decision = policy.choose(FRAME, rng)
    assert decision.name == NAMES[decision.index]
    assert "weight (" in str(policy.explain(decision))
    assert str(policy.explain(decision)) == str(policy.explain(decision, FEATURES))
    assert policy.predict(FRAME).names == tuple(NAMES)
    unnamed = policy.choose(FRAME.reset_index(drop=True), rng)
    assert unnamed.name is None
    other = policy.choose(polars.DataFrame(ACTIONS, schema=FEATURES), rng, names=NAMES)
    assert other.name == NAMES[other.index]
    assert "weight (" in str(policy.explain(other))


@pytest.mark.parametrize("begin", ["choose", "decide", "learn", "a file"])
@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_columns_of_other_names_or_in_another_order_than_before_are_refused(begin, frame, tmp_path):
    policy, rng = SOIDS(4), np.random.default_rng(0)
    table = frame(dict(zip(FEATURES, ACTIONS.T, strict=True)))
    policy.choose(ACTIONS, rng)
    assert policy.predict(table[FEATURES[::-1]]).mean.shape == (6,)  # no names are known yet
    if begin == "learn":
        policy.learn(table, 0, 1.0)
    elif begin == "decide":
        policy.decide(table, 0.5)
    else:
        policy.observe(policy.choose(table, rng), 1.0)
    if begin == "a file":
        save(policy, tmp_path / "policy")
        policy = load(tmp_path / "policy")
    for wrong in (table[FEATURES[::-1]], table.rename(**RENAMED[frame])):
        for ask in (
            lambda wrong=wrong: policy.predict(wrong),
            lambda wrong=wrong: policy.choose(wrong, rng),
            lambda wrong=wrong: policy.learn(wrong, [0, 1], [1.0, 0.0]),
        ):
            with pytest.raises(ValueError, match=r"^column 0 of actions must be 'age', .* got '"):
                ask()
    assert policy.coefficients().names == tuple(FEATURES)
    policy.predict(table)
    policy.enlarged(5).predict(np.zeros((2, 5)))


RENAMED = {
    pandas.DataFrame: {"columns": {"age": "years"}},
    polars.DataFrame: {"mapping": {"age": "years"}},
}  # fmt: skip


def test_columns_in_another_order_within_one_call_are_refused():
    policy = SOIDS(4)
    with pytest.raises(ValueError, match=r"column 0 of actions must be 'age', .* got 'cd4'.*row 1"):
        policy.learn([FRAME, FRAME[FEATURES[::-1]]], [0, 1], [1.0, 0.0])
    assert policy.state.past.features is None
    with pytest.raises(ValueError, match="columns of actions must differ, got 'age' twice"):
        policy.predict(FRAME[["age", "age", "dose", "cd4"]])


def test_labels_of_rows_that_are_no_texts_are_names_unless_they_count_the_rows():
    policy, rng = Uniform(4), np.random.default_rng(0)
    products = FRAME.set_axis([501, 502, 507, 513, 520, 533])
    decision = policy.choose(products, rng, excluded=["501"])
    assert decision.name == str(products.index[decision.index])
    assert policy.choose(FRAME.set_axis(range(6)), rng).name is None
    assert policy.choose(FRAME.set_axis([1, 1, 2, 2, 3, 3]), rng).name is None


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["a", "b"], "names must be one for each of 6 actions, got 2"),
        ("abcdef", "names must be a list of names, got 'abcdef'"),
        (5, "names must be a list of names, got 5"),
        (list("abcdea"), "names must differ, got 'a' twice"),
        ([*"abcde", 5], "names must be texts, got 5"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, why):
    policy = Uniform(4)
    for ask in (
        lambda: policy.choose(ACTIONS, np.random.default_rng(0), names=names),
        lambda: policy.decide(ACTIONS, 0.5, names=names),
        lambda: policy.law(ACTIONS, names=names),
    ):
        with pytest.raises(ValueError, match=why):
            ask()
    assert not policy.pending


def test_a_pending_decision_keeps_its_name_in_a_file(tmp_path):
    policy, rng = Uniform(4), np.random.default_rng(0)
    named = policy.choose(ACTIONS, rng, names=NAMES)
    policy.choose(ACTIONS, rng)
    save(policy, tmp_path / "policy")
    assert [one.name for one in load(tmp_path / "policy").pending] == [named.name, None]


def test_the_sentence_names_the_action_and_contrasts_it_with_the_runner_up():
    policy = taught(SOIDS(4, noise=0.1), rounds=30)
    decision = policy.choose(FRAME, np.random.default_rng(0))
    explanation, means = policy.explain(decision), policy.predict(FRAME).mean
    order = np.argsort(-means)
    assert order[0] == decision.index
    assert explanation.runner_up == order[1]
    ahead = means[order[0]] - means[order[1]]
    assert sum(one.contribution for one in explanation.contrast) == pytest.approx(ahead)
    sentence = str(explanation)
    assert sentence.startswith(f"Action {decision.name}, chosen with probability 1.00")
    assert f"chosen rather than action {NAMES[order[1]]}, which is expected to earn " in sentence
    assert f"earn {ahead:.3g} less, because of weight (" in sentence


def test_a_runner_up_that_is_expected_to_earn_more_is_said_to():
    policy = taught(SOIDS(4, noise=0.1), rounds=30)
    worst = int(policy.predict(ACTIONS).mean.argmin())
    decision = policy.choose(ACTIONS, np.random.default_rng(0), floor=np.eye(6)[worst])
    explanation = policy.explain(decision)
    assert decision.index == worst
    assert " more, because of feature 1 (" in str(explanation)
    assert "and has an information gain of " in str(explanation)
    alone = policy.choose(ACTIONS, np.random.default_rng(0), excluded=range(5))
    assert policy.explain(alone).runner_up is None
    assert "rather than" not in str(policy.explain(alone))


def test_the_largest_contribution_to_the_contrary_is_said():
    contrast = (Feature(0, 1.0, 5.9), Feature(1, 1.0, -3.2), Feature(2, 1.0, -0.1))
    assert against(2.6, contrast, FEATURES) == (
        "2.6 less, because of age (5.9), although weight makes it 3.2 more"
    )
    turned = tuple(one._replace(contribution=-one.contribution) for one in contrast)
    assert against(-2.6, turned, FEATURES) == (
        "2.6 more, because of age (5.9), although weight makes it 3.2 less"
    )
    assert against(5.9, contrast[:1], FEATURES) == "5.9 less, because of age (5.9)"


def test_names_of_features_must_differ():
    policy = taught(SOIDS(4))
    with pytest.raises(ValueError, match="names must differ, got 'age' twice"):
        policy.coefficients(["age", "age", "dose", "cd4"])


def test_equal_actions_are_said_to_earn_as_much():
    policy = SOIDS(4)
    decision = policy.choose(np.ones((2, 4)), np.random.default_rng(0))
    assert str(policy.explain(decision)).endswith("which is expected to earn as much.")


def test_logs_keep_the_name_of_the_chosen_action(tmp_path):
    path = tmp_path / "log.jsonl"
    with LogWriter(path) as log:
        log.decide("1", actions=ACTIONS, chosen=1, propensity=0.5, reward=1.0, name="ddI")
        log.decide("2", actions=3, chosen=1, propensity=0.5, reward=1.0)
    assert [entry.name for entry in JsonLog(path)] == ["ddI", ""]
    write_parquet(JsonLog(path), tmp_path / "log.parquet")
    assert [entry.name for entry in ParquetLog(tmp_path / "log.parquet")] == ["ddI", ""]
    frame = pandas.DataFrame({"arm": ["b", "a"], "propensity": [0.5, 0.5], "reward": [0, 1]})
    assert [entry.name for entry in FrameLog(frame, chosen="arm")] == ["b", "a"]


def test_a_misspelled_setting_names_what_was_called_and_the_nearest_setting():
    for family in (SOIDS, LinUCB):
        setting = list(inspect.signature(family).parameters)[3]
        with pytest.raises(TypeError, match=f"^{family!r} has the settings .*mean '{setting}'"):
            family(20, **{setting[:-1]: 2})
    with pytest.raises(TypeError, match=r"^SOIDS.paper has the settings .*mean 'sparsity'"):
        SOIDS.paper(20, sparsty=2)
    assert isinstance(SOIDS(20, sparsity=2), Policy)
