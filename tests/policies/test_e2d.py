"""E2D: its game is solved exactly, its price is what the settings say."""

import numpy as np
import pytest

from soids import E2D, SparseLinearBandit, play
from soids.policies.e2d import least_worst
from soids.rates import complexity


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_no_distribution_has_a_smaller_worst_loss(scale):
    rng = np.random.default_rng(0)
    losses = scale * rng.standard_normal((7, 5))
    mixture, value = least_worst(losses)
    others = rng.dirichlet(np.full(5, 0.4), size=20_000)
    assert value == pytest.approx((losses @ mixture.masses).max(), abs=1e-7 * scale)
    assert value <= (others @ losses.T).max(axis=1).min() + 1e-9 * scale
    # By the minimax theorem some mixture of rows makes every column at least as costly.
    _, other = least_worst(-losses.T)
    assert value == pytest.approx(-other, abs=1e-7 * scale)


def test_known_games():
    assert least_worst(np.array([[3.0]]))[1] == 3.0
    paper_scissors_stone = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    mixture, value = least_worst(paper_scissors_stone)
    assert mixture.masses == pytest.approx(np.full(3, 1 / 3))
    assert value == pytest.approx(0.0, abs=1e-12)
    assert least_worst(np.zeros((4, 2)))[1] == 0.0


def test_a_high_price_of_information_buys_more_of_it():
    actions = np.random.default_rng(0).uniform(-1, 1, (30, 6))
    sums = np.zeros((2, 2))  # of gain and regret, over a few runs: its measure of both is another
    for seed in range(5):
        policy = E2D(6, sparsity=2, radius=3.0, noise=1.0, gamma=1.0)
        rng = np.random.default_rng(seed)
        for _ in range(10):
            decision = policy.choose(actions, rng)
            policy.observe(decision, decision.action[0] + rng.standard_normal())
        for row, gamma in zip(sums, (0.0, 100.0), strict=True):
            twin = E2D(6, sparsity=2, radius=3.0, noise=1.0, gamma=gamma)
            twin.state = policy.state
            info = twin.choose(actions, np.random.default_rng(1)).info
            row += info.gain, info.regret
    assert (sums[0] < sums[1]).all()


def test_theory_names_a_price():
    """sigma sqrt(d t / (2 C_t)), and the saddle one of a few multiples of it."""
    actions = np.random.default_rng(0).uniform(-1, 1, (30, 6))
    policy, rng = E2D(6, sparsity=2, radius=3.0, noise=0.5), np.random.default_rng(0)
    for _ in range(10):
        decision = policy.choose(actions, rng)
        policy.observe(decision, decision.action[0] + 0.5 * rng.standard_normal())

    def chosen(gamma):
        twin = E2D(6, sparsity=2, radius=3.0, noise=0.5, gamma=gamma)
        twin.state = policy.state
        return twin.choose(actions, np.random.default_rng(1)).info

    cost = 5.0 + 4.0 * np.log(np.e * 6 * 11 / 2)  # C_11 with d = 6, s = 2
    price = 0.5 * np.sqrt(6 * 11 / (2.0 * cost))
    assert chosen("theory") == chosen(price)
    assert chosen("saddle") in [chosen(factor * price) for factor in (0.25, 0.5, 1.0, 2.0, 4.0)]


def test_a_sparsity_that_is_not_given_is_that_of_the_belief_it_chooses_by():
    """After a refresh with new rewards, not that of the belief before."""
    actions = np.random.default_rng(0).uniform(-1, 1, (30, 6))
    policy, rng = E2D(6, radius=3.0, noise=0.5), np.random.default_rng(0)
    for _ in range(10):
        decision = policy.choose(actions, rng)
        policy.observe(decision, decision.action[0] + 0.5 * rng.standard_normal())
    old = policy.state.mind.belief
    policy.refresh(rng)
    new = policy.state.mind.belief
    sparsities = [max(1.0, belief.particles().inclusion().sum()) for belief in (old, new)]
    assert sparsities[0] != sparsities[1]

    def chosen(gamma):
        twin = E2D(6, radius=3.0, noise=0.5, gamma=gamma)
        twin.state = policy.state
        return twin.decide(actions, 0.5)

    laws = [
        chosen(0.5 * np.sqrt(6 * 11 / (2.0 * complexity(6, sparsity, 11)))).probabilities
        for sparsity in sparsities
    ]
    assert chosen("theory").probabilities.tolist() == laws[1].tolist()
    assert laws[0].tolist() != laws[1].tolist()


@pytest.mark.parametrize("gamma", ["theory", "saddle", 2.0])
def test_an_easy_instance_is_learned_at_any_price(gamma):
    actions = np.random.default_rng(0).uniform(-1, 1, (10, 4))
    bandit = SparseLinearBandit(actions, [0.0, 2.0, 0.0, 0.0], noise=0.5)
    policy = E2D(4, sparsity=1, radius=2.0, noise=0.5, gamma=gamma)
    assert play(bandit, policy, 60, seed=0).regret[30:].mean() < 0.15 * bandit.gaps.mean()


@pytest.mark.parametrize(
    ("gamma", "message"),
    [
        (-1.0, "gamma must be at least 0, got -1"),
        (np.nan, "gamma must be finite"),
        ("dear", "gamma must be a number or one of theory, saddle, got 'dear'"),
        (None, "gamma must be a real number, got None"),
    ],
)
def test_a_wrong_price_is_named(gamma, message):
    with pytest.raises(ValueError, match=message):
        E2D(4, gamma=gamma)
