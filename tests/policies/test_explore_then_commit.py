"""Explore, then commit: lengths by hand, what is learned from what, and what is refused."""

import math

import numpy as np
import pytest

from recorded import recorded
from soids import ESTC, Greedy, PopArt, PopArtElimination, SparseLinearBandit, play
from soids.designs import exploratory_design, popart_design
from soids.evidence import Menu
from soids.policies.popart_elimination import essential
from soids.regression.lasso import hao_lasso

pytestmark = pytest.mark.filterwarnings("ignore:every coefficient is:RuntimeWarning")

ACTIONS = np.random.default_rng(0).uniform(-1, 1, (20, 5))
BANDIT = SparseLinearBandit(ACTIONS, [0.0, 2.0, 0.0, 0.0, 0.0], noise=0.5)
FAMILIES = [
    lambda **settings: ESTC(5, noise=0.5, **settings),
    lambda **settings: PopArt(5, noise=0.5, **{"reward_bound": 2.0, **settings}),
    lambda **settings: PopArtElimination(5, noise=0.5, **{"reward_bound": 2.0, **settings}),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=["estc", "popart", "elimination"])


def theta_of(policy):
    """The parameter as a policy estimates it."""
    return policy.rule.theta(policy.mind)


def test_estc_commits_to_the_lassos_best():
    trace = play(BANDIT, policy := ESTC(5, exploration=40, noise=0.5), 60, seed=0)
    rows, rewards = ACTIONS[trace.chosen[:40]], trace.reward[:40]
    theta = hao_lasso(recorded(rows, rewards), 0.5, np.abs(ACTIONS).max())
    assert theta_of(policy) == pytest.approx(theta)
    assert (trace.chosen[40:] == (ACTIONS @ theta).argmax()).all()
    assert (trace.probability[40:] == 1.0).all()


@pytest.mark.parametrize(
    ("family", "design"),
    [(FAMILIES[0], exploratory_design), (FAMILIES[1], popart_design)],
    ids=["estc", "popart"],
)
def test_exploration_is_drawn_from_the_design(family, design):
    trace = play(BANDIT, family(exploration=4000), 4000, seed=0)
    weights = design(ACTIONS).weights
    assert trace.probability == pytest.approx(weights[trace.chosen])
    seen = np.bincount(trace.chosen, minlength=20) / 4000
    assert (np.abs(seen - weights) <= 4.0 * np.sqrt(weights / 4000) + 1e-9).all()


def test_popart_is_unbiased_whatever_a_floor_drew():
    """Four actions in five are the first one, to whose features a part of the reward would go."""
    floor, rng = np.zeros(20), np.random.default_rng(0)
    floor[0] = 0.8
    policy = PopArt(5, exploration=8000, reward_bound=2.0, noise=0.5, warm=False)
    for _ in range(8000):
        decision = policy.choose(ACTIONS, rng, floor=floor)
        reward = 2.0 * decision.action[1] + 0.5 * rng.standard_normal()
        policy.observe(decision, reward)
    theta = policy.rule.theta(policy.mind)
    assert np.flatnonzero(theta).tolist() == [1]
    assert theta[1] == pytest.approx(2.0, abs=0.4)


def test_lengths_by_hand():
    menu = Menu(ACTIONS)
    size = np.abs(ACTIONS).max()
    c_min = exploratory_design(ACTIONS).value / size**2
    h_star = popart_design(ACTIONS).value * size**2
    plan = {"horizon": 10_000, "sparsity": 2, "reward_bound": 3.0}
    estc = (2.0 * (2 * 0.5 * 10_000 / (3.0 * c_min)) ** 2 * math.log(10)) ** (1 / 3)
    assert ESTC(5, noise=0.5, **plan).rule.length(menu) == math.ceil(estc)
    error = (2 * 10_000 / 3.0) ** 2 * h_star * math.log(10 / 0.05)
    warm, cold = 4.0 * (0.25 * error) ** (1 / 3), ((9.0 + 0.25) * error) ** (1 / 3)
    assert PopArt(5, noise=0.5, **plan).rule.length(menu) == math.ceil(warm)
    assert PopArt(5, noise=0.5, warm=False, **plan).rule.length(menu) == math.ceil(cold)


def test_lengths_do_not_depend_on_the_unit_of_actions():
    plan = {"horizon": 10_000, "sparsity": 2, "reward_bound": 3.0}
    for make in FAMILIES[:2]:
        lengths = [make(**plan).rule.length(Menu(scale * ACTIONS)) for scale in (1.0, 100.0)]
        assert lengths[0] == lengths[1]


def test_elimination_explores_until_the_thresholds_fit():
    policy = PopArtElimination(
        5, reward_bound=2.0, noise=0.5, horizon=10**9, sparsity=1, signal=1.0
    )
    length = policy.rule.length(Menu(ACTIONS))
    certainty = math.log(8 * 5 / 0.05)
    spread = popart_design(ACTIONS).value

    def threshold(reach):
        variance = (reach**2 + 0.25) * spread
        return math.sqrt(2.0 * variance * certainty / (length / 2 - 2.0 * certainty))

    assert 2.0 * threshold(2.0) * np.abs(ACTIONS).max() <= 0.5  # the pilot errs by the noise
    assert threshold(0.5) <= 0.5  # half the signal


@every_family
def test_late_rewards_of_the_exploration_count_when_they_come(family):
    policy, rng = family(exploration=30), np.random.default_rng(0)
    early = [policy.choose(ACTIONS, rng) for _ in range(40)]
    assert not theta_of(policy).any()  # nothing is known yet
    noise = 0.1 * rng.standard_normal(40)
    policy.observe(early, [2.0 * d.action[1] + z for d, z in zip(early, noise, strict=True)])
    assert len(policy.state.mind.samples) == 30


@pytest.mark.parametrize("family", FAMILIES[1:], ids=["popart", "elimination"])
def test_an_exploration_that_finds_nothing_is_said(family):
    policy, rng = family(exploration=30), np.random.default_rng(0)
    for _ in range(30):
        policy.observe(policy.choose(ACTIONS, rng), rng.standard_normal())
    with pytest.warns(RuntimeWarning, match="estimated as zero after 30 rounds .* explore longer"):
        policy.choose(ACTIONS, rng)


@every_family
def test_the_estimate_cannot_be_spoiled(family):
    policy, rng = family(exploration=30), np.random.default_rng(0)
    policy.choose(ACTIONS, rng)
    with pytest.raises(ValueError, match="read-only"):
        theta_of(policy)[0] = 1.0


@every_family
def test_numbers_of_numpy_are_numbers(family):
    policy = family(exploration=np.int64(30), horizon=np.int64(100))
    policy.choose(ACTIONS, np.random.default_rng(0))
    assert policy.state.mind.length == 30


@pytest.mark.parametrize("make", [lambda: Greedy(5, noise=0.5), lambda: ESTC(5, exploration=40)])
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_unit_of_actions_does_not_matter_to_the_lasso(make, scale):
    scaled = SparseLinearBandit(scale * ACTIONS, BANDIT.theta / scale, 0.5)
    once, again = (play(bandit, make(), 60, seed=0) for bandit in (BANDIT, scaled))
    assert once.chosen.tolist() == again.chosen.tolist()


def test_elimination_ends_with_the_best_action():
    policy = PopArtElimination(5, reward_bound=2.0, noise=0.5, exploration=2000)
    trace = play(BANDIT, policy, 20_000, seed=0)
    assert np.flatnonzero(theta_of(policy)).tolist() == [1]
    assert policy.state.mind.phase.number >= 3
    assert policy.state.mind.phase.alive[BANDIT.means.argmax()]
    assert policy.state.mind.phase.alive.sum() < 10
    assert trace.regret[-1000:].mean() < 0.05 * BANDIT.gaps.mean()


def test_a_phase_drops_what_is_worse_by_more_than_twice_its_accuracy():
    """Without noise in the rewards, exactly that, in every phase."""
    policy = PopArtElimination(5, reward_bound=2.0, noise=0.5, exploration=2000)
    rng, seen = np.random.default_rng(0), {}
    for t in range(8000):
        decision = policy.choose(ACTIONS, rng)
        noise = 0.5 * rng.standard_normal() if t < 2000 else 0.0
        policy.observe(decision, 2.0 * decision.action[1] + noise)
        if policy.state.mind.phase is not None:
            seen[policy.state.mind.phase.number] = policy.state.mind.phase.alive
    assert len(seen) >= 4
    for number, alive in seen.items():
        kept = BANDIT.gaps <= 2.0 * 2.0 * 2.0 ** (1 - number) if number > 1 else np.ones(20, bool)
        assert alive.tolist() == kept.tolist()


def test_elimination_waits_for_the_rewards_of_a_phase():
    policy, rng = (
        PopArtElimination(5, reward_bound=2.0, noise=0.5, exploration=2000),
        np.random.default_rng(0),
    )
    for _ in range(2000):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, 2.0 * decision.action[1] + 0.5 * rng.standard_normal())
    waiting = [policy.choose(ACTIONS, rng) for _ in range(500)]
    own = len(policy.state.mind.phase.pending)
    assert own < 100
    rewards = [2.0 * d.action[1] for d in waiting]
    policy.observe(waiting[own:], rewards[own:])  # these were played to pass the time
    policy.observe(waiting[1:own], rewards[1:own])
    policy.choose(ACTIONS, rng)
    assert policy.state.mind.phase.number == 1
    policy.observe(waiting[0], rewards[0])
    policy.choose(ACTIONS, rng)
    assert policy.state.mind.phase.number == 2


def eliminating():
    """A policy after its exploration, and the generator it plays with."""
    policy = PopArtElimination(5, reward_bound=2.0, noise=0.5, exploration=2000)
    rng = np.random.default_rng(0)
    for _ in range(2001):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, 2.0 * decision.action[1] + 0.5 * rng.standard_normal())
    return policy, rng


def test_a_phase_learns_from_each_of_its_rewards_once():
    policy, rng = eliminating()
    assert policy.state.mind.phase.evidence.rounds == 1
    decision = policy.choose(ACTIONS, rng)
    before = policy.state.mind.phase.evidence
    policy.observe(decision, 0.7)
    after = policy.state.mind.phase.evidence
    assert after.rounds == 2
    assert after.moment - before.moment == pytest.approx(0.7 * decision.action)


def test_elimination_plays_again_what_was_lost():
    """A phase that waited for a reward that was given up would never end."""
    policy, rng = eliminating()
    lost = policy.choose(ACTIONS, rng)
    planned = policy.state.mind.phase.left.sum()
    policy.forget(lost)
    assert policy.state.mind.phase.left.sum() == planned + 1
    for _ in range(planned + 2):
        assert policy.state.mind.phase.number == 1
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, 2.0 * decision.action[1])
    assert policy.state.mind.phase.number == 2


def test_elimination_plays_its_plan_whatever_a_floor_draws():
    policy, rng = eliminating()
    planned, plays = policy.state.mind.phase.left.copy(), np.zeros(20)
    while policy.state.mind.phase.number == 1:
        due = policy.state.mind.phase.left.argmax()
        decision = policy.choose(ACTIONS, rng, floor=0.5)
        if policy.state.mind.phase.number == 1:
            plays[due] += decision.index == due
        policy.observe(decision, 2.0 * decision.action[1])
    assert plays.tolist() == planned.tolist()


def test_a_late_reward_of_the_exploration_does_not_undo_elimination():
    policy = PopArtElimination(5, reward_bound=2.0, noise=0.5, exploration=2000)
    rng = np.random.default_rng(0)
    late = policy.choose(ACTIONS, rng)
    for _ in range(4000):
        decision = policy.choose(ACTIONS, rng)
        policy.observe(decision, 2.0 * decision.action[1] + 0.5 * rng.standard_normal())
    reached = policy.state.mind.phase.number
    assert reached >= 3
    policy.observe(late, 2.0 * late.action[1])
    policy.choose(ACTIONS, rng)
    assert policy.state.mind.phase.number == reached


def test_phases_play_few_actions_and_lose_little_accuracy():
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    weights, variance = essential(rows)
    assert np.count_nonzero(weights) <= 8
    assert weights.sum() == pytest.approx(1.0)
    assert 3.0 <= variance < 3.02


def test_elimination_needs_the_same_actions_in_every_round():
    policy, rng = FAMILIES[2](exploration=30), np.random.default_rng(0)
    for _ in range(30):
        policy.observe(policy.choose(ACTIONS, rng), 1.0)
    with pytest.raises(ValueError, match="actions must be the same in every round"):
        policy.choose(-ACTIONS, rng)


@every_family
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exploration": 0}, "exploration must be at least 1, got 0"),
        ({"exploration": 2.5}, "exploration must be a whole number, got 2.5"),
        (
            {"exploration": 200, "horizon": 100},
            "exploration must not be longer than the horizon of 100 rounds, got 200",
        ),
        ({"exploration": 50, "horizon": 0}, "horizon must be at least 1, got 0"),
        ({"exploration": 50, "sparsity": 6}, r"sparsity must be in 1\.\.5, got 6"),
        ({"exploration": 50, "reward_bound": 0.0}, "reward_bound must be above 0, got 0"),
        ({"horizon": 100}, "exploration must be given, or else sparsity( and reward_bound)?$"),
        ({"sparsity": 1, "reward_bound": 1.0}, "exploration must be given, or else horizon$"),
    ],
)
def test_wrong_settings_are_named(family, settings, message):
    with pytest.raises(ValueError, match=message):
        family(**settings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ESTC(10),
            "exploration must be given, or else horizon, sparsity and reward_bound$",
        ),
        (lambda: PopArt(5, reward_bound=1.0, exploration=3), "exploration must be at least 24 "),
        (lambda: PopArt(5, reward_bound=1.0, exploration=26, delta=2.0), "delta must lie"),
        (
            lambda: PopArtElimination(5, reward_bound=1.0, horizon=10, sparsity=1),
            "exploration must be given, or else signal$",
        ),
        (
            lambda: PopArtElimination(5, reward_bound=1.0, exploration=50, signal=0.0),
            "signal must be above 0, got 0",
        ),
    ],
)
def test_more_wrong_settings_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@every_family
def test_actions_must_span(family):
    flat = ACTIONS.copy()
    flat[:, 2] = flat[:, 1]
    with pytest.raises(ValueError, match="actions must span"):
        family(exploration=50).choose(flat, np.random.default_rng(0))


@every_family
def test_a_planned_exploration_must_fit_into_the_horizon(family):
    settings = {"horizon": 40, "sparsity": 5, "reward_bound": 0.1}
    if family is FAMILIES[2]:
        settings["signal"] = 0.1
    with pytest.raises(ValueError, match=r"theory asks for \d+ of 40 rounds: give exploration"):
        family(**settings).choose(ACTIONS, np.random.default_rng(0))
