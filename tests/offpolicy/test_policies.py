"""Policies evaluated on logs: ours after learning, ours while learning, and on real logs."""

import functools
import math

import numpy as np
import pandas
import pytest

import members
from soids import POLICIES, LinTS, LinUCB, Uniform
from soids.information import Spread, greedy
from soids.logs import FrameLog, JsonLog, LogWriter, rewarded
from soids.offpolicy import NAMED, evaluate, learned, replay
from soids.offpolicy.targets import Fixed, trained
from soids.policies.policy import Plan, Policy
from soids.policies.uniform import UniformRule
from some_logs import Listed, made_log

TEACHABLE = [
    name for name in POLICIES if members.make(name, None, 3, noise=0.3).rule.learns_from_others
]


def taught(name, log):
    """A policy that has learned from all rounds of a log."""
    given = {"noise": 0.3}
    if name == "dr_lasso_bandit":  # under its authors' penalty chance explains nothing
        given["penalty"] = 0.5
    return trained(rewarded(log), lambda d: members.make(name, None, d, **given))


def counted_choices(monkeypatch):
    """How often any policy of ours is asked to choose, as a list that grows."""
    calls, choose = [], Policy.choose

    def counted(policy, *arguments, **settings):
        calls.append(policy)
        return choose(policy, *arguments, **settings)

    monkeypatch.setattr(Policy, "choose", counted)
    return calls


# Policies of ours


def test_a_policy_that_has_learned_earns_more_than_the_log():
    log = made_log(2000)
    mind = np.random.default_rng(0)
    found = evaluate(log, [learned("lints", LinTS, mind), NAMED["logged"]])
    own, before = found.reports
    assert own.estimates[3].low > before.estimates[1].high


@pytest.mark.parametrize("name", TEACHABLE)
def test_the_law_of_a_policy_is_exact(name):
    """As many choices as the law says, of those that evenly spaced numbers draw."""
    log, count = made_log(60), 400
    policy = taught(name, log)
    policy.refresh(np.random.default_rng(0))
    actions = log.entries[0].features
    masses = Fixed(policy)(log.entries[0])
    assert masses.tolist() == policy.law(actions).tolist()
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    before, seen = policy.state, np.zeros(5)
    for uniform in (np.arange(count) + 0.5) / count:
        policy.state = before
        decision = policy.decide(actions, float(uniform))
        assert decision.probability == pytest.approx(masses[decision.index], abs=1e-12)
        assert decision.probabilities == pytest.approx(masses, abs=1e-12)
        seen[decision.index] += 1.0
    assert np.abs(seen - count * masses).max() <= 2.0


@pytest.mark.parametrize("name", TEACHABLE)
def test_choices_are_drawn_from_the_law(name):
    log = made_log(60)
    policy = taught(name, log)
    policy.refresh(np.random.default_rng(0))
    actions, before = log.entries[0].features, policy.state
    masses = Fixed(policy)(log.entries[0])
    for seed in range(20):
        policy.state = before
        decision = policy.choose(actions, np.random.default_rng(seed))
        assert decision.probabilities == pytest.approx(masses, abs=1e-12)


@pytest.mark.parametrize("is_refreshed", [True, False], ids=["refreshed", "with news"])
@pytest.mark.parametrize("name", TEACHABLE)
def test_asking_for_the_law_changes_nothing(name, is_refreshed):
    log = made_log(30, noise=1.0)
    policy = taught(name, log)
    if is_refreshed:
        policy.refresh(np.random.default_rng(0))
    before = policy.state
    laws = [Fixed(policy)(log.entries[0]) for _ in range(2)]
    assert policy.state is before
    assert np.array_equal(*laws)
    assert policy.state.past.decisions == 30
    assert not policy.pending


@pytest.mark.parametrize("name", TEACHABLE)
def test_a_policy_is_evaluated_without_a_single_choice(name, monkeypatch):
    calls, rng = counted_choices(monkeypatch), np.random.default_rng(0)
    make = functools.partial(members.make, name, None, noise=0.3)
    evaluate(made_log(150), [learned(name, make, rng)])
    assert calls == []


def test_a_law_is_found_once_for_each_action_set(monkeypatch):
    log, asked, law = made_log(300), [], Policy.law

    def counted(policy, actions):
        asked.append(actions)
        return law(policy, actions)

    monkeypatch.setattr(Policy, "law", counted)
    fixed = Fixed(taught("lints", log))
    laws = [fixed(entry) for entry in log]
    assert len(asked) == 1
    assert all(masses is laws[0] for masses in laws)


def test_a_set_that_each_line_repeats_has_one_law(tmp_path, monkeypatch):
    log, asked, law = made_log(60), [], Policy.law
    with LogWriter(tmp_path / "log.jsonl") as writer:
        for entry in log:
            writer.decide(
                entry.id, actions=entry.actions, chosen=entry.chosen, propensity=entry.propensity,
                reward=entry.reward,
            )  # fmt: skip

    def counted(policy, actions):
        asked.append(actions)
        return law(policy, actions)

    monkeypatch.setattr(Policy, "law", counted)
    ours = learned("lints", LinTS, np.random.default_rng(0))
    evaluate(JsonLog(tmp_path / "log.jsonl"), [ours])
    assert len(asked) == 1


@pytest.mark.parametrize("name", ["dr_lasso_bandit", "mcp_bandit"])
def test_a_law_that_changes_with_the_round_is_that_of_the_next(name):
    log = made_log(300)
    policy = trained(rewarded(log), POLICIES[name])
    actions = log.entries[0].features
    menu, mind = policy.state.past.find(actions), policy.mind
    if name == "mcp_bandit":
        share, preferred = 5 / 301, policy.rule._preferred(mind, menu)
    else:
        share = math.sqrt((math.log(301) + math.log(3)) / 301)
        preferred = greedy(actions @ mind.theta).masses
    expected = share / 5 + (1.0 - share) * preferred
    assert Fixed(policy)(log.entries[0]) == pytest.approx(expected, abs=1e-12)


def test_what_was_only_asked_for_does_not_count_as_played(monkeypatch):
    """The rates of Theorem 3 go by sums of the ratios of what was played: of nothing, here."""
    sums = []

    def rate(progress):
        sums.append((progress.ratios, progress.root_ratios))
        return 0.1

    log = made_log(60)
    policy = trained(rewarded(log), lambda d: POLICIES["soids"](d, rate=rate, noise=0.3))
    mixtures, mixture = [], policy.rule._mixture

    def kept(outlook):
        mixtures.append(mixture(outlook))
        return mixtures[-1]

    monkeypatch.setattr(type(policy.rule), "_mixture", staticmethod(kept))
    masses = [Fixed(policy)(log.entries[0]) for _ in range(3)]
    assert len(mixtures) == 3
    assert set(sums) == {(0.0, 0.0)}
    for law, one in zip(mixtures, masses, strict=True):
        assert one == pytest.approx([law.probability(k) for k in range(5)], abs=1e-12)
    assert policy.state.mind.ratios == 0.0
    assert policy.state.past.decisions == 60


def test_a_rule_of_ones_own_is_taught_and_asked_like_ours():
    class AlwaysThird(UniformRule):
        def law(self, mind, past, menu):
            return Plan(Spread(np.eye(len(menu.actions))[2]))

    log = made_log(60)
    policy = trained(rewarded(log), lambda d: Policy(AlwaysThird(d)))
    assert policy.evidence.rounds == 60
    assert Fixed(policy)(log.entries[0])[2] == 1.0


def test_a_policy_with_a_plan_of_its_own_is_not_taught():
    def make(dimension):
        return POLICIES["estc"](dimension, exploration=10)

    with pytest.raises(ValueError, match="ESTC cannot learn from choices that it did not make"):
        evaluate(made_log(), [learned("estc", make, np.random.default_rng(0))])
    lasso = learned("lasso", POLICIES["lasso_bandit"], np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"LassoBandit cannot learn .* by a plan of its own"):
        evaluate(made_log(), [lasso])


def test_a_policy_of_others_is_not_taught():
    class First:
        def __init__(self, dimension):
            pass

    with pytest.raises(ValueError, match=r"First cannot learn .* not a policy of soids"):
        evaluate(made_log(), [learned("first", First, np.random.default_rng(0))])


# Replay by rejection


def test_replay_of_a_fixed_policy_is_unbiased_on_uneven_logs():
    law = [0.4, 0.3, 0.1, 0.1, 0.1]
    log = made_log(20_000, seed=5, probabilities=law)
    found = replay(log, "uniform", Uniform, np.random.default_rng(0))
    assert found.smallest == 0.1
    share = 0.1  # 5 actions, each agreed upon with 1/5 p and kept with 0.1 / p
    assert abs(found.accepted - 20_000 * share) < 4 * math.sqrt(20_000 * share * (1 - share))
    truth = np.mean([1.0, 0.5, 0.0, -0.5, 0.2])
    assert abs(found.estimate.value - truth) < 4 * found.estimate.error


def test_replay_teaches_only_what_was_accepted():
    log = made_log(800)
    policies = []

    def make(dimension):
        policies.append(LinTS(dimension))
        return policies[-1]

    found = replay(log, "lints", make, np.random.default_rng(0))
    past = policies[0].state.past
    assert past.evidence.rounds == past.decisions == found.accepted
    assert not policies[0].pending
    assert found.estimate.value > 0.7
    assert found.reliable


def test_replay_takes_a_policy_of_others():
    class First:
        heard = 0

        def choose(self, actions, rng):
            return 0

        def observe(self, decision, reward):
            self.heard += 1

    policy = First()
    found = replay(made_log(1000), "first", lambda dimension: policy, np.random.default_rng(0))
    assert policy.heard == found.accepted
    assert found.estimate.value == pytest.approx(1.0, abs=0.1)


def test_replay_with_few_agreements_gives_no_interval():
    found = replay(made_log(200), "uniform", Uniform, np.random.default_rng(0))
    assert found.accepted < 100
    assert not found.reliable
    assert "accepted" in found.estimate.doubt


def test_replay_of_what_the_log_never_does_gives_no_interval():
    """Three fifths of what it wants are never accepted, as if it did not want it."""
    log = made_log(3000, probabilities=[0.5, 0.5, 0.0, 0.0, 0.0])
    found = replay(log, "uniform", Uniform, np.random.default_rng(0))
    assert found.accepted > 100
    assert found.unseen == pytest.approx(1800, abs=4 * math.sqrt(3000 * 0.24))
    assert not found.reliable
    assert "on actions that the log never tried" in found.estimate.doubt
    assert found.remarks == ()


def test_replay_without_whole_distributions_says_that_support_is_unchecked():
    log = Listed([entry._replace(probabilities=None) for entry in made_log(1000)])
    found = replay(log, "uniform", Uniform, np.random.default_rng(0))
    assert found.unseen is None
    assert found.reliable
    assert "unchecked" in found.remarks[0]
    uneven = made_log(3000, probabilities=[0.5, 0.5, 0.0, 0.0, 0.0])
    hidden = Listed([entry._replace(probabilities=None) for entry in uneven])
    found = replay(hidden, "uniform", Uniform, np.random.default_rng(0))
    assert not found.reliable
    assert "and not 1" in found.estimate.doubt


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_can_be_replayed(name):
    log = made_log(150)
    policies = []

    def make(dimension):
        policies.append(members.make(name, None, dimension, noise=0.3))
        return policies[-1]

    found = replay(log, name, make, np.random.default_rng(0))
    assert 0 < found.accepted < 150
    assert policies[0].state.past.decisions == found.accepted


@pytest.mark.parametrize("name", TEACHABLE)
def test_a_policy_chooses_once_for_each_round_of_the_log(name, monkeypatch):
    calls, rng = counted_choices(monkeypatch), np.random.default_rng(0)
    found = replay(made_log(80), name, functools.partial(members.make, name, None, noise=0.3), rng)
    assert len(calls) == found.rounds == 80


def changing(rounds):
    """A log whose actions are others in every round."""
    rng = np.random.default_rng(3)
    return Listed([
        entry._replace(actions=entry.actions + 0.1 * rng.standard_normal(entry.actions.shape))
        for entry in made_log(rounds)
    ])  # fmt: skip


@pytest.mark.parametrize("make_log", [made_log, changing])
@pytest.mark.parametrize("name", ["soids", "thompson", "lints", "vb_thompson", "greedy"])
def test_a_policy_thinks_only_of_what_is_new(name, make_log, monkeypatch):
    """Once after each reward that counts, not of rounds that do not; before the first of them it
    has no action set to think about, so each choice begins with the prior.
    """
    thoughts = []

    def make(dimension):
        policy = members.make(name, None, dimension, noise=0.3)
        think = policy.rule.think

        def watched(mind, past, menu, rng):
            found = think(mind, past, menu, rng)
            if getattr(found, "belief", found) is not getattr(mind, "belief", mind):
                thoughts.append(past.evidence.rounds)
            return found

        monkeypatch.setattr(type(policy.rule), "think", staticmethod(watched))
        return policy

    found = replay(make_log(150), name, make, np.random.default_rng(0))
    assert 0 < found.accepted < 150
    learned = [rounds for rounds in thoughts if rounds > 0]
    assert learned == list(range(1, found.accepted + 1))[: len(learned)]
    assert len(learned) >= found.accepted - 1  # the last reward may come in the last round
    assert len(thoughts) < len(learned) + 20


# The rates of Theorem 3 fall with what was played, and these policies have played nothing.
@pytest.mark.filterwarnings("ignore:every coefficient is zero:RuntimeWarning")
@pytest.mark.parametrize("name", [one for one in TEACHABLE if not one.endswith("theorem3")])
def test_every_policy_without_a_plan_can_be_taught_what_pays(name):
    log = made_log(200)
    masses = Fixed(taught(name, log))(log.entries[0])
    if name in ("uniform", "dr_lasso_bandit"):  # the mean of the actions never changes
        assert np.allclose(masses, 0.2)
    elif name == "oracle_thompson":  # it was told another feature
        assert masses[0] < 0.1
    else:
        assert masses[0] > 0.8


# Real logs


def test_the_policy_that_was_valued_can_be_had_and_goes_on():
    frame = pandas.DataFrame({"arm": [0, 1, 2] * 40, "propensity": 1 / 3, "reward": [0, 1, 0] * 40})
    log = FrameLog(frame, chosen="arm", actions=3)
    candidate = learned("LinUCB", functools.partial(LinUCB, norm=1.0), np.random.default_rng(0))
    assert candidate.policy is None
    assert NAMED["uniform"].policy is None
    evaluate(log, [candidate], train=0.5)
    policy = candidate.policy
    assert policy.evidence.rounds == 60
    policy.learn_from(entry for entry in list(log)[60:])
    assert policy.evidence.rounds == 120
    assert policy.choose(np.eye(3), np.random.default_rng(0)).index == 1
