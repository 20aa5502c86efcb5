"""Policies with a sparse parameter for each arm."""

import math

import numpy as np
import pytest

from scikit_lasso import scikit_lasso
from soids import LassoBandit, MCPBandit, load, play, save
from soids.bandits import FAMILIES
from soids.policies.lasso_per_arm import disjoint_arms, forced_arm


def disjoint(context, arms):
    return np.kron(np.eye(arms), context)


def play_disjoint(policy, rounds, arms=2, width=4, seed=0):
    """A policy after some rounds, all that it saw, and its generator."""
    rng = np.random.default_rng(seed)
    betas = np.zeros((arms, width))
    betas[:, 0] = np.arange(arms) - 0.5 * (arms - 1)
    seen = []
    for _ in range(rounds):
        context = rng.standard_normal(width)
        decision = policy.choose(disjoint(context, arms), rng)
        reward = float(context @ betas[decision.index] + 0.1 * rng.standard_normal())
        policy.observe(decision, reward)
        seen.append((decision, context, reward))
    return seen, rng


def test_the_schedule_of_forced_samples_by_hand():
    """Three arms, two samples each: after (2^m - 1) * 6 rounds come six forced ones."""
    forced = {1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}
    expected = {6 * (2**m - 1) + turn: arm for m in range(5) for turn, arm in forced.items()}
    found = {turn: forced_arm(turn, 3, 2) for turn in range(1, 150)}
    assert {turn: arm for turn, arm in found.items() if arm is not None} == {
        turn: arm for turn, arm in expected.items() if turn < 150
    }


def test_each_arm_has_its_two_lassos_on_its_own_block():
    policy = LassoBandit(8, arms=2, forced_penalty=0.1, penalty=0.2)
    seen, _ = play_disjoint(policy, 30)
    for number, arm in enumerate(policy.state.mind.arms):
        mine = [(t, x, r) for t, (d, x, r) in enumerate(seen, 1) if d.index == number]
        last = mine[-1][0]  # the penalty is that of the round of its last reward
        alpha = 0.2 * math.sqrt((math.log(last) + math.log(4)) / last)
        whole = scikit_lasso([x for _, x, _ in mine], [r for _, _, r in mine], alpha)
        assert arm.whole.theta == pytest.approx(whole, abs=1e-4)
        forced = [(x, r) for t, x, r in mine if forced_arm(t, 2, 1) == number]
        assert arm.forced.past.rounds == len(forced) == 4
        rough = scikit_lasso([x for x, _ in forced], [r for _, r in forced], 0.1)
        assert arm.forced.theta == pytest.approx(rough, abs=1e-4)


def test_only_arms_near_the_best_by_forced_samples_are_considered():
    policy = LassoBandit(8, arms=2, slack=0.5)
    _, rng = play_disjoint(policy, 12)
    before, known = policy.state, policy.state.mind
    first, second = known.arms

    def with_thetas(rough, fine):
        arms = tuple(
            arm._replace(
                forced=arm.forced._replace(theta=np.array([r, 0, 0, 0])),
                whole=arm.whole._replace(theta=np.array([f, 0, 0, 0])),
            )
            for arm, r, f in zip((first, second), rough, fine, strict=True)
        )
        policy.state = before._replace(mind=known._replace(arms=arms))
        return policy.choose(disjoint(np.ones(4), 2), rng).index

    assert forced_arm(13, 2, 1) is None
    assert with_thetas(rough=(1.0, 0.8), fine=(0.0, 9.0)) == 1
    assert with_thetas(rough=(1.0, 0.7), fine=(0.0, 9.0)) == 0


def test_forced_choices_are_certain_and_ties_are_shared():
    policy, rng = LassoBandit(6), np.random.default_rng(0)
    actions = np.eye(6)[:3]
    forced = [policy.choose(actions, rng) for _ in range(6)]
    assert [d.index for d in forced] == [0, 1, 2, 0, 1, 2]
    assert {d.probability for d in forced} == {1.0}
    assert policy.choose(actions, rng).probability == pytest.approx(1 / 3)  # nothing is known


def test_an_arm_that_is_not_on_offer_is_not_forced():
    policy, rng = LassoBandit(4, arms=2), np.random.default_rng(0)
    decision = policy.choose(disjoint(np.ones(2), 2)[1:], rng)
    policy.observe(decision, 1.0)
    assert decision.index == 0
    assert [arm.forced.past.rounds for arm in policy.state.mind.arms] == [0, 0]
    assert [arm.whole.past.rounds for arm in policy.state.mind.arms] == [0, 1]


def test_stacked_contexts_are_all_actions_one_after_the_other():
    policy, rng = LassoBandit(5, forced_penalty=0.05, penalty=0.05), np.random.default_rng(0)
    seen = []
    for t in range(1, 25):
        actions = rng.standard_normal((3, 5))
        decision = policy.choose(actions, rng)
        seen.append((t, decision.index, actions.ravel(), float(actions[decision.index, 0])))
        policy.observe(decision, seen[-1][3])
    for number, arm in enumerate(policy.state.mind.arms):
        mine = [(t, x, r) for t, index, x, r in seen if index == number]
        last = mine[-1][0]
        alpha = 0.05 * math.sqrt((math.log(last) + math.log(15)) / last)
        expected = scikit_lasso([x for _, x, _ in mine], [r for _, _, r in mine], alpha)
        assert arm.whole.theta == pytest.approx(expected, abs=1e-3)


def test_more_rows_than_before_are_more_features_that_were_zero():
    policy, rng = LassoBandit(2), np.random.default_rng(0)
    for rows in (2, 3, 2, 4):
        decision = policy.choose(rng.standard_normal((rows, 2)), rng)
        policy.observe(decision, 1.0)
    whole = policy.state.mind.arms[0].whole
    table = whole.sums()[0].table
    assert table.shape[1] == max(2 * len(menu.actions) for menu in whole.past.menus)
    assert len(whole.theta) == table.shape[1]


def test_rewards_come_late_and_in_any_order_to_the_arm_and_the_sample_they_belong_to():
    prompt, late = (LassoBandit(8, arms=2) for _ in range(2))
    rng = np.random.default_rng(0)
    menus = [disjoint(rng.standard_normal(4), 2) for _ in range(8)]
    pairs = [
        [policy.choose(menu, np.random.default_rng(t)) for t, menu in enumerate(menus)]
        for policy in (prompt, late)
    ]
    rewards = rng.standard_normal(8).tolist()
    prompt.observe(pairs[0], rewards)
    for t in (5, 2, 7, 0, 1, 6, 4, 3):
        late.observe(pairs[1][t], rewards[t])
    for mine, theirs in zip(prompt.state.mind.arms, late.state.mind.arms, strict=True):
        assert mine.forced.past.rounds == theirs.forced.past.rounds
        assert mine.whole.past.moment == pytest.approx(theirs.whole.past.moment)
        assert mine.forced.past.moment == pytest.approx(theirs.forced.past.moment)


def test_chance_decides_as_often_as_the_paper_says():
    policy = MCPBandit(8, arms=2, chance=3.0)
    rng, menu = np.random.default_rng(0), disjoint(np.ones(4), 2)
    for t in range(1, 400):
        decision = policy.choose(menu, rng)
        share = min(1.0, 6.0 / t)
        assert decision.probability in (
            pytest.approx(share / 2), pytest.approx(1 - share / 2), pytest.approx(0.5)
        )  # fmt: skip
        policy.observe(decision, float(decision.index))
        assert policy.state.mind.explored == ()
    random = sum(arm.forced.past.rounds for arm in policy.state.mind.arms)
    shares = np.minimum(1.0, 6.0 / np.arange(1, 400))
    spread = math.sqrt((shares * (1 - shares)).sum())
    assert abs(random - shares.sum()) < 4 * spread


def test_one_number_decides_whether_the_choice_is_random_and_which_action_it_is():
    """Below t0 K / t the choice is even, by the place of the number there; above it is greedy."""
    policy = MCPBandit(8, arms=2, chance=1.0)
    _, rng = play_disjoint(policy, 9)
    policy.refresh(rng)
    menu, before, share = disjoint(np.ones(4), 2), policy.state, 0.2  # round 10
    best = int(policy.law(menu).argmax())
    assert policy.law(menu) == pytest.approx([0.9 if k == best else 0.1 for k in range(2)])
    for uniform in np.linspace(0.0, 0.999, 41):
        policy.state = before
        decision = policy.decide(menu, float(uniform))
        is_random = uniform < share
        assert decision.index == (int(2 * uniform / share) if is_random else best)
        assert policy.state.mind.explored == ((10,) if is_random else ())


def test_a_choice_that_the_floor_draws_is_a_random_one():
    policy = MCPBandit(8, arms=2, chance=0.0)
    _, rng = play_disjoint(policy, 9)
    policy.refresh(rng)
    policy.decide(disjoint(np.ones(4), 2), 0.1, floor=0.2)
    policy.decide(disjoint(np.ones(4), 2), 0.3, floor=0.2)
    assert policy.state.mind.explored == (10,)


def test_what_was_left_to_chance_is_remembered_until_its_reward_comes(tmp_path):
    policy, rng = MCPBandit(4, arms=2), np.random.default_rng(0)
    decisions = [policy.choose(disjoint(np.ones(2), 2), rng) for _ in range(6)]
    waiting = policy.state.mind.explored
    assert waiting[:2] == (1, 2)
    save(policy, tmp_path / "policy")
    restored = load(tmp_path / "policy")
    restored.observe(decisions[::-1], [1.0] * 6)
    assert sum(arm.forced.past.rounds for arm in restored.state.mind.arms) == len(waiting)
    assert restored.state.mind.explored == ()


@pytest.mark.parametrize("family", [LassoBandit, MCPBandit])
def test_arms_are_drawn_as_often_as_their_propensity_says(family):
    policy = family(12, arms=3)
    _, rng = play_disjoint(policy, 7, arms=3)
    menu = disjoint(np.ones(4), 3)[[0, 1, 2, 1]]  # one arm is on offer twice
    before, drawn = policy.state, []
    for _ in range(2000):
        policy.state = before
        drawn.append(policy.choose(menu, rng))
    policy.state = before
    law = policy.law(menu)
    assert all(d.probability == pytest.approx(law[d.index]) for d in drawn)
    assert law.sum() == pytest.approx(1.0)
    for index, mass in enumerate(law):
        count = sum(d.index == index for d in drawn)
        assert abs(count - 2000 * mass) <= 4 * math.sqrt(2000 * mass * (1 - mass))


@pytest.mark.parametrize("family", [LassoBandit, MCPBandit])
def test_disjoint_arms_are_restored_bit_for_bit(family, tmp_path):
    policy = family(8, arms=2)
    play_disjoint(policy, 9)
    save(policy, tmp_path / "policy")
    futures = [
        [(d.index, d.probability) for d, _, _ in play_disjoint(one, 12, seed=3)[0]]
        for one in (policy, load(tmp_path / "policy"))
    ]
    assert futures[0] == futures[1]


def test_arms_are_known_by_their_blocks():
    actions = np.zeros((4, 6))
    actions[0, 4], actions[1, 1], actions[3, 2] = 1.0, -1.0, 0.5
    assert disjoint_arms(actions, arms=3).tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize(
    ("family", "settings", "message"),
    [
        (LassoBandit, {"arms": 3}, "arms must divide the dimension 8 into blocks .* got 3"),
        (LassoBandit, {"arms": 9}, "arms must be in 1..8, got 9"),
        (LassoBandit, {"forced": 0}, "forced must be at least 1, got 0"),
        (LassoBandit, {"slack": -1.0}, "slack must be at least 0, got -1"),
        (LassoBandit, {"forced_penalty": 0.0}, "forced_penalty must be at least 1e-12, got 0"),
        (MCPBandit, {"penalty": -0.1}, "penalty must be at least 1e-12, got -0.1"),
        (MCPBandit, {"chance": -0.1}, "chance must be at least 0, got -0.1"),
        (MCPBandit, {"concavity": 0.0}, "concavity must be at least 1e-12, got 0"),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense_is_refused(family, settings, message):
    with pytest.raises(ValueError, match=message):
        family(8, **settings)


def test_actions_that_belong_to_no_one_arm_are_refused():
    policy = LassoBandit(4, arms=2)
    actions = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match=r"zero outside one block of 2 .* arms=2, row 1 is not"):
        policy.choose(actions, np.random.default_rng(0))
    assert policy.state.past.decisions == 0


@pytest.mark.parametrize("family", [LassoBandit, MCPBandit])
def test_on_its_own_papers_setting_it_beats_chance_by_far(family):
    bandit = FAMILIES["bastani"](seed=0, covariates=30, sparsity=3)
    offers = bandit.rounds(300, np.random.default_rng(9))
    chance = np.mean([(offer.means.max() - offer.means).mean() for offer in offers])
    regret = play(bandit, family(60, arms=2), 400, seed=0).regret
    assert regret.mean() < 0.15 * chance
