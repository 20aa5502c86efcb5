"""Policies evaluated on logs: ours after learning, ours while learning, and on real logs."""

import math

import numpy as np
import pytest

import members
from realdata import DATA
from soids import POLICIES, LinTS, Uniform
from soids.logs import OpenBanditLog, rewarded
from soids.offpolicy import NAMED, Candidate, evaluate, learned, replay
from soids.offpolicy.targets import SCHEDULED, Fixed, instructed
from some_logs import Listed, made_log

OBD = DATA / "obd"
needs_obd = pytest.mark.skipif(not OBD.is_dir(), reason=f"there is no {OBD}: name it by SOIDS_DATA")
CAMPAIGNS = [
    (policy, campaign) for policy in ("random", "bts") for campaign in ("all", "men", "women")
]


# Policies of ours


def test_a_policy_that_has_learned_earns_more_than_the_log():
    log = made_log(2000)
    mind = np.random.default_rng(0)
    found = evaluate(log, [learned("lints", LinTS, mind), NAMED["logged"]])
    own, before = found.reports
    assert own.estimates[3].low > before.estimates[1].high


def test_the_law_of_a_policy_is_exact_when_its_draws_say_all():
    log = made_log(300)
    mind = np.random.default_rng(0)
    fixed = Fixed(instructed(rewarded(log), Uniform, mind), mind, 1000)
    assert np.allclose(fixed(log.entries[0]), 0.2)
    assert not fixed.estimated
    few = Fixed(instructed(rewarded(log), Uniform, mind), mind, 3)
    assert few(log.entries[0]).sum() == pytest.approx(1.0)
    assert few.estimated


@pytest.mark.parametrize("name", ["soids", "thompson", "sparse_ids", "lints", "greedy"])
@pytest.mark.parametrize("draws", [2, 50])
def test_asking_for_the_law_changes_nothing(name, draws):
    log = made_log(30, noise=1.0)
    mind = np.random.default_rng(0)
    told = {"noise": 1.0} | ({"sparsity": 1} if name in ("soids", "thompson") else {})
    policy = instructed(rewarded(log), lambda d: POLICIES[name](d, **told), mind)
    fixed = Fixed(policy, mind, draws)
    fixed(log.entries[0])  # the belief is formed
    laws = []
    for _ in range(2):
        fixed.known.clear()
        fixed.rng = np.random.default_rng(1)
        before = policy.memory
        laws.append(fixed(log.entries[0]))
        assert policy.memory == before
    assert np.array_equal(*laws)
    assert policy.ledger.decisions == 30
    assert not policy.ledger.pending


@pytest.mark.parametrize("name", ["dr_lasso_bandit", "mcp_bandit"])
def test_a_law_that_changes_with_the_round_is_that_of_the_next(name):
    log = made_log(300)
    mind = np.random.default_rng(0)
    policy = instructed(rewarded(log), POLICIES[name], mind)
    actions = log.entries[0].features
    fixed = Fixed(policy, mind, 5000)
    masses = fixed(log.entries[0])
    assert not fixed.estimated
    menu = policy.ledger.offer(actions, mind)
    if name == "mcp_bandit":
        share = 5 / 301
        own = share / 5 + (1.0 - share) * policy._preferred(menu)
    else:
        own = policy._mixture(menu, policy.theta()).masses
    assert masses == pytest.approx(own, abs=1e-12)


def test_every_draw_of_a_posterior_is_of_the_same_round():
    told = []

    def rate(progress):
        told.append((progress.ratios, progress.root_ratios))
        return 0.1

    log = made_log(60)
    mind = np.random.default_rng(0)
    policy = instructed(rewarded(log), lambda d: POLICIES["soids"](d, rate=rate, noise=0.3), mind)
    laws = []

    def mixture(outlook):
        laws.append(type(policy)._mixture(policy, outlook))
        return laws[-1]

    policy._mixture = mixture
    fixed = Fixed(policy, mind, 50)
    masses = fixed(log.entries[0])
    assert len(told) > 1
    assert set(told) == {(0.0, 0.0)}
    assert not fixed.estimated
    assert masses == pytest.approx([laws[-1].probability(k) for k in range(5)], abs=1e-12)
    assert policy.memory.ratios == 0.0
    assert policy.ledger.decisions == 60


def test_a_policy_may_say_its_law_itself():
    class Outspoken(Uniform):
        def probabilities(self, actions, rng):
            return np.eye(len(actions))[2]

    log = made_log(60)
    mind = np.random.default_rng(0)
    fixed = Fixed(instructed(rewarded(log), Outspoken, mind), mind, 1)
    assert fixed(log.entries[0])[2] == 1.0
    assert not fixed.estimated


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

    with pytest.raises(ValueError, match=r"First cannot learn .* no ledger of ours"):
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
    ledger = policies[0].ledger
    assert ledger.evidence.rounds == ledger.decisions == found.accepted
    assert not ledger.pending
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
    assert "of what it does the log never tried" in found.estimate.doubt
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
    assert policies[0].ledger.decisions == found.accepted


# The rates of Theorem 3 fall with what was played, and these policies have played nothing.
TEACHABLE = [
    name for name, one in POLICIES.items() if one not in SCHEDULED and not name.endswith("theorem3")
]


@pytest.mark.parametrize("name", TEACHABLE)
def test_every_policy_without_a_plan_can_be_taught_what_pays(name):
    log = made_log(200)
    mind = np.random.default_rng(0)

    def make(dimension):
        return members.make(name, None, dimension, noise=0.3)

    masses = Fixed(instructed(rewarded(log), make, mind), mind, 50)(log.entries[0])
    if name in ("uniform", "dr_lasso_bandit"):  # the mean of the actions never changes
        assert np.allclose(masses, 0.2)
    elif name == "oracle_thompson":  # it was told another feature
        assert masses[0] < 0.1
    else:
        assert masses[0] > 0.8


# Real logs


@needs_obd
@pytest.mark.parametrize(("policy", "campaign"), CAMPAIGNS)
def test_the_logging_policies_of_the_open_bandit_are_worth_their_clicks(policy, campaign):
    found = evaluate(OpenBanditLog(OBD / policy / f"{campaign}.csv.gz"), [NAMED["logged"]])
    estimate = found.reports[0].estimates[0]
    assert found.rounds == 10_000
    assert estimate.value == pytest.approx(found.mean_reward, rel=1e-12)
    assert estimate.low < found.mean_reward < estimate.high


@needs_obd
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_uniform_told_from_either_log_agrees_or_is_refused(campaign):
    """Within 3 standard errors of both; for women one weight of 21,739 leaves 2 rounds."""
    own = evaluate(OpenBanditLog(OBD / "random" / f"{campaign}.csv.gz"), [NAMED["uniform"]])
    other = evaluate(OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"), [NAMED["uniform"]])
    report = other.reports[0]
    if campaign == "women":
        assert report.overlap.largest == pytest.approx(1e6 / 46)
        assert report.overlap.effective < 3.0
        assert not report.reliable
        return
    assert report.overlap.effective > 300
    for mine, theirs in zip(own.reports[0].estimates, report.estimates, strict=True):
        if mine.method != "DM":
            assert abs(mine.value - theirs.value) <= 3 * math.hypot(mine.error, theirs.error)


@needs_obd
@pytest.mark.parametrize("campaign", ["all", "men", "women"])
def test_thompsons_policy_told_from_the_random_log_agrees_with_its_clicks(campaign):
    """Its law is taken as its frequencies, item by item, at each position."""
    counts = {}
    for entry in OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"):
        position = int(entry.actions[0, -3:].argmax())
        counts.setdefault(position, np.zeros(entry.offered))[entry.chosen] += 1.0
    law = {position: count / count.sum() for position, count in counts.items()}
    theirs = Candidate("bts", lambda rounds: lambda e: law[int(e.actions[0, -3:].argmax())])
    found = evaluate(OpenBanditLog(OBD / "random" / f"{campaign}.csv.gz"), [theirs])
    earned = evaluate(OpenBanditLog(OBD / "bts" / f"{campaign}.csv.gz"), [NAMED["logged"]])
    truth = earned.reports[0].estimates[0]
    for estimate in found.reports[0].estimates[:2]:
        assert abs(estimate.value - truth.value) <= 3 * math.hypot(estimate.error, truth.error)


@needs_obd
def test_a_weight_of_a_million_in_a_real_log_is_handled_and_flagged():
    log = OpenBanditLog(OBD / "bts" / "women.csv.gz")
    rare = min(log, key=lambda entry: entry.propensity)
    assert rare.propensity == 1e-6
    always = Candidate("rare", lambda rounds: lambda entry: np.eye(46)[rare.chosen])
    report = evaluate(log, [always]).reports[0]
    assert report.overlap.largest == pytest.approx(1e6)
    assert not report.reliable
    assert f"line {rare.line}" in report.remarks[0]
    assert all(math.isfinite(estimate.value) for estimate in report.estimates)
    assert all(estimate.low is None for estimate in report.estimates)
