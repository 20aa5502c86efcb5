"""Evidence: sums that match loops in any order, and immutable records."""

import numpy as np
import pytest

from soids.arrays import LARGEST
from soids.evidence import Evidence, Menu
from soids.gram import Gram

FIRST, SECOND = (Menu(np.random.default_rng(seed).uniform(-1, 1, (5, 3))) for seed in (0, 1))


def rounds(count=12, seed=2):
    """Menus, actions and rewards, one of each a round."""
    rng = np.random.default_rng(seed)
    menus = [FIRST, SECOND, FIRST] * (count // 3)
    return [(menu, rng.choice(menu.actions), float(rng.standard_normal())) for menu in menus]


def gathered(history):
    evidence = Evidence.empty(3)
    for menu, action, reward in history:
        evidence = evidence.add(menu, action, reward)
    return evidence


def test_evidence_holds_the_sums_of_its_notation():
    evidence = gathered(rounds())
    played = np.array([action for _, action, _ in rounds()])
    rewards = np.array([reward for *_, reward in rounds()])
    assert evidence.gram == pytest.approx(played.T @ played)
    assert evidence.moment == pytest.approx(played.T @ rewards)
    assert evidence.total == pytest.approx(played.sum(axis=0))
    assert evidence.energy == pytest.approx(rewards @ rewards)
    assert evidence.rounds == 12
    assert evidence.menus == (FIRST, SECOND)
    assert evidence.counts == (8, 4)


def test_order_never_matters():
    history = rounds()
    forth, back = gathered(history), gathered(history[::-1])
    for one, other in zip((forth.gram, *forth[1:5]), (back.gram, *back[1:5]), strict=True):
        assert np.allclose(one, other, rtol=1e-12)
    offered = [dict(zip(e.menus, e.counts, strict=True)) for e in (forth, back)]
    assert offered[0] == offered[1]


@pytest.mark.parametrize("base", [0.0, 1e4])
@pytest.mark.parametrize("before", [0, 1, 2, 12])  # rewards before there is an intercept
def test_with_an_intercept_sums_are_about_the_means(base, before):
    history = [(menu, action, base + reward) for menu, action, reward in rounds()]
    evidence = gathered(history[:before]).about_means()
    for menu, action, reward in history[before:]:
        evidence = evidence.add(menu, action, reward)
    played = np.array([action for _, action, _ in history])
    rewards = np.array([reward for *_, reward in history])
    apart, above = played - played.mean(axis=0), rewards - rewards.mean()
    assert evidence.gram == pytest.approx(apart.T @ apart)
    assert evidence.moment == pytest.approx(apart.T @ above, abs=1e-9 * (1.0 + base))
    assert evidence.energy == pytest.approx(above @ above, abs=1e-14 * (1.0 + base) ** 2)
    assert evidence.total == pytest.approx(played.sum(axis=0))
    assert (evidence.level, *evidence.centre) == pytest.approx(
        (rewards.mean(), *played.mean(axis=0))
    )
    assert (evidence.rounds, evidence.degrees) == (12, 11)


def test_sums_about_the_means_do_not_depend_on_the_order():
    start = Evidence.empty(3).about_means()
    forth, back = start, start
    for one, other in zip(rounds(), rounds()[::-1], strict=True):
        forth, back = forth.add(*one), back.add(*other)
    for one, other in zip((forth.gram, *forth[1:5]), (back.gram, *back[1:5]), strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=1e-12)


def test_old_rounds_fade_about_the_means_too():
    weights = 0.5 ** np.arange(12)[::-1]
    evidence = Evidence.empty(3).about_means()
    for menu, action, reward in rounds():
        evidence = evidence.faded(0.5).add(menu, action, reward)
    played = np.array([action for _, action, _ in rounds()])
    rewards = np.array([reward for *_, reward in rounds()])
    apart = played - np.average(played, axis=0, weights=weights)
    above = rewards - np.average(rewards, weights=weights)
    assert evidence.gram == pytest.approx((weights[:, None] * apart).T @ apart)
    assert evidence.moment == pytest.approx(apart.T @ (weights * above))
    assert evidence.energy == pytest.approx(weights @ above**2)


def test_adding_does_not_change_the_old_evidence():
    before = gathered(rounds())
    copies = [np.copy(part) for part in (before.gram, *before[1:5])]
    before.add(SECOND, SECOND.actions[0], 7.0)
    after = (before.gram, *before[1:5])
    assert all(np.array_equal(*pair) for pair in zip(after, copies, strict=True))
    assert before.counts == (8, 4)


def test_equal_action_sets_are_recognised():
    twin = Menu(FIRST.actions.copy())
    evidence = gathered([(FIRST, FIRST.actions[0], 1.0), (twin, FIRST.actions[1], 1.0)])
    assert evidence.menus == (FIRST,)
    assert evidence.counts == (2,)
    assert not FIRST.same(SECOND)
    assert not FIRST.same(Menu(FIRST.actions[:4]))


def test_columns_are_the_actions_feature_by_feature():
    assert np.array_equal(FIRST.columns, FIRST.actions.T)
    assert FIRST.columns.flags.c_contiguous


def test_scale_follows_the_rewards():
    history = rounds()
    scaled = [(menu, action, 1e4 * reward) for menu, action, reward in history]
    assert gathered(scaled).scale() == pytest.approx(1e4 * gathered(history).scale())


@pytest.mark.parametrize("size", [0.01, 3.0])
def test_scale_is_the_size_of_the_parameter_without_noise(size):
    menu = Menu(np.eye(3))
    history = [(menu, action, size * action[0]) for action in menu.actions]
    assert gathered(history).scale() == pytest.approx(size)


@pytest.mark.parametrize(
    "history",
    [[], [(FIRST, FIRST.actions[0], 0.0)], [(FIRST, np.zeros(3), 1.0)]],
    ids=["nothing", "no reward", "no action"],
)
def test_scale_is_one_without_information(history):
    assert gathered(history).scale() == 1.0


@pytest.mark.parametrize("seed", range(60))
def test_sums_of_rewards_are_never_taken_for_forged(seed):
    """Scales apart, features with a large mean, an intercept early or late, rounds that fade."""
    rng = np.random.default_rng(seed)
    d, rounds = int(rng.choice([1, 2, 5, 30, 600])), int(rng.choice([1, 2, 3, 20, 200]))
    scales = 10.0 ** rng.uniform(-9, 9, d)
    shift = rng.choice([0, 1e3, 1e6]) * rng.random(d)
    evidence, early, late, fades = Evidence.empty(d), *(rng.random(3) < 0.3)
    if early:
        evidence = evidence.about_means()
    for _ in range(rounds if d < 600 else min(rounds, 20)):
        action = np.clip((rng.standard_normal(d) + shift) * scales, -LARGEST, LARGEST)
        if fades:
            evidence = evidence.faded(0.9)
        evidence = evidence.note(action, 1e6 + rng.standard_normal())
    if late:
        evidence = evidence.about_means()
    evidence.played.validate()
    evidence.validate()


@pytest.mark.parametrize(
    "forged",
    [
        {"energy": 1.0},
        {"moment": np.array([30.0, 0.0])},
        {"moment": np.array([0.0, 0.0, 0.0])},
        {"total": np.array([50.0, 0.0])},
        {"level": 1e6},
        {"rounds": 0},
        {"rounds": 0.01},
        {"lots": (0.5, 0.2), "owners": (Menu(np.eye(2)),) * 2},
        {"counts": (1.0,)},
        {"menus": (Menu(np.eye(3)),), "counts": (1.0,)},
    ],
    ids=str,
)
def test_sums_that_no_rewards_have_are_refused(forged):
    evidence, rng = Evidence.empty(2), np.random.default_rng(0)
    for _ in range(10):
        evidence = evidence.note(rng.standard_normal(2), 2.0)
    evidence.validate()
    with pytest.raises(ValueError, match="must"):
        evidence._replace(**forged).validate()


def test_a_matrix_with_a_negative_eigenvalue_is_no_gram():
    evidence = Evidence.empty(2)._replace(
        played=Gram.of(np.array([[1.0, 2.0], [2.0, 1.0]])), rounds=9
    )
    with pytest.raises(ValueError, match="must be sums of some rewards"):
        evidence.validate()
