"""Learning from choices of others: tables and logs teach what their rounds teach one by one."""

import numpy as np
import pandas
import pytest

from members import members, name_of, rule_of
from soids import SOIDS, LinUCB, PopArt, SALassoBandit, Uniform
from soids.logs import JsonLog, LogWriter
from soids.policies.others import BLOCK

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*relaxed posterior:RuntimeWarning",
    "ignore:every coefficient is:RuntimeWarning",
)

LEARNERS = [one for one in members() if rule_of(one.values[0]).learns_from_others]
every_learner = pytest.mark.parametrize("family", LEARNERS)

RNG = np.random.default_rng(0)
COUNT = 12
ACTIONS = RNG.uniform(-1, 1, (5, 4))
SETS = np.where(np.arange(COUNT)[:, None, None] % 3, ACTIONS, -ACTIONS)
INDEX = RNG.integers(5, size=COUNT)
REWARD = RNG.standard_normal(COUNT)
SHARES = RNG.uniform(0.1, 1.0, COUNT)
NAMES = ["zdv", "ddI", "zal", "low", "high"]


def same_evidence(one, other):
    assert np.allclose(one.gram, other.gram, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(one[1:5], other[1:5], strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert [menu.fingerprint for menu in one.menus] == [menu.fingerprint for menu in other.menus]
    assert (one.counts, one.lots, one.sampled) == (other.counts, other.lots, other.sampled)
    assert one.level == pytest.approx(other.level)


@every_learner
@pytest.mark.parametrize("sets", [SETS, list(SETS), ACTIONS], ids=["array", "list", "shared"])
def test_many_rounds_at_once_teach_what_they_teach_one_by_one(family, sets):
    at_once, in_turn = family(4, particles=20), family(4, particles=20)
    at_once.learn(sets, INDEX, REWARD, probability=SHARES)
    for t in range(COUNT):
        actions = sets if sets is ACTIONS else sets[t]
        in_turn.learn(actions, int(INDEX[t]), REWARD[t], probability=SHARES[t])
    same_evidence(at_once.evidence, in_turn.evidence)
    assert at_once.state.past.decisions == COUNT
    assert not at_once.pending
    assert at_once.state.past.menu.same(in_turn.state.past.menu)
    # The one imputes by estimates so far; the other's penalty is that of an arm's last reward.
    if name_of(family) not in ("dr_lasso_bandit", "mcp_bandit"):
        laws = [policy.law(ACTIONS) for policy in (at_once, in_turn)]
        if not hasattr(at_once.rule, "posterior"):  # others draw beliefs anew, up to rounding
            assert np.allclose(*laws)


@pytest.mark.parametrize("dimension", [3, 600])
@pytest.mark.parametrize("centred", [False, True])
def test_sums_of_many_rewards_are_those_of_one_after_the_other(dimension, centred):
    rng = np.random.default_rng(1)
    actions, rewards = rng.uniform(-1, 1, (700, dimension)), 50.0 + rng.standard_normal(700)
    start = SOIDS(dimension).evidence
    start = start.about_means() if centred else start
    begun = start.note(actions[0], rewards[0]).note(actions[1], rewards[1])
    at_once = begun.note_all(actions[2:350], rewards[2:350])
    at_once = at_once.note_all(actions[350:], rewards[350:])
    in_turn = begun
    for action, reward in zip(actions[2:], rewards[2:], strict=True):
        in_turn = in_turn.note(action, reward)
    for mine, theirs in zip(at_once[1:5], in_turn[1:5], strict=True):
        assert np.allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert np.allclose(at_once.gram, in_turn.gram, atol=1e-9)
    assert at_once.level == pytest.approx(in_turn.level)


def test_tables_longer_than_a_block_are_learned_to_the_end():
    policy, count = LinUCB(2, norm=1.0), 2 * BLOCK + 5
    policy.learn(np.eye(2), np.arange(count) % 2, np.ones(count))
    assert policy.evidence.rounds == policy.state.past.decisions == count
    assert policy.evidence.moment.tolist() == [count - count // 2, count // 2]


def test_discounted_rounds_are_discounted_one_by_one():
    at_once, in_turn = SOIDS(4, discount=0.9), SOIDS(4, discount=0.9)
    at_once.learn(SETS, INDEX, REWARD)
    for actions, index, reward in zip(SETS, INDEX, REWARD, strict=True):
        in_turn.learn(actions, index, reward)
    same_evidence(at_once.evidence, in_turn.evidence)


def test_a_level_shows_in_a_table_as_in_its_rounds():
    policy = SOIDS(4, intercept=True)
    policy.learn(ACTIONS, np.tile(INDEX, 3), np.tile(REWARD, 3) + 50.0)
    assert policy.evidence.centred
    assert policy.evidence.level == pytest.approx(REWARD.mean() + 50.0)


def test_indices_may_be_names_and_columns_of_a_data_frame():
    by_name, by_index = SOIDS(4), SOIDS(4)
    frame = pandas.DataFrame(
        {"arm": [NAMES[k] for k in INDEX], "reward": REWARD}, index=range(7, 19)
    )
    by_name.learn(ACTIONS, frame["arm"], frame["reward"], names=NAMES)
    by_index.learn(ACTIONS, INDEX, REWARD)
    same_evidence(by_name.evidence, by_index.evidence)
    by_name.learn(pandas.DataFrame(ACTIONS, index=NAMES), "ddI", 1.0)
    by_index.learn(ACTIONS, 1, 1.0)
    same_evidence(by_name.evidence, by_index.evidence)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((ACTIONS, INDEX, REWARD[1:]), r"reward must hold one for each index \(12\), got 11"),
        ((ACTIONS, INDEX, 1.0), r"reward must hold one for each index \(12\), got 1.0"),
        ((SETS[1:], INDEX, REWARD), r"actions must hold one for each index \(12\), got 11"),
        ((ACTIONS, [0, 5], [1.0, 1.0]), r"index must be in 0..4, got 5, in row 1"),
        ((ACTIONS, [0, "ddI"], [1.0, 1.0]), r"index must be a number where .*, in row 1"),
        ((ACTIONS, [0, 1], [1.0, np.nan]), r"reward must be finite .* in row 1"),
        (([ACTIONS, ACTIONS[:, 1:]], [0, 1], [1.0, 1.0]), r"actions must have shape .* in row 1"),
    ],
)
def test_a_wrong_round_is_named_and_nothing_is_learned(arguments, why):
    policy = SOIDS(4)
    state = policy.state
    with pytest.raises(ValueError, match=why):
        policy.learn(*arguments)
    assert policy.state is state


def logged(path, policy, rounds):
    """What a policy chose is in a log; every fifth reward is lost."""
    rng = np.random.default_rng(3)
    with LogWriter(path) as log:
        for t in range(rounds):
            decision = policy.choose(SETS[t % 3], rng, names=NAMES)
            known = {"chosen": decision.index, "propensity": decision.probability}
            log.decide(t, actions=SETS[t % 3], **known, name=decision.name)
            if t % 5:
                reward = float(decision.action[1] + rng.standard_normal())
                policy.observe(decision, reward)
                log.reward(t, reward)
    return JsonLog(path)


def test_a_policy_is_rebuilt_from_its_log(tmp_path):
    played, rebuilt = LinUCB(4, norm=1.0), LinUCB(4, norm=1.0)
    rebuilt.learn_from(logged(tmp_path / "log.jsonl", played, 40))
    assert np.allclose(rebuilt.evidence.gram, played.evidence.gram)
    assert np.allclose(rebuilt.evidence.moment, played.evidence.moment)
    assert rebuilt.evidence.rounds == 32
    assert np.allclose(rebuilt.law(ACTIONS), played.law(ACTIONS))


def test_what_is_wrong_in_a_log_is_named_with_its_line(tmp_path):
    log = logged(tmp_path / "log.jsonl", Uniform(4), 10)
    with pytest.raises(ValueError, match=r"actions must have shape .*, in line 3 of log.jsonl"):
        SOIDS(3).learn_from(log)
    for wrong in (5, "log.jsonl", [1, 2]):
        with pytest.raises(ValueError, match="log must be a log, such as"):
            SOIDS(4).learn_from(wrong)


def test_a_policy_that_must_choose_itself_refuses_tables_and_logs(tmp_path):
    policy = PopArt(4, exploration=30, reward_bound=1.0)
    for learn in (
        lambda: policy.learn(ACTIONS, INDEX, REWARD),
        lambda: policy.learn_from(logged(tmp_path / "log.jsonl", Uniform(4), 3)),
    ):
        with pytest.raises(ValueError, match="PopArt cannot learn from choices that it did not"):
            learn()


def test_no_beliefs_are_formed_while_a_policy_learns():
    policy = SALassoBandit(4)
    policy.learn(ACTIONS, INDEX, REWARD)
    assert policy.state.mind.rounds == 0
    policy.refresh(np.random.default_rng(0))
    assert policy.state.mind.rounds == COUNT
